/*
 * What is kept of a snapshot, so that no device can fill the database or keep it busy: of each table so many
 * rows and bytes, of each value so many characters. What does not fit is left out, and counted.
 */
import { toStorableText } from '../../platform/storable-text.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'

/** More rows of one snapshot than this are left out. */
export const SNAPSHOT_ROWS_MAX = 10_000
/** More of one snapshot is left out: the rows as JSON, in bytes. Agents send lines of 1 MiB at most. */
export const SNAPSHOT_BYTES_MAX = 2 * 1024 * 1024
/** Longer values are cut; agents cut theirs at 512 characters (`value_max`). */
export const SNAPSHOT_VALUE_LENGTH_MAX = 4_096

/** The rows of a snapshot as they are stored. */
export interface SnapshotContent {
  /** A JSON array of objects with the columns of the table in its order: equal content, equal text. */
  readonly text: string
  /** Rows that were left out. */
  readonly droppedRowCount: number
  /** Values that were cut. */
  readonly cutValueCount: number
}

const COLUMNS_BY_TABLE = new Map(
  REPORTING_TABLES.map((table) => [table.name, table.columns.map((column) => column.name)]),
)

/** What is kept of the rows of a table; undefined for a table that nobody asked for. */
export function boundSnapshot(
  tableName: string,
  rows: readonly unknown[],
): SnapshotContent | undefined {
  const columns = COLUMNS_BY_TABLE.get(tableName)
  return columns === undefined ? undefined : boundRows(rows, columns)
}

/** What is kept of rows: these columns, within the bounds of a snapshot. What is no row is ignored. */
export function boundRows(rows: readonly unknown[], columns: readonly string[]): SnapshotContent {
  const names = columns.map((column) => `${JSON.stringify(column)}:`)
  const texts: string[] = []
  let bytes = 2
  let droppedRowCount = 0
  let cutValueCount = 0
  for (const row of rows) {
    if (!isRow(row)) continue
    if (texts.length >= SNAPSHOT_ROWS_MAX || bytes >= SNAPSHOT_BYTES_MAX) {
      droppedRowCount += 1
      continue
    }
    const values = columns.map((column) => toColumnText(row[column]))
    const members = values.map(
      (value, index) => `${names[index]}${JSON.stringify(cutValue(value))}`,
    )
    const text = `{${members.join(',')}}`
    const rowBytes = Buffer.byteLength(text) + 1
    if (bytes + rowBytes > SNAPSHOT_BYTES_MAX) {
      // What comes later may be shorter, but a list with holes would look like a whole one.
      bytes = SNAPSHOT_BYTES_MAX
      droppedRowCount += 1
      continue
    }
    bytes += rowBytes
    cutValueCount += values.filter((value) => value.length > SNAPSHOT_VALUE_LENGTH_MAX).length
    texts.push(text)
  }
  return { text: `[${texts.join(',')}]`, droppedRowCount, cutValueCount }
}

/** What was left out of a snapshot, as a sentence; undefined when it is whole. */
export function describeTruncation(content: SnapshotContent): string | undefined {
  const { droppedRowCount, cutValueCount } = content
  const parts = [
    ...(droppedRowCount === 0 ? [] : [`${droppedRowCount} rows were left out`]),
    ...(cutValueCount === 0 ? [] : [`${cutValueCount} values were cut`]),
  ]
  if (parts.length === 0) return undefined
  return `${parts.join(' and ')}: of one table, ${SNAPSHOT_ROWS_MAX} rows, ${SNAPSHOT_BYTES_MAX} bytes and ${SNAPSHOT_VALUE_LENGTH_MAX} characters of each value are kept.`
}

function isRow(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Agents with numeric logging send numbers. */
function toColumnText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

function cutValue(value: string): string {
  return toStorableText(value.slice(0, SNAPSHOT_VALUE_LENGTH_MAX))
}
