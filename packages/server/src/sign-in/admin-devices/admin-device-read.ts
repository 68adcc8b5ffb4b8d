import { sql, type Kysely } from 'kysely'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import { hasBlockingIssue, IS_LEAVING } from '../attempts/attempt-facts-read.ts'

/** Why an admin could not use the console, were a trusted device asked for. */
export const ADMIN_DEVICE_PROBLEMS = ['no_person', 'no_device', 'device_blocked'] as const

/** An admin with the device that would be the best one to use the console from. */
export interface AdminDevice {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly personId: string | null
  readonly deviceId: string | null
  readonly deviceName: string | null
  /** Null for an admin who has a device that would be trusted. */
  readonly problem: (typeof ADMIN_DEVICE_PROBLEMS)[number] | null
}

/** The admins who are not deactivated, by ascending id. */
export async function listAdminDevices(
  db: Kysely<Schema>,
  at: Date,
  window: PageWindow,
): Promise<AdminDevice[]> {
  const { rows } = await sql<AdminDevice>`
    select a.id, a.first_name || ' ' || a.last_name as name, a.email, p.id as "personId",
      d.id as "deviceId", d.name as "deviceName",
      case when p.id is null then 'no_person'
        when d.id is null then 'no_device'
        when d.is_blocked or ${hasBlockingIssue(sql.ref('p.id'), at)} then 'device_blocked' end as problem
    from admin_user a
    left join person p on lower(p.email) = lower(a.email) and p.deprovisioned_at is null
    left join lateral (
      select d.id, d.name, d.auth_state = 'Blocked'
        or (d.auth_state = 'Will Block' and d.will_block_at <= ${at}) as is_blocked
      from device d
      where d.owner_person_id = p.id and d.registered_at is not null and not ${IS_LEAVING}
      order by is_blocked, d.id limit 1) d on true
    where a.deactivated_at is null and ${afterKey(sql.ref('a.id'), window)}
    order by a.id limit ${window.limit}`.execute(db)
  return rows
}
