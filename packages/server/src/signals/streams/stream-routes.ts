/*
 * Streams in the REST API. Owns how they are listed, created and changed by an admin or an integration, and
 * the order of their operations; those that every surface has are in stream-endpoints.ts.
 */
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { answer, listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { explainRoutes } from '../diagnosis/explain/explain-routes.ts'
import { backfillRoute } from '../history/backfill-routes.ts'
import { issuePollToken } from '../poll/rotate-poll-token.ts'
import { subjectRoutes } from '../subjects/subject-routes.ts'
import { createStream } from './create-stream.ts'
import { createRootSurface, streamIdQuery } from './root-surface.ts'
import { STREAM_ACCESS } from './stream-access.ts'
import type { StreamContext } from './stream-context.ts'
import { streamDeliveryRoutes } from './stream-delivery-routes.ts'
import { createStreamBody, readStreamInput, updateStreamBody } from './stream-input.ts'
import { streamSchema, toStreamJson } from './stream-json.ts'
import { deleteAction, streamOperations } from './stream-endpoints.ts'
import { getStream, listStreams, parseStreamReference, type Stream } from './stream-store.ts'
import { testRoute } from './stream-test-routes.ts'
import type { TestStreamDependencies } from './test-stream.ts'
import { changeStream } from './update-stream.ts'

export type StreamRouteDependencies = StreamContext & TestStreamDependencies

const createdStreamSchema = streamSchema
  .extend({
    poll_bearer_token: z
      .string()
      .optional()
      .describe('Poll streams only: fetches their events. Shown in this answer and never again.'),
  })
  .meta({ id: 'CreatedStream', description: 'A stream that has just been created.' })

/** Everything that can be done with streams, in the order of the reference. */
export function streamRoutes(dependencies: StreamRouteDependencies): ApiRoute[] {
  const surface = createRootSurface(dependencies.baseUrl)
  const operations = streamOperations(surface, dependencies)
  return [
    operations.showHealth,
    operations.selfTest,
    operations.showSelfTest,
    ...explainRoutes(dependencies),
    operations.showStatus,
    operations.setStatus,
    operations.showState,
    operations.replay,
    backfillRoute(dependencies),
    ...subjectRoutes(dependencies),
    ...streamDeliveryRoutes(dependencies),
    ...readRoutes(dependencies),
    ...writeRoutes(dependencies),
    surface.declare({
      ...deleteAction(surface, dependencies),
      use: 'delete',
      path: '/ssf_streams/:id',
      stepUp: true,
      summary: 'Delete a stream',
      description: 'What is queued for it goes with it.',
    }),
    operations.update,
    operations.replace,
    operations.delete,
    testRoute(surface, dependencies),
    operations.verify,
  ]
}

function readRoutes({ db, baseUrl }: Pick<StreamRouteDependencies, 'db' | 'baseUrl'>): ApiRoute[] {
  const list = listRoute({
    ...STREAM_ACCESS,
    path: '/ssf_streams',
    summary: 'List streams',
    description:
      'With `stream_id` the answer is that one stream, as SSF 1.0 section 8.1.1.2 has it.',
    // Where it is given, the other of the two answers.
    filters: streamIdQuery.partial(),
    item: streamSchema,
    fetch: ({ window }) => listStreams(db, window),
    toJson: (stream) => toStreamJson(stream, baseUrl),
  })
  return [
    orOneStream(list, { db, baseUrl }),
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/:id',
      summary: 'Show a stream',
      description: 'By its `id` or its `stream_id`.',
      responses: { 200: streamSchema },
      handler: async ({ params }) =>
        toStreamJson(await getStream(db, parseStreamReference(params.id)), baseUrl),
    }),
  ]
}

/** Lets a list answer the one stream that `stream_id` names in its query. */
function orOneStream(
  list: ApiRoute,
  { db, baseUrl }: { readonly db: Kysely<Schema>; readonly baseUrl: string },
): ApiRoute {
  const one = route({
    ...STREAM_ACCESS,
    method: 'GET',
    path: '/ssf_streams',
    summary: list.summary,
    query: streamIdQuery,
    responses: { 200: streamSchema },
    handler: async ({ query }) =>
      toStreamJson(await getStream(db, parseStreamReference(query.stream_id)), baseUrl),
  })
  return {
    ...list,
    responses: { 200: z.union([list.responses[200] ?? z.never(), streamSchema]) },
    run: (request) => (request.query['stream_id'] === undefined ? list : one).run(request),
  }
}

function writeRoutes(dependencies: StreamRouteDependencies): ApiRoute[] {
  const { baseUrl, runChange } = dependencies
  return [
    changeRoute(runChange, {
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams',
      stepUp: true,
      summary: 'Create a stream',
      description: 'Takes the standard members, or the same in an `ssf_stream` wrapper.',
      body: createStreamBody,
      responses: { 201: createdStreamSchema },
      example: {
        body: {
          name: 'Gateway',
          delivery: {
            method: 'urn:ietf:rfc:8935',
            endpoint_url: 'https://receiver.example.com/events',
          },
        },
      },
      handler: async ({ change, body }) => {
        const input = readStreamInput(body)
        const stream = await createStream(change, input, dependencies)
        const location = `${baseUrl}/ssf_streams/${stream.streamId}`
        const token = await issueFirstPollToken(change, stream)
        return answer(201, { ...toStreamJson(stream, baseUrl), ...token }, { location })
      },
    }),
    changeRoute(runChange, {
      ...STREAM_ACCESS,
      method: 'PATCH',
      path: '/ssf_streams/:id',
      stepUp: true,
      summary: 'Change a stream',
      description: 'Members that are left out stay as they are.',
      body: updateStreamBody,
      responses: { 200: streamSchema },
      example: { body: { name: 'Gateway of the office' } },
      handler: async ({ change, params, body }) => {
        const input = readStreamInput(body)
        const reference = parseStreamReference(params.id)
        return toStreamJson(await changeStream(change, reference, input, dependencies), baseUrl)
      },
    }),
  ]
}

/** Receivers that poll have no other credential of their own. */
async function issueFirstPollToken(change: Change, stream: Stream) {
  if (stream.deliveryMethod !== 'poll') return {}
  const how = { mode: 'creation', previousValidUntil: null } as const
  return { poll_bearer_token: await issuePollToken(change, stream, how) }
}
