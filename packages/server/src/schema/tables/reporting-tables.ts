import type { BigCount, Id, Json, OsqueryRow } from './column-types.ts'

export interface ReportingRecordTable {
  id: Id
  table_name: string
  device_id: string
  columns: Json<OsqueryRow>
  collected_at: Date
}

export interface ReportingSnapshotTable {
  device_id: string
  table_name: string
  unix_time: BigCount
  epoch: BigCount
  counter: BigCount
  content_hash: Buffer
  collected_at: Date
}

export interface ReportingQueryRunTable {
  id: Id
  query_id: string
  ran_at: Date
  row_count: number
}

export interface ReportingQueryRowTable {
  run_id: string
  ordinal: number
  columns: Json<Record<string, JsonColumn>>
}

/** A value of a result row. */
export type JsonColumn = string | number | boolean | null

export interface ReportingQueryTable {
  id: Id
  name: string
  sql: string
  created_at: Date
  updated_at: Date
}

/** These tables by their names. */
export interface ReportingTables {
  reporting_query: ReportingQueryTable
  reporting_query_row: ReportingQueryRowTable
  reporting_query_run: ReportingQueryRunTable
  reporting_record: ReportingRecordTable
  reporting_snapshot: ReportingSnapshotTable
}
