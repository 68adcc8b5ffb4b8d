import type { StreamRowId } from '../../../schema/branded-ids.ts'
import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { SelfTestCaseRecord } from '../../../schema/tables/ssf-stream-tables.ts'

export type SelfTestRecord = Selectable<Schema['stream_self_test']>

/** The last self-test of a stream, which may still be running. */
export async function findSelfTest(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
): Promise<SelfTestRecord | undefined> {
  return db
    .selectFrom('stream_self_test')
    .selectAll()
    .where('stream_id', '=', streamRowId)
    .executeTakeFirst()
}

/** Begins a self-test; the one before is forgotten. */
export async function startSelfTest(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  startedAt: Date,
): Promise<void> {
  const fresh = { started_at: startedAt, finished_at: null, cases: '[]' }
  await db
    .insertInto('stream_self_test')
    .values({ stream_id: streamRowId, ...fresh })
    .onConflict((conflict) => conflict.column('stream_id').doUpdateSet(fresh))
    .execute()
}

/** Keeps what the receiver made of each case. */
export async function finishSelfTest(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  cases: readonly SelfTestCaseRecord[],
  finishedAt: Date,
): Promise<void> {
  await db
    .updateTable('stream_self_test')
    .set({ cases: JSON.stringify(cases), finished_at: finishedAt })
    .where('stream_id', '=', streamRowId)
    .execute()
}
