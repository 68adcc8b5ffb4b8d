/*
 * The reporting database: osquery tables that every device reports by schedule, and saved SQL over
 * them. This file says what a reporting table is; reporting-tables.ts lists them.
 */
import type { Platform } from '../platform/db/schema.ts'

export type ReportingPlatform = Extract<Platform, 'darwin' | 'windows' | 'linux'>

export interface ReportingColumn {
  readonly name: string
  /** How queries see the value; osquery reports text. Text that is no number reads as null. */
  readonly type: 'text' | 'bigint' | 'double'
  readonly description: string
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
  const columns = table.columns.map((column) => column.name).join(', ')
  const condition = table.condition === undefined ? '' : ` where ${table.condition}`
  return `select ${columns} from ${table.name}${condition};`
}
