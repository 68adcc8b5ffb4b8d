import { sql, type Kysely } from 'kysely'
import type { StoredRecord } from '../../../schema/define-table.ts'
import type { Schema } from '../../../schema/schema.ts'

/** A sign-in that an application began, as its admins look for what went wrong. */
export interface RecentRequest {
  readonly id: string
  readonly startedAt: Date
  readonly endedAt: Date | null
  readonly stage: StoredRecord<'sign_in_attempt'>['stage']
  readonly refusalCode: string | null
  readonly personEmail: string | null
  readonly deviceName: string | null
  /** The record of the sign-in; null where it is kept no more. */
  readonly authLogId: string | null
}

/** The last sign-ins of an application, the latest first. */
export async function listRecentRequests(
  db: Kysely<Schema>,
  applicationId: string,
  limit: number,
): Promise<RecentRequest[]> {
  const { rows } = await sql<RecentRequest>`
    select r.id, r.started_at as "startedAt", r.ended_at as "endedAt", r.stage,
      r.refusal_code as "refusalCode", person.email as "personEmail", device.name as "deviceName",
      r.auth_log_session_id as "authLogId"
    from sign_in_attempt r
    left join person on person.id = r.person_id
    left join device on device.id = r.device_id
    where r.application_id = ${applicationId}
    order by r.started_at desc, r.id desc limit ${limit}`.execute(db)
  return rows
}
