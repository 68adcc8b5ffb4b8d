/*
 * What became of the events of a stream, for its receiver: extensions of SSF with the receiver's own
 * access token. A receiver sees what the service saw of it, sends again and gives up; streams of others
 * do not exist for it.
 */
import { toOrigin } from '../../changes/to-origin.ts'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import {
  deliveryDetailsSchema,
  deliverySchema,
  toDeliveryJson,
} from '../../signals/dispatch/delivery-json.ts'
import {
  discardBody,
  movedSchema,
  redriveBody,
  toDiscardSelection,
  toMovedJson,
  toRedriveSelection,
} from '../../signals/dispatch/delivery-log-input.ts'
import {
  showDelivery,
  type DeliveryLogPurpose,
} from '../../signals/dispatch/delivery-log-routes.ts'
import {
  DELIVERY_SEARCH_FIELDS,
  getDeliveryOfEvent,
  listDeliveryLog,
} from '../../signals/dispatch/delivery-read.ts'
import type { WakeDelivery } from '../../signals/dispatch/enqueue-deliveries.ts'
import {
  discardDeliveries,
  redriveDeliveries,
  resendDelivery,
} from '../../signals/dispatch/redrive-deliveries.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Clock } from '../../platform/clock.ts'
import { toPage } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import { isId } from '../../platform/http/wire-values.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { toDeliveryOwner } from '../../signals/streams/stream-delivery-routes.ts'
import { getOwnStream } from './own-stream.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import {
  invalidBody,
  readBody,
  type SsfOperation,
  type SsfRequest,
  ssfOperation,
  describeQuery,
} from './strict-endpoint.ts'
import type { StrictSettings } from './strict-settings.ts'

export interface DeliveryEndpointDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
  readonly wake: WakeDelivery
  readonly settings: StrictSettings
}

const PATH = '/ssf/streams/:stream_id'
const PAGE_DEFAULT = 25
const PAGE_MAX = 100
const QUERY_LENGTH_MAX = 4_096

const listSchema = z
  .object({
    deliveries: z.array(deliverySchema),
    next_after: z.string().nullable().describe('Begin after it for the next page.'),
  })
  .meta({ id: 'DeliveryPage' })

/** The log of the deliveries of a receiver's own streams, and what it can do about them. */
export function deliveryEndpoints(dependencies: DeliveryEndpointDependencies): SsfOperation[] {
  return [
    listEndpoint(dependencies),
    showEndpoint(dependencies),
    resendEndpoint(dependencies),
    redriveEndpoint(dependencies),
    discardEndpoint(dependencies),
  ]
}

function listEndpoint(dependencies: DeliveryEndpointDependencies): SsfOperation {
  const { db } = dependencies
  return ssfOperation({
    method: 'GET',
    path: `${PATH}/deliveries`,
    scope: 'ssf.read',
    summary: 'List the deliveries of a stream',
    description: 'Oldest first. `state:dead` finds what could not be delivered.',
    query: describeQuery({
      query: 'A search, for example `state:dead`.',
      after: 'Begin after this delivery.',
      limit: `How many, ${PAGE_MAX} at most.`,
    }),
    responses: { 200: listSchema },
    handler: async (request) => {
      const { destinationId } = await findOwnDeliveries(db, request, 'show', dependencies)
      const { search, afterId, limit } = readPage(request.query)
      const window = { afterId, limit: limit + 1 }
      const rows = await listDeliveryLog(db, { destinationId, search, window })
      const page = toPage(rows, limit)
      const body: z.input<typeof listSchema> = {
        deliveries: page.rows.map(toDeliveryJson),
        next_after: page.hasMore ? (page.rows.at(-1)?.id ?? null) : null,
      }
      return { status: 200, body }
    },
  })
}

function showEndpoint(dependencies: DeliveryEndpointDependencies): SsfOperation {
  const { db } = dependencies
  return ssfOperation({
    method: 'GET',
    path: `${PATH}/deliveries/:event_id`,
    scope: 'ssf.read',
    summary: 'Show a delivery of a stream',
    description: 'With every attempt as the service saw it, and the claims that are sent.',
    responses: { 200: deliveryDetailsSchema },
    handler: async (request) => {
      const { destinationId } = await findOwnDeliveries(db, request, 'show', dependencies)
      const delivery = await getDeliveryOfEvent(db, destinationId, eventIdOf(request))
      return { status: 200, body: await showDelivery(db, delivery) }
    },
  })
}

