/*
 * What became of the events of a stream, for its receiver: extensions of SSF with the receiver's own
 * access token. A receiver sees what the service saw of it, sends again and gives up; streams of others
 * do not exist for it. Owns texts, scopes and pages; the operations are in delivery-log-endpoints.ts.
 */
import { parseWithSchema } from '@heliograph/ssf'
import { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import { toPage } from '../../platform/db/page.ts'
import { isId } from '../../platform/ids.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { deliverySchema, toDeliveryJson } from '../../signals/dispatch/delivery-json.ts'
import {
  deliveryLogEndpoints,
  type DeliveryLogDependencies,
  type DeliveryLogMount,
  type LogList,
  type LogOperation,
} from '../../signals/dispatch/delivery-log-endpoints.ts'
import { DELIVERY_LIST } from '../../signals/dispatch/delivery-read.ts'
import { toDeliveryOwner, toFindOptions } from '../../signals/streams/stream-owner.ts'
import {
  describeQuery,
  invalidBody,
  readBody,
  ssfOperation,
  type SsfOperation,
  type SsfRequest,
} from './ssf-operation.ts'
import type { StandardSurface } from './standard-surface.ts'

const PAGE_DEFAULT = 25
const PAGE_MAX = 100
const QUERY_LENGTH_MAX = 4_096

const listSchema = z
  .object({
    deliveries: z.array(deliverySchema),
    next_after: z.string().nullable().describe('Begin after it for the next page.'),
  })
  .meta({ id: 'DeliveryPage' })

const TEXTS: DeliveryLogMount<SsfRequest, SsfOperation>['texts'] = {
  list: {
    summary: 'List the deliveries of a stream',
    description: 'Oldest first. `state:dead` finds what could not be delivered.',
  },
  show: {
    summary: 'Show a delivery of a stream',
    description: 'With every attempt as the service saw it, and the claims that are sent.',
  },
  resend: {
    summary: 'Have a delivery sent again',
    description: 'Whatever became of it, with the same `jti`.',
  },
  redrive: {
    summary: 'Have dead deliveries sent again',
    description: 'Those of a time, or certain ones; without either, all.',
  },
  discard: {
    summary: 'Give up deliveries of a stream',
    description: 'Dead and queued ones up to a time, or certain ones.',
  },
}

/** The log of the deliveries of a receiver's own streams, and what it can do about them. */
export function deliveryEndpoints(
  surface: StandardSurface,
  dependencies: DeliveryLogDependencies,
): SsfOperation[] {
  return deliveryLogEndpoints<SsfRequest, SsfOperation>(
    {
      path: '/ssf/streams/:stream_id',
      texts: TEXTS,
      findOwner: async (db, request, purpose) =>
        toDeliveryOwner(await surface.findStream(db, request, toFindOptions(purpose)), purpose),
      findContent: undefined,
      declareList: listEndpoint,
      declare: endpoint,
    },
    dependencies,
  )
}

function endpoint({ handler, ...operation }: LogOperation<SsfRequest>): SsfOperation {
  const { method, body } = operation
  return ssfOperation({
    ...operation,
    scope: method === 'GET' ? 'ssf.read' : 'ssf.manage',
    handler: async (request) =>
      handler(request, body === undefined ? undefined : parseBody(body, request)),
  })
}

function listEndpoint({ open, ...list }: LogList<SsfRequest>): SsfOperation {
  return ssfOperation({
    ...list,
    method: 'GET',
    scope: 'ssf.read',
    query: describeQuery({
      query: 'A search, for example `state:dead`.',
      after: 'Begin after this delivery.',
      limit: `How many, ${PAGE_MAX} at most.`,
    }),
    responses: { 200: listSchema },
    handler: async (request) => {
      const readLog = await open(request)
      const { search, afterId, limit } = readPage(request.query)
      const rows = await readLog({ search, window: { afterId, limit: limit + 1 } })
      const page = toPage(rows, limit)
      const body: z.input<typeof listSchema> = {
        deliveries: page.rows.map(toDeliveryJson),
        next_after: page.hasMore ? (page.rows.at(-1)?.id ?? null) : null,
      }
      return { status: 200, body }
    },
  })
}

function parseBody(schema: z.ZodType, request: SsfRequest): unknown {
  const parsed = parseWithSchema(schema, readBody({ body: request.body ?? {}, query: {} }))
  if (parsed.ok) return parsed.value
  throw invalidBody(parsed.issues)
}

function readPage({ query = '', after, limit }: SsfRequest['query']) {
  if (typeof query !== 'string' || query.length > QUERY_LENGTH_MAX) {
    throw invalidParameter('query', `Must be one text of at most ${QUERY_LENGTH_MAX} characters.`)
  }
  if (after !== undefined && (typeof after !== 'string' || !isId(after))) {
    throw invalidParameter('after', 'Must be the id of a delivery.')
  }
  return {
    search: parseSearch(query, DELIVERY_LIST.fields),
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
  return new AppError('invalid_parameter', `A parameter is not valid. ${message}`, {
    details: [{ path, message }],
  })
}
