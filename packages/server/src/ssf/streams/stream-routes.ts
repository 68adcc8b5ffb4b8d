import { z } from 'zod'
import { toOrigin } from '../../audit/to-origin.ts'
import { listRoute } from '../../platform/http/list-route.ts'
import { answer, noContent, route, type ApiRoute } from '../../platform/http/route.ts'
import { createStream } from './create-stream.ts'
import { deleteStream } from './delete-stream.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { createStreamBody, readStreamInput, updateStreamBody } from './stream-input.ts'
import { streamSchema, toStreamJson } from './stream-json.ts'
import { getStream, listStreams } from './stream-store.ts'
import { testStream, type TestStreamDependencies } from './test-stream.ts'
import { changeStream } from './update-stream.ts'

export type StreamRouteDependencies = StreamDependencies & TestStreamDependencies

/** What every request to a stream needs. */
export const STREAM_ACCESS = {
  tags: ['Shared Signals'],
  permission: 'Manage Shared Signals Framework Streams',
  feature: 'ssf',
} as const

const EMAIL_LENGTH_MAX = 254

const testBody = z.strictObject({
  email: z
    .email('Must be an email address')
    .max(EMAIL_LENGTH_MAX)
    .describe('Who tests; goes along in the event.'),
})

const testResultSchema = z
  .object({
    success: z.boolean(),
    response_code: z
      .string()
      .describe('The status that the receiver answered; "0" when it could not be reached.'),
    ssf_stream_event_id: z.int(),
    reason: z.string().nullable().describe('What went wrong, in words; null on success.'),
  })
  .meta({ id: 'StreamTest', description: 'What became of a test event.' })

/** The operations on streams. */
export function streamRoutes(dependencies: StreamRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies), testRoute(dependencies)]
}

function readRoutes({ db, baseUrl }: StreamRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      ...STREAM_ACCESS,
      path: '/ssf_streams',
      summary: 'List streams',
      item: streamSchema,
      fetch: ({ window }) => listStreams(db, window),
      toJson: (stream) => toStreamJson(stream, baseUrl),
    }),
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/:id',
      summary: 'Show a stream',
      description: 'By its `id` or its `stream_id`.',
      responses: { 200: streamSchema },
      handler: async ({ params }) => toStreamJson(await getStream(db, params.id), baseUrl),
    }),
  ]
}

function writeRoutes(dependencies: StreamRouteDependencies): ApiRoute[] {
  const { baseUrl, runChange, wake } = dependencies
  return [
    route({
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams',
      summary: 'Create a stream',
      description: 'Takes the standard members, or the same in an `ssf_stream` wrapper.',
      body: createStreamBody,
      responses: { 201: streamSchema },
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
          const location = `${baseUrl}/ssf_streams/${stream.stream_id}`
          return answer(201, toStreamJson(stream, baseUrl), { location })
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
          const stream = await changeStream(change, context.params.id, input, dependencies)
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
          await deleteStream(change, context.params.id, wake)
          return answer(204, undefined)
        }),
    }),
  ]
}

function testRoute(dependencies: StreamRouteDependencies): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_streams/:id/test',
    summary: 'Send a test event',
    description: 'Push streams get it at once; for poll streams it is queued.',
    body: testBody,
    responses: { 200: testResultSchema },
    handler: async (context) => {
      const { id } = context.params
      const result = await testStream(toOrigin(context), id, context.body.email, dependencies)
      return {
        success: result.isSuccess,
        response_code: String(result.statusCode),
        ssf_stream_event_id: Number(result.deliveryId),
        reason: result.reason,
      }
    },
  })
}