function resendEndpoint(dependencies: DeliveryEndpointDependencies): SsfOperation {
  const { runChange, wake } = dependencies
  return ssfOperation({
    method: 'POST',
    path: `${PATH}/deliveries/:event_id/resend`,
    scope: 'ssf.manage',
    summary: 'Have a delivery sent again',
    description: 'Whatever became of it, with the same `jti`.',
    responses: { 200: deliverySchema },
    handler: (request) =>
      runChange(toOrigin(request), async (change) => {
        const owner = await findOwnDeliveries(change.tx, request, 'send', dependencies)
        const row = await resendDelivery(change, owner, eventIdOf(request), wake)
        return { status: 200, body: toDeliveryJson(row) }
      }),
  })
}

function redriveEndpoint(dependencies: DeliveryEndpointDependencies): SsfOperation {
  const { runChange, wake } = dependencies
  return ssfOperation({
    method: 'POST',
    path: `${PATH}/redrive`,
    scope: 'ssf.manage',
    summary: 'Have dead deliveries sent again',
    description: 'Those of a time, or certain ones; without either, all.',
    body: redriveBody,
    example: { body: { since: '2026-01-02T03:04:05Z' } },
    responses: { 200: movedSchema },
    handler: async (request) => {
      const narrowing = toRedriveSelection(parseBody(redriveBody, request))
      return runChange(toOrigin(request), async (change) => {
        const owner = await findOwnDeliveries(change.tx, request, 'send', dependencies)
        const moved = await redriveDeliveries(change, { ...owner, ...narrowing }, wake)
        return { status: 200, body: toMovedJson(moved) }
      })
    },
  })
}

function discardEndpoint(dependencies: DeliveryEndpointDependencies): SsfOperation {
  const { runChange, wake } = dependencies
  return ssfOperation({
    method: 'POST',
    path: `${PATH}/discard`,
    scope: 'ssf.manage',
    summary: 'Give up deliveries of a stream',
    description: 'Dead and queued ones up to a time, or certain ones.',
    body: discardBody,
    example: { body: { until: '2026-01-02T03:04:05Z', states: ['dead'] } },
    responses: { 200: movedSchema },
    handler: async (request) => {
      const narrowing = toDiscardSelection(parseBody(discardBody, request))
      return runChange(toOrigin(request), async (change) => {
        const owner = await findOwnDeliveries(change.tx, request, 'discard', dependencies)
        const moved = await discardDeliveries(change, { ...owner, ...narrowing }, wake)
        return { status: 200, body: toMovedJson(moved) }
      })
    },
  })
}

async function findOwnDeliveries(
  db: Kysely<Schema>,
  { principal, params }: SsfRequest,
  purpose: DeliveryLogPurpose,
  { clock, settings }: DeliveryEndpointDependencies,
) {
  const stream = await getOwnStream(db, principal, params['stream_id'] ?? '')
  await recordActivity(db, stream, clock.now(), settings)
  return toDeliveryOwner(stream, purpose)
}

function eventIdOf({ params }: SsfRequest): string {
  return params['event_id'] ?? ''
}

function parseBody<Body extends z.ZodType>(schema: Body, request: SsfRequest): z.output<Body> {
  const parsed = schema.safeParse(readBody({ body: request.body ?? {}, query: {} }))
  if (parsed.success) return parsed.data
  throw invalidBody(
    parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  )
}

function readPage({ query = '', after, limit }: SsfRequest['query']) {
  if (typeof query !== 'string' || query.length > QUERY_LENGTH_MAX) {
    throw invalidParameter('query', `Must be one text of at most ${QUERY_LENGTH_MAX} characters.`)
  }
  if (after !== undefined && (typeof after !== 'string' || !isId(after))) {
    throw invalidParameter('after', 'Must be the id of a delivery.')
  }
  return {
    search: parseSearch(query, DELIVERY_SEARCH_FIELDS),
    afterId: after,
    limit: readLimit(limit),
  }
}

function readLimit(limit: unknown): number {
  if (limit === undefined) return PAGE_DEFAULT
  const count = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (count >= 1 && count <= PAGE_MAX) return count
  throw invalidParameter('limit', `Must be a whole number from 1 to ${PAGE_MAX}.`)
}

function invalidParameter(path: string, message: string): AppError {
  return new AppError('malformed', 'invalid_parameter', `A parameter is not valid. ${message}`, {
    details: [{ path, message }],
  })
}
