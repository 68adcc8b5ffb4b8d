/*
 * Deletes the oldest entries of the audit log, and lets the rest go on proving itself: the chain begins at the
 * hash before it, and the nodes of the tree over what is gone stay. Owns where a chain may be cut; how long
 * entries are kept is for the caller. The database refuses what is young or what no checkpoint covers.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { RunChange } from '../change.ts'
import { CUT_ACTION, SYSTEM_ACTOR } from './audit-entry.ts'
import { deleteChainThrough, findFirstPositionSince, getAuditChain } from './chain/chain-store.ts'
import { findCuttableSize } from './checkpoints/checkpoint-store.ts'
import { TILE_WIDTH } from './tree/merkle-tree.ts'

export interface AuditCut {
  /** Entries that were deleted. */
  readonly entryCount: number
  /** The chain begins behind this place. */
  readonly position: number
}

export interface CutDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
}

/** Entries that one transaction deletes. */
export const CUT_BATCH_SIZE = 16 * TILE_WIDTH

/**
 * Cuts what was recorded before `before` and a checkpoint covers, a batch at most, in one transaction with the audit
 * entry that tells of it: where the chain begins, the last such entry says.
 */
export async function cutAuditChain(
  { db, runChange }: CutDependencies,
  before: Date,
): Promise<AuditCut> {
  const { cutPosition, size } = await getAuditChain(db)
  const end = Math.min(cutPosition + CUT_BATCH_SIZE, await findCuttableSize(db, size))
  const span = { after: cutPosition, through: end, since: before }
  const young = await findFirstPositionSince(db, span)
  const position = roundDown(young === undefined ? end : young - 1)
  if (position <= cutPosition) return { entryCount: 0, position: cutPosition }
  return runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const entryCount = await deleteChainThrough(change.tx, position)
    change.recordAudit({
      action: CUT_ACTION,
      target: null,
      description: `deleted ${entryCount} audit log entries from before ${before.toISOString()}`,
      after: { entry_count: entryCount, position, before: before.toISOString() },
    })
    return { entryCount, position }
  })
}

/** The nodes of the tree that are kept are those over so many entries. */
function roundDown(position: number): number {
  return Math.floor(position / TILE_WIDTH) * TILE_WIDTH
}
