import type { Kysely } from 'kysely'
import type { StreamRowId } from '../../../schema/branded-ids.ts'
import { defineTable, type RecordOf } from '../../../schema/define-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { SelfTestCaseRecord } from '../../../schema/tables/ssf-stream-tables.ts'

const testTable = defineTable('stream_self_test')

export type SelfTestRecord = RecordOf<typeof testTable>

/** The last self-test of a stream, which may still be running. */
export async function findSelfTest(
  db: Kysely<Schema>,
  streamId: StreamRowId,
): Promise<SelfTestRecord | undefined> {
  return testTable.find(db, { streamId })
}

/** Begins a self-test; the one before is forgotten. */
export async function startSelfTest(
  db: Kysely<Schema>,
  streamId: StreamRowId,
  startedAt: Date,
): Promise<void> {
  await testTable.delete(db, { streamId })
  await testTable.insert(db, { streamId, startedAt, finishedAt: null, cases: '[]' })
}

/** Keeps what the receiver made of each case. */
export async function finishSelfTest(
  db: Kysely<Schema>,
  streamId: StreamRowId,
  cases: readonly SelfTestCaseRecord[],
  finishedAt: Date,
): Promise<void> {
  await testTable.updateAll(db, { streamId }, { cases: JSON.stringify(cases), finishedAt })
}
