import type { Kysely } from 'kysely'
import { listRoute, type ApiRoute } from '../../../schema/operations.ts'
import type { Schema } from '../../../schema/schema.ts'
import { ownedDeliverySchema, toOwnedDeliveryJson } from './all-deliveries-json.ts'
import { ALL_DELIVERIES, isToKinds } from './all-deliveries-read.ts'
import type { SeeDestinations } from './seen-destinations.ts'

const WHOSE =
  'Of the streams and webhooks that the caller may manage: with `Manage Shared Signals Framework Streams` those of streams, with `Manage Webhooks` those of webhooks; without either none.'

export interface AllDeliveriesDependencies {
  readonly db: Kysely<Schema>
  readonly seeDestinations: SeeDestinations
}

/** Lists the deliveries of all destinations. One is shown, and sent again, below the path of its destination. */
export function allDeliveriesRoutes({
  db,
  seeDestinations,
}: AllDeliveriesDependencies): ApiRoute[] {
  return [
    listRoute({
      tags: ['Deliveries'],
      permission: null,
      path: '/deliveries',
      summary: 'List the deliveries of all streams and webhooks',
      description: `${WHOSE} One is shown with its attempts below the path of its destination, by its event id.`,
      fields: ALL_DELIVERIES.fields,
      isOrdered: true,
      item: ownedDeliverySchema,
      fetch: async ({ principal, search, window }) => {
        const scope = isToKinds(await seeDestinations(principal), search)
        return ALL_DELIVERIES.listPage(db, { search, window, scope })
      },
      toJson: toOwnedDeliveryJson,
    }),
  ]
}
