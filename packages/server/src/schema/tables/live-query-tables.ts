import type { Generated } from 'kysely'
import type { Id, Json, OsqueryRow } from './column-types.ts'

/** These tables by their names. */
export interface LiveQueryTables {
  live_query_campaign: {
    id: Id
    name: string
    sql: string
    tables_used: string[]
    targeted_device_ids: Generated<string[]>
    target_all_devices: Generated<boolean>
    target_macs: Generated<boolean>
    target_windows_devices: Generated<boolean>
    target_linux_devices: Generated<boolean>
    published: boolean
    revision: Generated<number>
    asked_at: Date | null
    created_at: Date
    updated_at: Date
  }
  live_query_target: {
    campaign_id: string
    device_id: string
    revision: number
    state: 'waiting' | 'successful' | 'errored'
  }
  live_query_result: {
    id: Id
    campaign_id: string
    device_id: string
    revision: number
    rows: Json<OsqueryRow[]>
    row_count: number
    error_message: string | null
    warning_message: string | null
    answered_at: Date
  }
  live_query_counter: {
    campaign_id: string
    stripe: number
    waiting: Generated<number>
    successful: Generated<number>
    errored: Generated<number>
  }
}
