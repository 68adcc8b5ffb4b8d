import { sql, type Transaction } from 'kysely'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'

/** What a device reported of one table at one time. */
export interface ReportingSnapshot {
  readonly deviceId: string
  readonly tableName: string
  /** Seconds since the epoch, by the clock of the device, which may be wrong. */
  readonly unixTime: number
  readonly epoch: number
  readonly counter: number
}

/** Snapshots of a table are an hour apart; lines that a device sends again come after a timeout of a minute at the most. */
const REPEATED_WITHIN_MS = 5 * MINUTE_MS

/** Answers whether the records must be written: the snapshot is newer and its content another. */
export async function updateReportingSnapshot(
  tx: Transaction<Schema>,
  { deviceId, tableName, unixTime, epoch, counter }: ReportingSnapshot,
  contentHash: Buffer,
  collectedAt: Date,
): Promise<boolean> {
  const stored = await tx
    .selectFrom('reporting_snapshot')
    .select(['unix_time', 'content_hash', 'collected_at'])
    .where('device_id', '=', deviceId)
    .where('table_name', '=', tableName)
    .forUpdate()
    .executeTakeFirst()
  if (stored !== undefined && Number(stored.unix_time) >= unixTime) {
    const isSame = Number(stored.unix_time) === unixTime && stored.content_hash.equals(contentHash)
    const isClose = Math.abs(+collectedAt - +stored.collected_at) < REPEATED_WITHIN_MS
    if (isSame || isClose) return false
  }
  const values = {
    unix_time: unixTime,
    epoch,
    counter,
    content_hash: contentHash,
    collected_at: collectedAt,
  }
  await tx
    .insertInto('reporting_snapshot')
    .values({ device_id: deviceId, table_name: tableName, ...values })
    .onConflict((conflict) => conflict.columns(['device_id', 'table_name']).doUpdateSet(values))
    .execute()
  return stored?.content_hash.equals(contentHash) !== true
}

/**
 * Writes what differs from the records of the snapshot before: most of a long table stays as it was, and
 * a record is written to an index with every few characters of its texts. Of equal rows, as many are kept
 * as are reported. `text` is the JSON of the rows.
 */
export async function updateReportingRecords(
  tx: Transaction<Schema>,
  { deviceId, tableName }: ReportingSnapshot,
  text: string,
  receivedAt: Date,
): Promise<void> {
  await sql`
    with reported as materialized (
      select columns, ordinal, row_number() over (partition by columns order by ordinal) as copy
      from jsonb_array_elements(${text}::jsonb) with ordinality as reported(columns, ordinal)
    ), stored as materialized (
      select id, columns, row_number() over (partition by columns order by id) as copy
      from reporting_record where device_id = ${deviceId} and table_name = ${tableName}
    ), gone as (
      delete from reporting_record where id in (
        select stored.id from stored left join reported using (columns, copy)
        where reported.ordinal is null)
    )
    insert into reporting_record (table_name, device_id, columns, collected_at)
    select ${tableName}, ${deviceId}::bigint, reported.columns, ${receivedAt}
    from reported left join stored using (columns, copy)
    where stored.id is null order by reported.ordinal`.execute(tx)
}
