import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** Leaves one check alone to run. */
export async function pauseOtherChecks(db: Kysely<Schema>, checkId: string): Promise<void> {
  await sql`update posture_check set paused_at = now() where id <> ${checkId}`.execute(db)
}

/** A device that is registered, with its owner. */
export interface OwnedDevice {
  readonly deviceId: string
  readonly email: string
}

/** Registers each device of a fleet, by the number in its serial, to a person of its own. */
export async function registerToOwners(db: Kysely<Schema>): Promise<Map<number, OwnedDevice>> {
  await sql`
    insert into person (name, email, usernames, created_at, updated_at)
    select 'Owner ' || serial, lower(serial) || '@example.com', '{}', now(), now() from device`.execute(
    db,
  )
  const { rows } = await sql<OwnedDevice & { readonly index: number }>`
    update device d set owner_person_id = p.id, registered_at = now()
    from person p where p.email = lower(d.serial) || '@example.com'
    returning substring(d.serial from 6)::int as index, d.id as "deviceId", p.email`.execute(db)
  return new Map(rows.map(({ index, deviceId, email }) => [index, { deviceId, email }]))
}
