import { sql, type Kysely, type Selectable } from 'kysely'
import { AppError } from '../platform/app-error.ts'
import { afterKey, type PageWindow } from '../platform/db/page.ts'
import type { DeliveryAttemptTable, DeliveryTable, Schema } from '../platform/db/schema.ts'

export type DeliveryRow = Selectable<DeliveryTable>
export type DeliveryAttemptRow = Selectable<DeliveryAttemptTable>
export type DeliveryState = DeliveryRow['state']

/** Which deliveries of a destination to list. */
export interface DeliveryListing {
  readonly destinationId: string
  readonly state?: DeliveryState | undefined
  readonly window: PageWindow
}

/** A page of the deliveries of a destination, oldest first. */
export async function listDeliveries(
  db: Kysely<Schema>,
  listing: DeliveryListing,
): Promise<DeliveryRow[]> {
  return db
    .selectFrom('delivery')
    .selectAll()
    .where('destination_id', '=', listing.destinationId)
    .where(afterKey(sql.ref('id'), listing.window))
    .$if(listing.state !== undefined, (query) =>
      query.where('state', '=', listing.state ?? 'queued'),
    )
    .orderBy('id')
    .limit(listing.window.limit)
    .execute()
}

/**
 * One delivery of a destination.
 *
 * @throws AppError `not_found`.
 */
export async function getDelivery(
  db: Kysely<Schema>,
  destinationId: string,
  id: string,
): Promise<DeliveryRow> {
  const row = /^\d{1,18}$/.test(id)
    ? await db
        .selectFrom('delivery')
        .selectAll()
        .where('id', '=', id)
        .where('destination_id', '=', destinationId)
        .executeTakeFirst()
    : undefined
  if (row === undefined) throw new AppError('not_found', 'not_found', 'There is no such delivery.')
  return row
}

/** The attempts of a delivery in their order; a schedule of ten and its redrives bound them. */
export async function listAttempts(
  db: Kysely<Schema>,
  deliveryId: string,
): Promise<DeliveryAttemptRow[]> {
  return db
    .selectFrom('delivery_attempt')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('number')
    .orderBy('id')
    .execute()
}
