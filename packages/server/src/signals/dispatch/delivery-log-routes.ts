/*
 * The log of deliveries in the REST API: a resource that has deliveries mounts it below its own path. Owns
 * its texts and parameters; the operations are in delivery-log-endpoints.ts.
 */
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Caller } from '../../platform/http/operation.ts'
import { listRoute, route, type ApiRoute, type RouteContext } from '../../schema/operations.ts'
import type { Feature } from '../../schema/features.ts'
import type { Permission } from '../../schema/permissions.ts'
import type { Schema } from '../../schema/schema.ts'
import { deliverySchema, toDeliveryJson } from './delivery-json.ts'
import {
  deliveryLogEndpoints,
  type DeliveryLogDependencies,
  type DeliveryLogPurpose,
} from './delivery-log-endpoints.ts'
import type { FindContent } from './show-delivery.ts'
import { DELIVERY_LIST } from './delivery-read.ts'
import type { DeliveryOwner } from './redrive-deliveries.ts'

/** A resource of the REST API that has deliveries. */
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
  readonly findOwner: (
    db: Kysely<Schema>,
    id: string,
    purpose: DeliveryLogPurpose,
  ) => Promise<DeliveryOwner>
  readonly findContent?: FindContent
  /**
   * Refuses a caller who may not see what an event of this type says.
   *
   * @throws AppError `permission_missing`
   */
  readonly assertMayRead?: (caller: Caller, eventType: string) => void
}

type LogContext = Omit<RouteContext<Params, unknown, unknown, Caller>, 'query' | 'body'>
type Params = Readonly<Record<string, string>> & { readonly id: string }

const ownerParams = z.object({ id: z.string().min(1) })
const eventParams = z.object({ id: z.string().min(1), event_id: z.string().min(1) })

/** The log of deliveries below the path of a resource, and what can be done about them. */
export function deliveryLogRoutes(
  { path, noun, access, findOwner, findContent, assertMayRead }: DeliveryLogResource,
  dependencies: DeliveryLogDependencies,
): ApiRoute[] {
  return deliveryLogEndpoints<LogContext, ApiRoute>(
    {
      path: `${path}/:id`,
      texts: textsOf(noun),
      findOwner: (db, { params }, purpose) => findOwner(db, params.id, purpose),
      findContent,
      assertMayRead:
        assertMayRead && (({ principal }, eventType) => assertMayRead(principal, eventType)),
      declareList: ({ open, ...list }) =>
        listRoute({
          ...access,
          ...list,
          params: ownerParams,
          fields: DELIVERY_LIST.fields,
          isOrdered: true,
          item: deliverySchema,
          fetch: async ({ search, window, ...context }) => {
            const readPage = await open(context)
            return readPage({ search, window })
          },
          toJson: toDeliveryJson,
        }),
      declare: ({ handler, ...operation }) =>
        route({
          ...access,
          ...operation,
          params: operation.path.includes(':event_id') ? eventParams : ownerParams,
          handler: (context) => handler(context, context.body),
        }),
    },
    dependencies,
  )
}

function textsOf(noun: string) {
  return {
    list: {
      summary: `List the deliveries of a ${noun}`,
      description: '`state:dead` finds what could not be delivered.',
    },
    show: {
      summary: `Show a delivery of a ${noun}`,
      description: 'With every attempt and what is sent.',
    },
    resend: {
      summary: `Send a delivery of a ${noun} again`,
      description:
        'Whatever became of it, with the same event id. One that waits is tried at once.',
    },
    redrive: {
      summary: `Send the dead deliveries of a ${noun} again`,
      description: 'Those of a time, or certain ones; without either, all.',
    },
    discard: {
      summary: `Give up deliveries of a ${noun}`,
      description: 'Dead and queued ones up to a time, or certain ones.',
    },
  }
}
