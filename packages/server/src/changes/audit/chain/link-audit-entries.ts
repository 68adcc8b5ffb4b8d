/*
 * One round of the chainer: gives the entries that have been committed their places in the chain. Owns their
 * order and their hashes. A change that is still under way holds up nobody: its entries get a later place.
 */
import type { Kysely, Transaction } from 'kysely'
import { tryLockInTransaction } from '../../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'
import type { Schema } from '../../../schema/schema.ts'
import { hashEntry, toCanonicalText } from '../audit-entry.ts'
import { toAuditFields, type AuditEntryRow } from '../audit-store.ts'
import { isBlockComplete } from '../audit-text-read.ts'
import {
  commitLazily,
  getAuditChain,
  insertLinks,
  listUnchainedEntries,
  readCommittedEntries,
  summariseTexts,
  takeTransactionId,
  updateSettledSequence,
  type AuditChain,
  type CommittedEntries,
} from './chain-store.ts'

/** `busy`: another process is at it. `more`: there may be more to do at once. */
export type RoundOutcome = 'busy' | 'done' | 'more'

const BATCH_SIZE = 2_000

/**
 * A number of entries, and a transaction that got its id after all up to that number were drawn: once every
 * transaction up to it has ended, no entry up to the number is still to come.
 */
interface Horizon {
  readonly sequence: bigint
  readonly transaction: bigint
  readonly server: string
}

/** Links entries round by round; remembers between rounds from where on it must look for more. */
export class EntryLinker {
  readonly #db: Kysely<Schema>
  #horizon: Horizon | undefined
  /** Whether settled entries may wait for their texts to be summarised. */
  #hasTexts = true

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /**
   * Links what has been committed, up to a batch. Idempotent, and safe beside other processes: one of them
   * works at a time.
   */
  async runRound(): Promise<RoundOutcome> {
    return this.#db.transaction().execute(async (tx) => {
      if (!(await tryLockInTransaction(tx, LOCK_KEYS.auditChain))) return 'busy'
      const committed = await readCommittedEntries(tx)
      const chain = await getAuditChain(tx)
      const entries = await listUnchainedEntries(tx, BATCH_SIZE)
      if (entries.length === 0 && committed.lastSequence <= chain.settledSequence) {
        return (await this.#summarise(tx)) ? 'more' : 'done'
      }
      const isAll = entries.length < BATCH_SIZE
      const transaction = await takeTransactionId(tx)
      // The entries were read after the snapshot that says which transactions had ended.
      const { server, lastSequence } = committed
      const horizon = this.#horizon?.server === server ? this.#horizon : undefined
      const settled = findSettled(chain, committed, horizon, entries)
      await commitLazily(tx)
      if (entries.length > 0) await link(tx, chain, entries, settled)
      else if (settled > chain.settledSequence) await updateSettledSequence(tx, settled)
      if (horizon === undefined || horizon.sequence <= settled) {
        this.#horizon = { sequence: lastSequence, transaction, server }
      }
      if (isBlockComplete(chain.settledSequence, settled)) this.#hasTexts = true
      const hasTexts = await this.#summarise(tx)
      return isAll && !hasTexts ? 'done' : 'more'
    })
  }

  /** Answers whether there is more to summarise. */
  async #summarise(tx: Transaction<Schema>): Promise<boolean> {
    if (this.#hasTexts) this.#hasTexts = await summariseTexts(tx)
    return this.#hasTexts
  }
}

async function link(
  tx: Transaction<Schema>,
  { size, head, frontier }: AuditChain,
  entries: readonly AuditEntryRow[],
  settledSequence: bigint,
): Promise<void> {
  const hashes: Buffer[] = []
  let previousHash = head
  for (const [index, entry] of entries.entries()) {
    previousHash = hashOf(entry, previousHash, size + index + 1)
    hashes.push(previousHash)
  }
  const nodes = hashes.flatMap((hash) => frontier.append(hash))
  const sequences = entries.map(({ sequence }) => sequence)
  await insertLinks(tx, {
    firstPosition: size + 1,
    sequences,
    hashes,
    nodes,
    frontier,
    settledSequence,
  })
}

/** Up to which number nothing is unchained any more when these entries, the next ones, are in the chain. */
function findSettled(
  { settledSequence }: AuditChain,
  { oldestTransaction }: CommittedEntries,
  horizon: Horizon | undefined,
  entries: readonly AuditEntryRow[],
): bigint {
  if (horizon === undefined || horizon.transaction >= oldestTransaction) return settledSequence
  const last = entries.length < BATCH_SIZE ? undefined : entries.at(-1)
  const looked = last === undefined ? horizon.sequence : BigInt(last.sequence)
  return highest(settledSequence, lowest(horizon.sequence, looked))
}

function lowest(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

/** An entry that was chained when it was written keeps its hash: whether that is right is for the verifier. */
function hashOf(entry: AuditEntryRow, previousHash: Buffer, position: number): Buffer {
  if (entry.hash !== null) return entry.hash
  const place = { position, sequence: entry.sequence }
  return hashEntry(previousHash, place, toCanonicalText(toAuditFields(entry)))
}
