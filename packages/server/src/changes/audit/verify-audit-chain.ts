import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { CHAIN_START, hashEntry, toCanonicalText } from './audit-entry.ts'
import { listChain, toAuditFields, type AuditEntryRow } from './audit-store.ts'

/** What the verification of the audit chain found. */
export type ChainVerdict =
  | { readonly isWhole: true; readonly entryCount: number; readonly head: string }
  | {
      readonly isWhole: false
      readonly entryCount: number
      /** The first entry that does not fit. */
      readonly sequence: string
      readonly problem: string
    }

const BATCH_SIZE = 5_000

/**
 * Recomputes every hash of the audit log from its first entry. Memory does not grow with the log.
 * `onProgress` is told the number of entries checked so far after every batch.
 */
export async function verifyAuditChain(
  db: Kysely<Schema>,
  onProgress: (entryCount: number) => void = () => undefined,
): Promise<ChainVerdict> {
  let previousHash = CHAIN_START
  let entryCount = 0
  let lastSequence = 0n
  for (;;) {
    const batch = await listChain(db, lastSequence.toString(), BATCH_SIZE)
    for (const row of batch) {
      const problem = findProblem(row, lastSequence + 1n, previousHash)
      if (problem !== undefined) {
        return { isWhole: false, entryCount, sequence: row.sequence, problem }
      }
      previousHash = row.hash
      lastSequence += 1n
      entryCount += 1
    }
    onProgress(entryCount)
    if (batch.length < BATCH_SIZE) {
      return { isWhole: true, entryCount, head: previousHash.toString('hex') }
    }
  }
}

function findProblem(
  row: AuditEntryRow,
  expectedSequence: bigint,
  previousHash: Buffer,
): string | undefined {
  if (BigInt(row.sequence) !== expectedSequence) {
    return `entry ${expectedSequence.toString()} is missing`
  }
  if (!row.previous_hash.equals(previousHash)) {
    return 'its previous hash is not the hash of the entry before it'
  }
  const expected = hashEntry(previousHash, row.sequence, toCanonicalText(toAuditFields(row)))
  return row.hash.equals(expected) ? undefined : 'its content does not match its hash'
}
