import { EVERY_ATTEMPT } from '../src/signals/dispatch/attempt-read.ts'
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type Kysely } from 'kysely'
import { asOwner, type OwnedDatabase } from './owner-database.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import type { Schema } from '../src/schema/schema.ts'
import { complianceChangeClaims } from './compliance-change-claims.ts'

/** Devices that the events are about: events of one device are delivered in order. */
const DEVICES_COUNT = 5_000

/**
 * Queues `count` compliance changes, spread over the destinations in turn, all due at once: what the
 * service would have queued in as many transactions.
 */
export async function insertQueuedEvents(
  db: Kysely<Schema>,
  destinationIds: readonly DestinationId[],
  count: number,
): Promise<void> {
  const template = JSON.stringify(complianceChangeClaims('{jti}', '{device}'))
  await sql`
    insert into delivery (destination_id, event_id, event_type, subject_key, body, state,
      next_attempt_at, txn, created_at)
    select (${destinationIds}::bigint[])[1 + n % ${destinationIds.length}::int], event_id,
      ${DEVICE_COMPLIANCE_CHANGE}, 'device:' || device,
      replace(replace(${template}::text, '{jti}', event_id), '{device}', device),
      'queued', now(), txn, now()
    from (
      select n, gen_random_uuid()::text as event_id, '01BENCH' || lpad(n::text, 19, '0') as txn,
        (n % ${DEVICES_COUNT}::int)::text as device
      from generate_series(1, ${count}::int) n
    ) event
    order by n`.execute(db)
  await sql`analyze delivery`.execute(db)
}

export async function hasQueuedEvents(db: Kysely<Schema>): Promise<boolean> {
  const row = await db
    .selectFrom('delivery')
    .select('id')
    .where('state', '=', 'queued')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether something is queued that is not for the given destination. */
export async function hasQueuedForOthers(
  db: Kysely<Schema>,
  exceptDestinationId: DestinationId,
): Promise<boolean> {
  const row = await db
    .selectFrom('delivery')
    .select('id')
    .where('state', '=', 'queued')
    .where('destination_id', '!=', exceptDestinationId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** How many deliveries and how many attempts are recorded as successful. */
export async function countDelivered(
  db: Kysely<Schema>,
): Promise<{ readonly deliveries: number; readonly attempts: number }> {
  const { rows } = await sql<{ deliveries: number; attempts: number }>`
    select (select count(*)::int from delivery where state = 'delivered') as deliveries,
      (select count(*)::int from ${EVERY_ATTEMPT} every where outcome = 'accepted') as attempts`.execute(
    db,
  )
  return rows[0] ?? { deliveries: 0, attempts: 0 }
}

/** Removes all events, as the owner of the tables: the service may not empty them at once. */
export async function deleteEvents(services: OwnedDatabase): Promise<void> {
  await asOwner(services, (db) => sql`truncate delivery, delivery_attempt`.execute(db))
}
