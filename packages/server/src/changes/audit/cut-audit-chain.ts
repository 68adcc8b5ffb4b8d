/*
 * Deletes the oldest entries of the audit log, and lets the rest go on proving itself: the chain begins at the
 * hash before it, and the nodes of the tree over what is gone stay. Owns where a chain may be cut; how long
 * entries are kept is for the caller. The database refuses what is young or what no checkpoint covers.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { RunChange } from '../change.ts'
import { SYSTEM_ACTOR } from './audit-entry.ts'
import { deleteChainThrough, findFirstPositionSince, getAuditChain } from './chain/chain-store.ts'
import { findCoveredSize } from './checkpoints/checkpoint-store.ts'
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
 * Cuts what was recorded before `before` and is covered by a checkpoint, in steps of 256 entries and in
 * short transactions, until there are `entriesMax`. Leaves an audit entry when something was cut. Idempotent;
 * a run that was interrupted is gone on with by the next one.
 */
export async function cutAuditChain(
  { db, runChange }: CutDependencies,
  before: Date,
  entriesMax = Number.POSITIVE_INFINITY,
): Promise<AuditCut> {
  const first = await getAuditChain(db)
  const covered = await findCoveredSize(db, first.size)
  let position = first.cutPosition
  let entryCount = 0
  while (entryCount < entriesMax) {
    const end = Math.min(position + CUT_BATCH_SIZE, covered)
    const young = await findFirstPositionSince(db, { after: position, through: end, since: before })
    const through = roundDown(young === undefined ? end : young - 1)
    if (through <= position) break
    entryCount += await deleteChainThrough(db, through)
    position = through
  }
  if (entryCount > 0) {
    await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      change.recordAudit({
        action: 'audit_log.cut',
        target: null,
        description: `deleted ${entryCount} audit log entries from before ${before.toISOString()}`,
        after: { entry_count: entryCount, position, before: before.toISOString() },
      }),
    )
  }
  return { entryCount, position }
}

/** The nodes of the tree that are kept are those over so many entries. */
function roundDown(position: number): number {
  return Math.floor(position / TILE_WIDTH) * TILE_WIDTH
}
