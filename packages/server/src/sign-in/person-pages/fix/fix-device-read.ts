import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { Platform } from '../../../schema/tables/device-tables.ts'
import type { DeviceHolder } from './fix-link.ts'

/** A device as the page of a link names it. */
export interface FixDevice extends DeviceHolder {
  readonly name: string
  readonly platform: Platform
  readonly seenAt: Date | null
}

export async function findFixDevice(
  db: Kysely<Schema>,
  id: string,
): Promise<FixDevice | undefined> {
  return db
    .selectFrom('device as d')
    .leftJoin('device_contact as c', 'c.device_id', 'd.id')
    .select([
      'd.name',
      'd.platform',
      'c.last_seen_at as seenAt',
      'd.owner_person_id as ownerPersonId',
      'd.registered_at as registeredAt',
    ])
    .where('d.id', '=', id)
    .executeTakeFirst()
}
