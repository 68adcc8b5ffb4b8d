import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** When and from where a device was last heard of. */
export interface DeviceContact {
  readonly deviceId: string
  readonly lastSeenAtMs: number
  readonly ipAddress: string
}

/**
 * Moves the last contacts of many devices forward in one statement; unknown devices are left out. One that lies
 * ahead of the time is of a clock that was set back, and gives way.
 */
export async function upsertContacts(
  db: Kysely<Schema>,
  contacts: readonly DeviceContact[],
): Promise<void> {
  const ids = contacts.map((contact) => contact.deviceId)
  const times = contacts.map((contact) => new Date(contact.lastSeenAtMs).toISOString())
  const addresses = contacts.map((contact) => contact.ipAddress)
  await sql`
    insert into device_contact (device_id, last_seen_at, ip_address)
    select c.device_id, c.last_seen_at, c.ip_address
    from unnest(${ids}::bigint[], ${times}::timestamptz[], ${addresses}::text[])
      as c(device_id, last_seen_at, ip_address)
    join device d on d.id = c.device_id
    order by c.device_id
    on conflict (device_id) do update
      set last_seen_at = excluded.last_seen_at, ip_address = excluded.ip_address
      where device_contact.last_seen_at < excluded.last_seen_at or device_contact.last_seen_at > now()
  `.execute(db)
}
