/*
 * The reporting database: osquery tables that every device reports by schedule, and saved SQL over
 * them. This file says what a reporting table is; reporting-tables.ts lists them.
 */
import type { Platform } from '../../schema/tables/device-tables.ts'

export type ReportingPlatform = Extract<Platform, 'darwin' | 'windows' | 'linux'>

export interface ReportingColumn {
  readonly name: string
  /** How queries see the value; osquery reports text. Text that is no number reads as null. */
  readonly type: 'text' | 'bigint' | 'double'
  readonly description: string
  /** What is selected for it where osquery's own column is of another type; SQL. */
  readonly sql?: string
}

/** An osquery table that devices report. */
export interface ReportingTable {
  /** The name in osquery and in reporting queries. */
  readonly name: string
  readonly category: string
  readonly description: string
  readonly platforms: readonly ReportingPlatform[]
  readonly columns: readonly ReportingColumn[]
  /** How often devices report it. */
  readonly intervalSeconds: number
  /** Narrows what is collected; SQL after `where`. */
  readonly condition?: string
}

/** What every record of every table has beside the columns of its table. */
export const COMMON_COLUMNS: readonly string[] = [
  'id',
  'device_id',
  'device_name',
  'device_information',
  'collected_at',
]

/**
 * The name of a column in reporting queries and in the API: that of osquery, after the name of the
 * table where every table has a column of that name already.
 */
export function toColumnName(table: ReportingTable, column: ReportingColumn): string {
  return COMMON_COLUMNS.includes(column.name) ? `${table.name}_${column.name}` : column.name
}

/** The columns of its view, which reporting queries read, in their order. */
export function listViewColumns(table: ReportingTable): string[] {
  return [
    'record_id',
    'device_id',
    'device_name',
    'collected_at',
    ...table.columns.map((column) => toColumnName(table, column)),
  ]
}

/** Scheduled queries of this prefix are reporting tables. */
export const REPORT_QUERY_PREFIX = 'report:'

/** An entry of the `schedule` of osquery's configuration. */
export interface ScheduleEntry {
  readonly query: string
  readonly interval: number
  readonly snapshot: true
  readonly platform: string
}

/** The schedule that makes devices report `tables`. */
export function toSchedule(tables: readonly ReportingTable[]): Record<string, ScheduleEntry> {
  return Object.fromEntries(
    tables.map((table) => [
      REPORT_QUERY_PREFIX + table.name,
      {
        query: toCollectionSql(table),
        interval: table.intervalSeconds,
        snapshot: true,
        platform: table.platforms.join(','),
      },
    ]),
  )
}

/** The SQL that a device runs for a table. */
export function toCollectionSql(table: ReportingTable): string {
  const columns = table.columns
    .map(({ name, sql }) => (sql === undefined ? name : `${sql} as ${name}`))
    .join(', ')
  const condition = table.condition === undefined ? '' : ` where ${table.condition}`
  return `select ${columns} from ${table.name}${condition};`
}
