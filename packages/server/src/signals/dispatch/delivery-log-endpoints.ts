/*
 * The log of deliveries as a resource, once for everything that is delivered and every surface. Owns its
 * operations and their rules of access; a mount says how a surface declares them, whose log it is and how
 * lists are paged. The rules of sending again are in redrive-deliveries.ts, the queries in delivery-read.ts.
 */
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { answer, type Answer, type OperationExample } from '../../platform/http/operation.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Schema } from '../../schema/schema.ts'
import { deliveryDetailsSchema, deliverySchema, toDeliveryJson } from './delivery-json.ts'
import {
  discardBody,
  movedSchema,
  redriveBody,
  toDiscardSelection,
  toRedriveSelection,
} from './delivery-log-input.ts'
import {
  getDeliveryOfEvent,
  listDeliveryLog,
  type DeliveryLogRequest,
  type DeliveryRecord,
} from './delivery-read.ts'
import {
  discardDeliveries,
  redriveDeliveries,
  resendDelivery,
  type DeliveryOwner,
  type DeliverySelection,
  type MovedDeliveries,
} from './redrive-deliveries.ts'
import { showDelivery, type FindContent } from './show-delivery.ts'

/** What the owner is looked for: to show its log, to send again, or to give up. */
export type DeliveryLogPurpose = 'show' | 'send' | 'discard'

export type DeliveryLogDependencies = Pick<Foundation, 'db' | 'runChange'>

type ChangeRequest = Parameters<typeof toOrigin>[0]

/** A request to a log, whatever surface it came by. */
export type LogRequest = ChangeRequest & { readonly params: Readonly<Record<string, string>> }

interface Texts {
  readonly summary: string
  readonly description: string
}

export type ReadLogPage = (
  page: Pick<DeliveryLogRequest, 'search' | 'window'>,
) => Promise<DeliveryRecord[]>

/** The list of a log; the mount pages it. */
export interface LogList<Request> extends Texts {
  readonly path: `/${string}`
  /** Finds the log that a request names; what it answers reads a page. */
  readonly open: (request: Request) => Promise<ReadLogPage>
}

/** An operation of a log beside its list. */
export interface LogOperation<Request> extends Texts {
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  readonly body?: z.ZodType
  readonly responses: { readonly 200: z.ZodType }
  readonly example: OperationExample
  /** `body` is validated; undefined where the operation has none. */
  readonly handler: (request: Request, body: unknown) => Promise<Answer>
}

/** How a surface has the log of one kind of owner. */
export interface DeliveryLogMount<Request extends LogRequest, Declared> {
  /** Where one owner is: `/ssf_streams/:id`. */
  readonly path: `/${string}`
  readonly texts: Readonly<Record<'list' | 'show' | 'resend' | 'redrive' | 'discard', Texts>>
  /**
   * The owner that a request names; in a change when something is to be changed.
   *
   * @throws AppError `not_found`; `conflict` when nothing can be sent to it
   */
  findOwner(
    db: Kysely<Schema>,
    request: Request,
    purpose: DeliveryLogPurpose,
  ): Promise<DeliveryOwner>
  readonly findContent: FindContent | undefined
  /**
   * Whether who asks may see what a delivery of an event of this type says; everybody when it is left out.
   *
   * @throws AppError `permission_missing`
   */
  readonly assertMayRead?: ((request: Request, eventType: string) => void) | undefined
  declareList(list: LogList<Request>): Declared
  declare(operation: LogOperation<Request>): Declared
}

const EXAMPLE_EVENT = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'

/** The log of deliveries below the path of its owner, and what can be done about them. */
export function deliveryLogEndpoints<Request extends LogRequest, Declared>(
  mount: DeliveryLogMount<Request, Declared>,
  dependencies: DeliveryLogDependencies,
): Declared[] {
  return [
    ...readEndpoints(mount, dependencies),
    resendEndpoint(mount, dependencies),
    moveEndpoint(mount, dependencies, {
      action: 'redrive',
      purpose: 'send',
      body: redriveBody,
      example: { since: '2026-01-02T03:04:05Z' },
      toSelection: toRedriveSelection,
      move: redriveDeliveries,
    }),
    moveEndpoint(mount, dependencies, {
      action: 'discard',
      purpose: 'discard',
      body: discardBody,
      example: { until: '2026-01-02T03:04:05Z', states: ['dead'] },
      toSelection: toDiscardSelection,
      move: discardDeliveries,
    }),
  ]
}

function readEndpoints<Request extends LogRequest, Declared>(
  mount: DeliveryLogMount<Request, Declared>,
  { db }: DeliveryLogDependencies,
): Declared[] {
  const { path, texts, findContent } = mount
  return [
    mount.declareList({
      ...texts.list,
      path: `${path}/deliveries`,
      open: async (request) => {
        const { destinationId } = await mount.findOwner(db, request, 'show')
        return (page) => listDeliveryLog(db, { destinationId, ...page })
      },
    }),
    mount.declare({
      ...texts.show,
      method: 'GET',
      path: `${path}/deliveries/:event_id`,
      responses: { 200: deliveryDetailsSchema },
      example: { params: { event_id: EXAMPLE_EVENT } },
      handler: async (request) => {
        const { destinationId } = await mount.findOwner(db, request, 'show')
        const delivery = await getDeliveryOfEvent(db, destinationId, eventIdOf(request))
        mount.assertMayRead?.(request, delivery.eventType)
        return answer(200, await showDelivery(db, delivery, findContent))
      },
    }),
  ]
}

function resendEndpoint<Request extends LogRequest, Declared>(
  mount: DeliveryLogMount<Request, Declared>,
  { runChange }: DeliveryLogDependencies,
): Declared {
  return mount.declare({
    ...mount.texts.resend,
    method: 'POST',
    path: `${mount.path}/deliveries/:event_id/resend`,
    responses: { 200: deliverySchema },
    example: { params: { event_id: EXAMPLE_EVENT } },
    handler: (request) =>
      runChange(toOrigin(request), async (change) => {
        const owner = await mount.findOwner(change.tx, request, 'send')
        const delivery = await resendDelivery(change, owner, eventIdOf(request))
        return answer(200, toDeliveryJson(delivery))
      }),
  })
}

/** How deliveries are moved to another state in one call. */
interface Move<Body extends z.ZodType> {
  readonly action: 'redrive' | 'discard'
  readonly purpose: DeliveryLogPurpose
  readonly body: Body
  readonly example: object
  readonly toSelection: (body: z.output<Body>) => Omit<DeliverySelection, keyof DeliveryOwner>
  readonly move: (change: Change, selection: DeliverySelection) => Promise<MovedDeliveries>
}

function moveEndpoint<Request extends LogRequest, Declared, Body extends z.ZodType>(
  mount: DeliveryLogMount<Request, Declared>,
  { runChange }: DeliveryLogDependencies,
  { action, purpose, body, example, toSelection, move }: Move<Body>,
): Declared {
  return mount.declare({
    ...mount.texts[action],
    method: 'POST',
    path: `${mount.path}/${action}`,
    body,
    responses: { 200: movedSchema },
    example: { body: example },
    handler: async (request, sent) => {
      const selection = toSelection(sent as z.output<Body>)
      return runChange(toOrigin(request), async (change) => {
        const owner = await mount.findOwner(change.tx, request, purpose)
        return answer(200, toWire(movedSchema, await move(change, { ...owner, ...selection })))
      })
    },
  })
}

function eventIdOf({ params }: LogRequest): string {
  return params['event_id'] ?? ''
}
