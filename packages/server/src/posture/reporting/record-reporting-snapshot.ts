import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { toStorableJson } from '../../platform/storable-text.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'

/** What a device reported of one table at one time. */
export interface ReportingSnapshot {
  readonly deviceId: string
  readonly tableName: string
  /** Seconds since the epoch, by the clock of the device; orders the snapshots of one device. */
  readonly unixTime: number
  readonly epoch: number
  readonly counter: number
  readonly rows: readonly OsqueryRow[]
}

/** More rows of one snapshot than this are dropped. */
const ROWS_MAX = 10_000

const COLUMNS_BY_TABLE = new Map(
  REPORTING_TABLES.map((table) => [table.name, table.columns.map((column) => column.name)]),
)

/**
 * Replaces what a device reported of a table before. Late and repeated snapshots and unknown tables
 * are ignored; a row that was there before keeps its record, with its id and the time at which it was
 * first collected.
 */
export async function recordReportingSnapshot(
  tx: Transaction<Schema>,
  snapshot: ReportingSnapshot,
  receivedAt: Date,
): Promise<void> {
  const columns = COLUMNS_BY_TABLE.get(snapshot.tableName)
  if (columns === undefined) return
  const rows = snapshot.rows.slice(0, ROWS_MAX).map((row) => pickColumns(row, columns))
  const text = JSON.stringify(toStorableJson(rows))
  const contentHash = createHash('sha256').update(text).digest()
  const isChanged = await replaceSnapshot(tx, snapshot, contentHash, receivedAt)
  if (!isChanged) return
  await replaceRecords(tx, snapshot, text, receivedAt)
}

/**
 * Writes what differs from the records of the snapshot before: most of a long table stays as it was, and
 * a record is written to an index with every few characters of its texts. Of equal rows, as many are kept
 * as are reported.
 */
async function replaceRecords(
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

/** Answers whether the records must be written: the snapshot is newer and its content another. */
async function replaceSnapshot(
  tx: Transaction<Schema>,
  { deviceId, tableName, unixTime, epoch, counter }: ReportingSnapshot,
  contentHash: Buffer,
  collectedAt: Date,
): Promise<boolean> {
  const stored = await tx
    .selectFrom('reporting_snapshot')
    .select(['unix_time', 'content_hash'])
    .where('device_id', '=', deviceId)
    .where('table_name', '=', tableName)
    .forUpdate()
    .executeTakeFirst()
  if (stored !== undefined && Number(stored.unix_time) >= unixTime) return false
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

/** The columns of the table in its order, so that equal content has equal text. */
function pickColumns(row: OsqueryRow, columns: readonly string[]): OsqueryRow {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? '']))
}
