/*
 * The log of deliveries in the REST API, once for everything that is delivered: a resource that has
 * deliveries mounts these routes below its own path. Owns the wire; the rules are in
 * redrive-deliveries.ts and delivery-read.ts.
 */
import type { Feature } from '../../schema/features.ts'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRoute } from '../../platform/http/list-route.ts'
import type { Permission } from '../../schema/permissions.ts'
import { answer, route, type ApiRoute } from '../../platform/http/route.ts'
import {
  deliveryDetailsSchema,
  deliverySchema,
  parseContent,
  toDeliveryDetailsJson,
  toDeliveryJson,
} from './delivery-json.ts'
import {
  discardBody,
  movedSchema,
  redriveBody,
  toDiscardSelection,
  toMovedJson,
  toRedriveSelection,
} from './delivery-log-input.ts'
import {
  DELIVERY_SEARCH_FIELDS,
  getDeliveryOfEvent,
  listDeliveryLog,
  listLatestAttempts,
  type DeliveryDetails,
} from './delivery-read.ts'
import type { WakeDelivery } from './enqueue-deliveries.ts'
import {
  discardDeliveries,
  redriveDeliveries,
  resendDelivery,
  type DeliveryOwner,
} from './redrive-deliveries.ts'

/** What the owner is looked for: to show its log, to send again, or to give up. */
export type DeliveryLogPurpose = 'show' | 'send' | 'discard'

/** A resource that has deliveries. */
export interface DeliveryLogResource {
  /** Where its records are: `/ssf_streams`. */
  readonly path: `/${string}`
  /** One of its records in words: `stream`. */
  readonly noun: string
  readonly access: {
    readonly tags: readonly string[]
    readonly permission: Permission
    readonly feature?: Feature | null
  }
  /**
   * The owner by the id in the path; in a change when something is to be changed.
   *
   * @throws AppError `not_found`; `conflict` when nothing can be sent to it
   */
  findOwner(db: Kysely<Schema>, id: string, purpose: DeliveryLogPurpose): Promise<DeliveryOwner>
  /** What a delivery carries, where the row itself does not tell. */
  findContent?(db: Kysely<Schema>, delivery: DeliveryDetails): Promise<string | null>
}

export interface DeliveryLogDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly wake: WakeDelivery
}

const ownerParams = z.object({ id: z.string().min(1) })
const eventParams = z.object({ id: z.string().min(1), event_id: z.string().min(1) })

const EXAMPLE_EVENT = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'

/** The log of deliveries below the path of a resource, and what can be done about them. */
export function deliveryLogRoutes(
  resource: DeliveryLogResource,
  dependencies: DeliveryLogDependencies,
): ApiRoute[] {
  return [
    listOf(resource, dependencies),
    showOf(resource, dependencies),
    resendOf(resource, dependencies),
    redriveOf(resource, dependencies),
    discardOf(resource, dependencies),
  ]
}

/** A delivery with its attempts, as it is shown. */
export async function showDelivery(
  db: Kysely<Schema>,
  delivery: DeliveryDetails,
  findContent?: DeliveryLogResource['findContent'],
): Promise<z.input<typeof deliveryDetailsSchema>> {
  const text = findContent === undefined ? delivery.body : ((await findContent(db, delivery)) ?? '')
  const log = await listLatestAttempts(db, delivery.id)
  return toDeliveryDetailsJson(delivery, parseContent(text), log)
}

function listOf(resource: DeliveryLogResource, { db }: DeliveryLogDependencies): ApiRoute {
  return listRoute({
    ...resource.access,
    path: `${resource.path}/:id/deliveries`,
    summary: `List the deliveries of a ${resource.noun}`,
    description: 'Oldest first. `state:dead` finds what could not be delivered.',
    params: ownerParams,
    fields: DELIVERY_SEARCH_FIELDS,
    item: deliverySchema,
    fetch: async ({ params, search, window }) => {
      const { destinationId } = await resource.findOwner(db, params.id, 'show')
      return listDeliveryLog(db, { destinationId, search, window })
    },
    toJson: toDeliveryJson,
  })
}

function showOf(resource: DeliveryLogResource, { db }: DeliveryLogDependencies): ApiRoute {
  return route({
    ...resource.access,
    method: 'GET',
    path: `${resource.path}/:id/deliveries/:event_id`,
    summary: `Show a delivery of a ${resource.noun}`,
    description: 'With every attempt and what is sent.',
    params: eventParams,
    responses: { 200: deliveryDetailsSchema },
    example: { params: { event_id: EXAMPLE_EVENT } },
    handler: async ({ params }) => {
      const { destinationId } = await resource.findOwner(db, params.id, 'show')
      const delivery = await getDeliveryOfEvent(db, destinationId, params.event_id)
      return showDelivery(db, delivery, resource.findContent?.bind(resource))
    },
  })
}

function resendOf(
  resource: DeliveryLogResource,
  { runChange, wake }: DeliveryLogDependencies,
): ApiRoute {
  return route({
    ...resource.access,
    method: 'POST',
    path: `${resource.path}/:id/deliveries/:event_id/resend`,
    summary: `Send a delivery of a ${resource.noun} again`,
    description: 'Whatever became of it, with the same event id. One that waits is tried at once.',
    params: eventParams,
    responses: { 200: deliverySchema },
    example: { params: { event_id: EXAMPLE_EVENT } },
    handler: (context) =>
      runChange(toOrigin(context), async (change) => {
        const { id, event_id: eventId } = context.params
        const owner = await resource.findOwner(change.tx, id, 'send')
        return answer(200, toDeliveryJson(await resendDelivery(change, owner, eventId, wake)))
      }),
  })
}

function redriveOf(
  resource: DeliveryLogResource,
  { runChange, wake }: DeliveryLogDependencies,
): ApiRoute {
  return route({
    ...resource.access,
    method: 'POST',
    path: `${resource.path}/:id/redrive`,
    summary: `Send the dead deliveries of a ${resource.noun} again`,
    description: 'Those of a time, or certain ones; without either, all.',
    params: ownerParams,
    body: redriveBody,
    responses: { 200: movedSchema },
    example: { body: { since: '2026-01-02T03:04:05Z' } },
    handler: (context) => {
      const narrowing = toRedriveSelection(context.body)
      return runChange(toOrigin(context), async (change) => {
        const owner = await resource.findOwner(change.tx, context.params.id, 'send')
        const moved = await redriveDeliveries(change, { ...owner, ...narrowing }, wake)
        return answer(200, toMovedJson(moved))
      })
    },
  })
}

function discardOf(
  resource: DeliveryLogResource,
  { runChange, wake }: DeliveryLogDependencies,
): ApiRoute {
  return route({
    ...resource.access,
    method: 'POST',
    path: `${resource.path}/:id/discard`,
    summary: `Give up deliveries of a ${resource.noun}`,
    description: 'Dead and queued ones up to a time, or certain ones.',
    params: ownerParams,
    body: discardBody,
    responses: { 200: movedSchema },
    example: { body: { until: '2026-01-02T03:04:05Z', states: ['dead'] } },
    handler: (context) => {
      const narrowing = toDiscardSelection(context.body)
      return runChange(toOrigin(context), async (change) => {
        const owner = await resource.findOwner(change.tx, context.params.id, 'discard')
        const moved = await discardDeliveries(change, { ...owner, ...narrowing }, wake)
        return answer(200, toMovedJson(moved))
      })
    },
  })
}
