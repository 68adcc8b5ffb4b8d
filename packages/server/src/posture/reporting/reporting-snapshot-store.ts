import { sql, type Transaction } from 'kysely'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
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

/**
 * Snapshots of a table are an hour apart; lines that a device sends again come after a timeout of a minute at the most.
 */
const REPEATED_WITHIN = '5 minutes'

/** Answers whether the records must be written: the snapshot is newer and its content another. */
export async function updateReportingSnapshot(
  tx: Transaction<Schema>,
  { deviceId, tableName, unixTime, epoch, counter }: ReportingSnapshot,
  contentHash: Buffer,
  collectedAt: Date,
): Promise<boolean> {
  const { rows } = await sql<{ isChanged: boolean }>`
    with reported as materialized (
      select ${unixTime}::bigint as unix_time, ${contentHash}::bytea as content_hash,
        ${collectedAt}::timestamptz as collected_at),
    stored as materialized (
      select unix_time, content_hash, collected_at from reporting_snapshot
      where device_id = ${deviceId} and table_name = ${tableName} for update),
    written as (
      insert into reporting_snapshot
        (device_id, table_name, unix_time, epoch, counter, content_hash, collected_at)
      select ${deviceId}::bigint, ${tableName}, unix_time, ${epoch}::bigint, ${counter}::bigint,
        content_hash, collected_at
      from reported
      where not exists (
        select from stored
        where stored.unix_time >= reported.unix_time
          and (stored.unix_time = reported.unix_time
              and stored.content_hash = reported.content_hash
            or stored.collected_at > reported.collected_at - ${REPEATED_WITHIN}::interval
              and stored.collected_at < reported.collected_at + ${REPEATED_WITHIN}::interval))
      on conflict (device_id, table_name) do update set unix_time = excluded.unix_time,
        epoch = excluded.epoch, counter = excluded.counter,
        content_hash = excluded.content_hash, collected_at = excluded.collected_at
      returning content_hash)
    select (select content_hash from stored) is distinct from content_hash as "isChanged"
    from written`.execute(tx)
  return rows[0]?.isChanged ?? false
}

/** Numbers are sorted first: to compare the columns of a hundred rows with each other takes four times as long. */
const DIGEST = sql`jsonb_hash_extended(columns, 0)`

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
  await sql`${UNAWAITED}
    with reported as materialized (
      select columns, ordinal, row_number() over (partition by ${DIGEST}, columns order by ordinal) as copy
      from jsonb_array_elements(${text}::jsonb) with ordinality as reported(columns, ordinal)
    ), stored as materialized (
      select id, ctid as place, columns, row_number() over (partition by ${DIGEST}, columns order by id) as copy
      from reporting_record where device_id = ${deviceId} and table_name = ${tableName}
    ), gone as (
      delete from reporting_record where ctid = any(array(
        select stored.place from stored left join reported using (columns, copy)
        where reported.ordinal is null))
    )
    insert into reporting_record (table_name, device_id, columns, collected_at)
    select ${tableName}, ${deviceId}::bigint, reported.columns, ${receivedAt}
    from reported left join stored using (columns, copy)
    where stored.id is null order by reported.ordinal`.execute(tx)
}
