import type { Kysely } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { defineTable } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DestinationKind } from './delivery-channel.ts'

export type DestinationState = Schema['delivery_destination']['state']

export const destinationTable = defineTable('delivery_destination')

interface DestinationValues {
  readonly kind: DestinationKind
  readonly state: DestinationState
  /** Whether deliveries stay queued when their attempts are used up; not by default. */
  readonly keepsExhausted?: boolean
}

/** What is known of a receiver that has not failed. */
const UNTRIED = { retryNotBefore: null, consecutiveFailures: 0, failingSince: null }

/** Adds a destination and answers its id. */
export async function insertDestination(
  db: Kysely<Schema>,
  values: DestinationValues,
): Promise<DestinationId> {
  return (await destinationTable.insert(db, { ...values, ...UNTRIED, lastSuccessAt: null })).id
}

/** Forgets what was held against the receiver, so that nothing waits for a pause to end. */
export async function resetDestinationHealth(db: Kysely<Schema>, id: DestinationId): Promise<void> {
  await destinationTable.updateAll(db, { id }, UNTRIED)
}

/** Changes a destination and forgets what was held against its receiver: it is tried at once. */
export async function updateDestination(
  db: Kysely<Schema>,
  id: DestinationId,
  values: DestinationValues,
): Promise<void> {
  await destinationTable.updateAll(db, { id }, { ...values, ...UNTRIED })
}

/** The destination with this id, a decimal number; undefined when there is none. */
export async function findDestinationId(
  db: Kysely<Schema>,
  id: string,
): Promise<DestinationId | undefined> {
  return (await destinationTable.find(db, { id: id as DestinationId }))?.id
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
  await destinationTable.updateAll(db, { id }, { state })
}
