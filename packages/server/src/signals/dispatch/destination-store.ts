import type { Kysely } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DestinationKind } from './delivery-channel.ts'

export type DestinationState = Schema['delivery_destination']['state']

/** Adds a destination and answers its id. */
export async function insertDestination(
  db: Kysely<Schema>,
  destination: { readonly kind: DestinationKind; readonly state: DestinationState },
): Promise<DestinationId> {
  const { id } = await db
    .insertInto('delivery_destination')
    .values({ ...destination, retry_not_before: null, failing_since: null, last_success_at: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** What is known of a receiver that has not failed. */
const UNTRIED = { retry_not_before: null, consecutive_failures: 0, failing_since: null }

/** Forgets what was held against the receiver, so that nothing waits for a pause to end. */
export async function resetDestinationHealth(db: Kysely<Schema>, id: DestinationId): Promise<void> {
  await db.updateTable('delivery_destination').set(UNTRIED).where('id', '=', id).execute()
}

/** Changes a destination and forgets what was held against its receiver: it is tried at once. */
export async function updateDestination(
  db: Kysely<Schema>,
  id: DestinationId,
  destination: { readonly kind: DestinationKind; readonly state: DestinationState },
): Promise<void> {
  await db
    .updateTable('delivery_destination')
    .set({ ...destination, ...UNTRIED })
    .where('id', '=', id)
    .execute()
}

/** The destination with this id, a decimal number; undefined when there is none. */
export async function findDestinationId(
  db: Kysely<Schema>,
  id: string,
): Promise<DestinationId | undefined> {
  const query = db.selectFrom('delivery_destination').select('id')
  return (await query.where('id', '=', id as DestinationId).executeTakeFirst())?.id
}

/**
 * Changes the state of a destination, and keeps what is known of its receiver. Nothing is sent to one that is
 * `deleted` from this moment on. Its deliveries may be too many to delete in the same transaction;
 * `deleteMarkedDestinations` does it.
 */
export async function updateDestinationState(
  db: Kysely<Schema>,
  id: DestinationId,
  state: DestinationState,
): Promise<void> {
  await db.updateTable('delivery_destination').set({ state }).where('id', '=', id).execute()
}
