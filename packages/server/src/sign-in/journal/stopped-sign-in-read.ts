import { sql, type Kysely } from 'kysely'
import type { StoredRecord } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

/** More sign-ins than this are not counted. */
export const STOPPED_COUNTED_MAX = 10_000

/** A sign-in that did not succeed. */
export interface StoppedSignIn {
  readonly id: string
  readonly startedAt: Date
  readonly personName: string
  readonly deviceId: string | null
  readonly initialStatus: StoredRecord<'auth_log_session'>['initialStatus']
}

/** How many sign-ins since a time did not succeed; at most `STOPPED_COUNTED_MAX` are counted. */
export async function countStoppedSignIns(db: Kysely<Schema>, since: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from auth_log_session where result = 'Fail' and started_at >= ${since}
      limit ${STOPPED_COUNTED_MAX + 1}) as stopped`.execute(db)
  return rows[0]?.count ?? 0
}

/** The last sign-ins since a time that did not succeed, the latest first. */
export async function listStoppedSignIns(
  db: Kysely<Schema>,
  since: Date,
  limit: number,
): Promise<StoppedSignIn[]> {
  const { rows } = await sql<StoppedSignIn>`
    select id, started_at as "startedAt", person_name as "personName", device_id as "deviceId",
      initial_status as "initialStatus"
    from auth_log_session where result = 'Fail' and started_at >= ${since}
    order by started_at desc, id desc limit ${limit}`.execute(db)
  return rows
}
