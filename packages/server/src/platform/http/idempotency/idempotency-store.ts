import type { Kysely, Selectable, Transaction } from 'kysely'
import { tryLockInTransaction } from '../../db/advisory-lock.ts'
import type { IdempotencyTables } from '../../db/idempotency-tables.ts'
import { RecordTable, type CamelCased } from '../../db/record-table.ts'

const recordTable = new RecordTable<IdempotencyTables, IdempotencyTables['idempotency_record']>(
  'idempotency_record',
  {},
)

export type IdempotencyRecord = CamelCased<Selectable<IdempotencyTables['idempotency_record']>>

/** The part of a record that says whose it is. */
export type IdempotencyClaim = Pick<
  IdempotencyRecord,
  'scopeHash' | 'fingerprint' | 'requestId' | 'createdAt' | 'expiresAt'
>

/** An answer as it is kept. */
export type KeptAnswer = Pick<IdempotencyRecord, 'status' | 'answerSealed'>

const NO_ANSWER: KeptAnswer = { status: null, answerSealed: null }

/** The record of a scope that has not expired. */
export async function findIdempotencyRecord(
  db: Kysely<IdempotencyTables>,
  scopeHash: Buffer,
  now: Date,
): Promise<IdempotencyRecord | undefined> {
  const row = await db
    .selectFrom('idempotency_record')
    .selectAll()
    .where('scope_hash', '=', scopeHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row && recordTable.fromRow(row)
}

/**
 * Makes sure, until the transaction ends, that no other one works in the scope; false when another one
 * does. Does not wait.
 */
export async function tryLockScope(
  tx: Transaction<IdempotencyTables>,
  scopeHash: Buffer,
): Promise<boolean> {
  return tryLockInTransaction(tx, [scopeHash.readBigInt64BE(0)])
}

/**
 * Writes the record of a scope; false when another request has one that has not expired. A record of
 * the same request is begun anew.
 */
export async function claimIdempotencyRecord(
  db: Kysely<IdempotencyTables>,
  claim: IdempotencyClaim,
  answer: KeptAnswer = NO_ANSWER,
): Promise<boolean> {
  const row = recordTable.toInsert({ ...claim, ...answer })
  const written = await db
    .insertInto('idempotency_record')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('scope_hash')
        .doUpdateSet(row)
        .where((eb) =>
          eb.or([
            eb('idempotency_record.expires_at', '<=', eb.ref('excluded.created_at')),
            eb('idempotency_record.request_id', '=', eb.ref('excluded.request_id')),
          ]),
        ),
    )
    .returning('scope_hash')
    .execute()
  return written.length > 0
}

/** Keeps the answer of a request in its record; nothing happens when the record is not its own. */
export async function updateIdempotencyAnswer(
  db: Kysely<IdempotencyTables>,
  { scopeHash, requestId }: IdempotencyClaim,
  answer: KeptAnswer,
): Promise<void> {
  await db
    .updateTable('idempotency_record')
    .set(recordTable.toUpdate(answer))
    .where('scope_hash', '=', scopeHash)
    .where('request_id', '=', requestId)
    .execute()
}
