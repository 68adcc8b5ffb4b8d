/*
 * Signs a checkpoint of the audit chain, when something was added since the last one. Owns the rule of logs: a
 * checkpoint is never signed for a tree that does not continue what was signed before. Where it does not,
 * entries were cut off, changed or lost, and somebody has to look.
 */
import type { Kysely } from 'kysely'
import { lockInTransaction } from '../../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { Foundation } from '../../foundation.ts'
import { SYSTEM_ACTOR } from '../audit-entry.ts'
import { getAuditChain, type AuditChain } from '../chain/chain-store.ts'
import { readRoot } from '../tree/merkle-tree.ts'
import { createTreeSource } from '../tree/tree-store.ts'
import {
  parseCheckpoint,
  toCheckpointText,
  verifyCheckpoint,
  type Checkpoint,
} from './checkpoint.ts'
import { listLastNotes } from './checkpoint-folder.ts'
import { findLastExported } from './export-checkpoints.ts'
import {
  ensureCheckpointKey,
  openCheckpointKey,
  toVerifierKey,
  type CheckpointKeyDependencies,
} from './checkpoint-keys.ts'
import {
  findLatestCheckpoint,
  insertCheckpoint,
  listCheckpointKeys,
  type CheckpointKeyRecord,
} from './checkpoint-store.ts'
import { signNote } from './signed-note.ts'

/** The chain is not what was signed. */
export class ChainDiverged extends Error {
  override readonly name = 'ChainDiverged'
}

export interface SignDependencies
  extends CheckpointKeyDependencies, Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  /** Where this process writes checkpoints. */
  readonly folder: string
}

/**
 * Signs and stores a checkpoint of what is chained now, and answers whether there was anything new. It is
 * durable when this resolves, with every entry that it covers.
 *
 * @throws ChainDiverged; UnsealError
 */
export async function signCheckpoint(dependencies: SignDependencies): Promise<boolean> {
  const { db, runChange } = dependencies
  if ((await getAuditChain(db)).size === 0) return false
  const { folder } = dependencies
  let keys = await listCheckpointKeys(db)
  if (!keys.some(({ retiredAt }) => retiredAt === null)) {
    const isFirst = keys.length === 0 && (await listLastNotes(folder)).length === 0
    if (!isFirst) throw noKey(dependencies)
    await runChange({ actor: SYSTEM_ACTOR }, (change) => ensureCheckpointKey(change, dependencies))
    keys = await listCheckpointKeys(db)
  }
  const own = keys.filter(({ origin }) => origin === keys[0]?.origin)
  const exported = await findLastExported(folder, own.map(toVerifierKey))
  return db.transaction().execute(async (tx) => {
    await lockInTransaction(tx, LOCK_KEYS.auditCheckpoints)
    return signLocked(tx, dependencies, exported)
  })
}

async function signLocked(
  tx: Kysely<Schema>,
  dependencies: SignDependencies,
  exported: Checkpoint | undefined,
): Promise<boolean> {
  const { sealer, clock } = dependencies
  const keys = await listCheckpointKeys(tx)
  const key = keys.find(({ retiredAt }) => retiredAt === null)
  if (key === undefined) throw noKey(dependencies)
  const { origin } = key
  const chain = await getAuditChain(tx)
  const stored = await findLatestCheckpoint(tx, origin)
  const own = keys.filter((known) => known.origin === origin)
  const last = stored && toTrusted(stored.note, own)
  if (stored !== undefined && last === undefined) {
    throw new ChainDiverged(`The last checkpoint in the database is not one that this log signed.`)
  }
  await assertContinuesAll(tx, chain, [last, exported?.origin === origin ? exported : undefined])
  if (last !== undefined && last.size === chain.size) return false
  const root = await readRoot(createTreeSource(tx), chain.size)
  if (!root.equals(chain.frontier.root())) {
    throw new ChainDiverged('The links of the audit chain are not those that were made.')
  }
  const signedAt = clock.now()
  const signers = [key, ...findPredecessor(own, key, last)].map((signing) => ({
    name: origin,
    privateKey: openCheckpointKey(sealer, signing),
  }))
  const note = signNote(toCheckpointText({ origin, size: chain.size, root }), signers, signedAt)
  await insertCheckpoint(tx, { origin, size: chain.size, signedAt, note })
  return true
}

function toTrusted(note: string, keys: readonly CheckpointKeyRecord[]): Checkpoint | undefined {
  const checkpoint = parseCheckpoint(note)
  return checkpoint && verifyCheckpoint(checkpoint, keys.map(toVerifierKey))
}

/** The key before signs the first checkpoint of its successor too: who trusts it learns of the other. */
function findPredecessor(
  keys: readonly CheckpointKeyRecord[],
  key: CheckpointKeyRecord,
  last: Checkpoint | undefined,
): CheckpointKeyRecord[] {
  const isFirst = last !== undefined && toTrusted(last.note, [key]) === undefined
  const [predecessor] = keys.filter(({ id }) => id !== key.id)
  return isFirst && predecessor !== undefined ? [predecessor] : []
}

/** A key that is made without anybody's word would sign whatever there is now. */
function noKey({ folder }: SignDependencies): ChainDiverged {
  return new ChainDiverged(
    `There is no key in the database that signs checkpoints, and there was one. Look who took it away; \`heliograph audit rotate-key\` makes another, with --new-log and without the checkpoints in ${folder} where the log begins anew.`,
  )
}

/** A cut is covered by a checkpoint: the last one never ends before it. */
async function assertContinuesAll(
  tx: Kysely<Schema>,
  chain: AuditChain,
  checkpoints: readonly (Checkpoint | undefined)[],
): Promise<void> {
  const known = checkpoints.filter((checkpoint) => checkpoint !== undefined)
  const size = Math.max(...known.map((checkpoint) => checkpoint.size))
  for (const checkpoint of known) {
    if (checkpoint.size >= chain.cutPosition) await assertContinues(tx, chain, checkpoint)
    else if (checkpoint.size === size) {
      throw new ChainDiverged(
        `${describe(checkpoint)} ${size} entries, and the audit chain begins behind ${chain.cutPosition}: what lies between was deleted without a checkpoint.`,
      )
    }
  }
}

function describe({ signedAt }: Checkpoint): string {
  return `The checkpoint of ${signedAt?.toISOString() ?? 'an unknown time'} covers`
}

async function assertContinues(
  tx: Kysely<Schema>,
  { size }: AuditChain,
  checkpoint: Checkpoint,
): Promise<void> {
  if (checkpoint.size > size) {
    throw new ChainDiverged(
      `${describe(checkpoint)} ${checkpoint.size} entries, and the audit chain has ${size}: the last ones are gone.`,
    )
  }
  const root = await readRoot(createTreeSource(tx), checkpoint.size)
  if (root.equals(checkpoint.root)) return
  throw new ChainDiverged(
    `${describe(checkpoint)} ${checkpoint.size} entries, and the first ${checkpoint.size} of the audit chain are not those.`,
  )
}
