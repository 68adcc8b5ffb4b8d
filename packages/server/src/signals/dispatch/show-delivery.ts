import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { Schema } from '../../schema/schema.ts'
import { parseContent, toDeliveryDetailsJson, type deliveryDetailsSchema } from './delivery-json.ts'
import { listLatestAttempts, type DeliveryDetails } from './delivery-read.ts'

/** What a delivery carries, where the row itself does not tell. */
export type FindContent = (db: Kysely<Schema>, delivery: DeliveryDetails) => Promise<string | null>

/** A delivery with its attempts, as it is shown. */
export async function showDelivery(
  db: Kysely<Schema>,
  delivery: DeliveryDetails,
  findContent: FindContent | undefined,
): Promise<z.input<typeof deliveryDetailsSchema>> {
  const text = findContent === undefined ? delivery.body : ((await findContent(db, delivery)) ?? '')
  const log = await listLatestAttempts(db, delivery.id)
  return toDeliveryDetailsJson(delivery, parseContent(text), log)
}
