import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import type { FindOptions } from '../../platform/db/record-table.ts'
import { isId } from '../../platform/ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { findDestinationId } from '../../signals/dispatch/destination-store.ts'
import type { DeliveryLogPurpose } from '../../signals/dispatch/delivery-log-endpoints.ts'
import type { DeliveryOwner } from '../../signals/dispatch/redrive-deliveries.ts'
import { toDeliveryOwner, toFindOptions } from '../../signals/streams/stream-owner.ts'
import {
  findStreamOfDestination,
  getStream,
  parseStreamReference,
} from '../../signals/streams/stream-store.ts'
import { requestedTypes } from '../../signals/streams/unrequested-event-store.ts'
import { toWebhookOwner } from '../../signals/webhooks/webhook-owner.ts'
import { EVENT_IS_KEPT } from '../../signals/webhooks/webhook-event-store.ts'
import { getWebhook } from '../../signals/webhooks/webhook-store.ts'
import { option } from '../option.ts'

/** The flags that say whose deliveries. */
export const OWNER_OPTIONS = {
  stream: option('--stream <id>', 'of this stream, by its id or stream id'),
  webhook: option('--webhook <id>', 'of this webhook'),
  destination: option(
    '--destination <id>',
    'of this destination, as the log of the service names it',
  ),
}

/** The values of {@link OWNER_OPTIONS}. */
export interface OwnerChoice {
  readonly stream: string | undefined
  readonly webhook: string | undefined
  readonly destination: string | undefined
}

/**
 * Finds whose deliveries the flags mean.
 *
 * @throws AppError `invalid_parameter` unless exactly one of the flags is given; `not_found`
 */
export async function findOwner(
  db: Kysely<Schema>,
  { stream, webhook, destination }: OwnerChoice,
  purpose: DeliveryLogPurpose,
): Promise<DeliveryOwner> {
  const given = [stream, webhook, destination].filter((id) => id !== undefined)
  if (given.length !== 1) {
    const message = 'Give one of --stream, --webhook and --destination.'
    throw new AppError('invalid_parameter', message)
  }
  const findOptions = toFindOptions(purpose)
  if (stream !== undefined) {
    const found = await getStream(db, parseStreamReference(stream), findOptions)
    return toDeliveryOwner(found, purpose)
  }
  if (webhook !== undefined) return toWebhookOwner(await getWebhook(db, webhook), purpose)
  return findDestination(db, destination ?? '', findOptions)
}

async function findDestination(
  db: Kysely<Schema>,
  id: string,
  findOptions: FindOptions,
): Promise<DeliveryOwner> {
  const destinationId = isId(id) ? await findDestinationId(db, id) : undefined
  if (destinationId === undefined) {
    throw new AppError('not_found', 'There is no such destination.')
  }
  // It may be a webhook's: those deliveries carry no payload themselves.
  const payload = EVENT_IS_KEPT
  const stream = await findStreamOfDestination(db, destinationId, findOptions)
  const eventTypes = stream && requestedTypes(stream)
  return { destinationId, target: { type: 'delivery_destination', id }, payload, eventTypes }
}
