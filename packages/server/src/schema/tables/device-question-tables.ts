import type { Json, OsqueryRow } from './column-types.ts'

/** These tables by their names. */
export interface DeviceQuestionTables {
  device_question: {
    id: string
    device_id: string
    purpose: string
    sql: string
    status: 'waiting' | 'answered' | 'failed' | 'expired'
    asked_at: Date
    expires_at: Date
    answered_at: Date | null
    rows: Json<OsqueryRow[]> | null
    error_message: string | null
  }
}
