import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A device as the page of an attempt shows it. */
export async function findShownDevice(db: Kysely<Schema>, id: string) {
  return db
    .selectFrom('device as d')
    .leftJoin('device_contact as c', 'c.device_id', 'd.id')
    .select([
      'd.id',
      'd.name',
      'd.platform',
      'd.auth_state as authState',
      'd.will_block_at as willBlockAt',
      'd.owner_person_id as ownerId',
      'd.former_owner_person_id as formerOwnerId',
      'd.registration_ended_at as registrationEndedAt',
      'c.last_seen_at as seenAt',
    ])
    .where('d.id', '=', id)
    .executeTakeFirst()
}
