import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { toStorableJson } from '../../platform/storable-text.ts'
import {
  updateReportingRecords,
  updateReportingSnapshot,
  type ReportingSnapshot,
} from './reporting-snapshot-store.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'

/** More rows of one snapshot than this are dropped. */
const ROWS_MAX = 10_000

const COLUMNS_BY_TABLE = new Map(
  REPORTING_TABLES.map((table) => [table.name, table.columns.map((column) => column.name)]),
)

/**
 * Replaces what a device reported of a table before. Ignored are repeated snapshots, unknown tables, and older
 * snapshots that come close behind a newer one, as when a device sends its lines again. Later the order of
 * arrival counts, for the clock of a device may be wrong and be set right. A row that was there before keeps its record, with its id and the time at which it was
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
  const isChanged = await updateReportingSnapshot(tx, snapshot, contentHash, receivedAt)
  if (!isChanged) return
  await updateReportingRecords(tx, snapshot, text, receivedAt)
}

/** The columns of the table in its order, so that equal content has equal text. */
function pickColumns(row: OsqueryRow, columns: readonly string[]): OsqueryRow {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? '']))
}
