import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'

/** When issues were detected, by their ids. */
export async function listDetections(
  db: Kysely<Schema>,
  issueIds: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('issue')
    .select(['id', 'detected_at'])
    .where(sql<boolean>`id = any(${issueIds}::bigint[])`)
    .execute()
  return new Map(rows.map(({ id, detected_at: at }) => [id, at]))
}

/** How many checks a device has not answered yet. */
export async function countOwedChecks(db: Kysely<Schema>, deviceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from check_result r join posture_check c on c.id = r.check_id
    where r.device_id = ${deviceId} and r.status = 'pending' and c.paused_at is null`.execute(db)
  return rows[0]?.count ?? 0
}

/** When a device was last heard of, by what it did. */
export interface DeviceCheckIns {
  readonly lastContactAt: Date | null
  readonly ipAddress: string | null
  readonly enrolledAt: Date | null
  readonly lastRoundAt: Date | null
  readonly lastResultAt: Date | null
  readonly lastReportAt: Date | null
  readonly lastSignInAt: Date | null
  readonly lastAuthenticatedAt: Date | null
}

/** The last times of a device; undefined without it. */
export async function findCheckIns(
  db: Kysely<Schema>,
  deviceId: string,
): Promise<DeviceCheckIns | undefined> {
  const { rows } = await sql<DeviceCheckIns>`
    select contact.last_seen_at as "lastContactAt", contact.ip_address as "ipAddress",
      d.enrolled_at as "enrolledAt", round.ran_at as "lastRoundAt",
      greatest(round.ran_at,
        (select max(ran_at) from check_result where device_id = d.id)) as "lastResultAt",
      (select max(collected_at) from reporting_snapshot where device_id = d.id) as "lastReportAt",
      (select max(started_at) from auth_log_session where device_id = d.id) as "lastSignInAt",
      d.last_authenticated_at as "lastAuthenticatedAt"
    from device d
    left join device_contact contact on contact.device_id = d.id
    left join device_round round on round.device_id = d.id
    where d.id = ${deviceId}`.execute(db)
  return rows[0]
}
