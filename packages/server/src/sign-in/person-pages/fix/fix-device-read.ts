import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { Platform } from '../../../schema/tables/device-tables.ts'

/** A device as the page of a link names it. */
export interface FixDevice {
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
    .select(['d.name', 'd.platform', 'c.last_seen_at as seenAt'])
    .where('d.id', '=', id)
    .executeTakeFirst()
}
