import type { BigCount, Id, Json, OsqueryRow } from './column-types.ts'

/** A value of a result row. */
export type JsonColumn = string | number | boolean | null

/** These tables by their names. */
export interface ReportingTables {
  reporting_record: {
    id: Id
    table_name: string
    device_id: string
    columns: Json<OsqueryRow>
    collected_at: Date
  }
  reporting_snapshot: {
    device_id: string
    table_name: string
    unix_time: BigCount
    epoch: BigCount
    counter: BigCount
    content_hash: Buffer
    collected_at: Date
  }
  reporting_query_run: {
    id: Id
    query_id: string
    ran_at: Date
    row_count: number
  }
  reporting_query_row: {
    run_id: string
    ordinal: number
    columns: Json<Record<string, JsonColumn>>
  }
  reporting_query: {
    id: Id
    name: string
    sql: string
    created_at: Date
    updated_at: Date
  }
}
