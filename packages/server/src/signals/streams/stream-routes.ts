import { z } from 'zod'
import { answer, listRoute, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import type { Change } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { issuePollToken } from '../poll/rotate-poll-token.ts'
import { createStream } from './create-stream.ts'
import { deleteStream } from './delete-stream.ts'
import { orOneStream, streamCollectionRoutes } from './stream-collection-routes.ts'
import { STREAM_ACCESS } from './stream-access.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { createStreamBody, readStreamInput, updateStreamBody } from './stream-input.ts'
import { streamSchema, toStreamJson } from './stream-json.ts'
import { getStream, listStreams, parseStreamReference, type Stream } from './stream-store.ts'
import { streamTestRoutes, type StreamTestRouteDependencies } from './stream-test-routes.ts'
import { changeStream } from './update-stream.ts'

export { STREAM_ACCESS } from './stream-access.ts'

export type StreamRouteDependencies = StreamDependencies & StreamTestRouteDependencies

const createdStreamSchema = streamSchema
  .extend({
    poll_bearer_token: z
      .string()
      .optional()
      .describe('Poll streams only: fetches their events. Shown in this answer and never again.'),
  })
  .meta({ id: 'CreatedStream', description: 'A stream that has just been created.' })

/** The operations on streams. */
export function streamRoutes(dependencies: StreamRouteDependencies): ApiRoute[] {
  return [
    ...readRoutes(dependencies),
    ...writeRoutes(dependencies),
    ...streamCollectionRoutes(dependencies),
    ...streamTestRoutes(dependencies),
  ]
}

function readRoutes({ db, baseUrl }: StreamRouteDependencies): ApiRoute[] {
  const list = listRoute({
    ...STREAM_ACCESS,
    path: '/ssf_streams',
    summary: 'List streams',
    description:
      'With `stream_id` the answer is that one stream, as SSF 1.0 section 8.1.1.2 has it.',
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

function writeRoutes(dependencies: StreamRouteDependencies): ApiRoute[] {
  const { baseUrl, runChange } = dependencies
  return [
    route({
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams',
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
      handler: (context) => {
        const input = readStreamInput(context.body)
        return runChange(toOrigin(context), async (change) => {
          const stream = await createStream(change, input, dependencies)
          const location = `${baseUrl}/ssf_streams/${stream.streamId}`
          const token = await issueFirstPollToken(change, stream)
          return answer(201, { ...toStreamJson(stream, baseUrl), ...token }, { location })
        })
      },
    }),
    route({
      ...STREAM_ACCESS,
      method: 'PATCH',
      path: '/ssf_streams/:id',
      summary: 'Change a stream',
      description: 'Members that are left out stay as they are.',
      body: updateStreamBody,
      responses: { 200: streamSchema },
      example: { body: { name: 'Gateway of the office' } },
      handler: (context) => {
        const input = readStreamInput(context.body)
        return runChange(toOrigin(context), async (change) => {
          const stream = await changeStream(
            change,
            parseStreamReference(context.params.id),
            input,
            dependencies,
          )
          return answer(200, toStreamJson(stream, baseUrl))
        })
      },
    }),
    route({
      ...STREAM_ACCESS,
      method: 'DELETE',
      path: '/ssf_streams/:id',
      summary: 'Delete a stream',
      description: 'What is queued for it goes with it.',
      responses: { 204: noContent },
      handler: (context) =>
        runChange(toOrigin(context), async (change) => {
          await deleteStream(change, parseStreamReference(context.params.id))
          return answer(204, undefined)
        }),
    }),
  ]
}

/** Receivers that poll have no other credential of their own. */
async function issueFirstPollToken(change: Change, stream: Stream) {
  if (stream.deliveryMethod !== 'poll') return {}
  const how = { mode: 'creation', previousValidUntil: null } as const
  return { poll_bearer_token: await issuePollToken(change, stream, how) }
}
