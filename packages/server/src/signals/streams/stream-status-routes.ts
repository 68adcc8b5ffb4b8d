import { z } from 'zod'
import type { Kysely } from 'kysely'
import { answer, route, type ApiRoute } from '../../schema/operations.ts'
import type { RunChange } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Schema } from '../../schema/schema.ts'
import { setStreamStatus } from './set-stream-status.ts'
import { refuseIf } from './refuse-if.ts'
import { STREAM_ACCESS, STREAM_IDENTIFIER_LENGTH_MAX } from './stream-access.ts'
import { getStream, parseStreamReference, type Stream } from './stream-store.ts'

export interface StreamStatusDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
}

const REASON_LENGTH_MAX = 1_024

const statusSchema = z
  .object({
    stream_id: z.string(),
    status: z.enum(['enabled', 'paused', 'disabled']),
    reason: z.string().optional(),
  })
  .meta({ id: 'StreamStatus' })

const streamIdSchema = z.string().min(1).max(STREAM_IDENTIFIER_LENGTH_MAX)

const statusBody = z.strictObject({
  stream_id: streamIdSchema.optional(),
  status: z.enum(['enabled', 'paused', 'disabled']),
  reason: z
    .string()
    .max(REASON_LENGTH_MAX)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), 'No control characters')
    .nullish(),
})

/** The status of streams at the status endpoint of the discovery document. SSF 1.0 section 8.1.2. */
export function streamStatusRoutes({ db, runChange }: StreamStatusDependencies): ApiRoute[] {
  return [
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/status',
      summary: 'Show the status of a stream',
      query: z.object({ stream_id: streamIdSchema }),
      example: { query: { stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11' } },
      responses: { 200: statusSchema },
      handler: async ({ query }) =>
        toStatusJson(await getStream(db, parseStreamReference(query.stream_id))),
    }),
    route({
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams/status',
      summary: 'Set the status of a stream',
      description: 'A paused stream holds its events; a disabled one gives them up.',
      query: z.object({
        stream_id: streamIdSchema.optional().describe('Where the body does not name the stream.'),
      }),
      body: statusBody,
      responses: { 200: statusSchema },
      example: {
        body: { stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11', status: 'paused' },
      },
      handler: (context) => {
        const { status, reason = null } = context.body
        const streamId = context.body.stream_id ?? context.query.stream_id ?? ''
        refuseIf(
          streamId === '' ? [{ path: 'stream_id', message: 'This is required: a string.' }] : [],
        )
        return runChange(toOrigin(context), async (change) =>
          answer(
            200,
            toStatusJson(
              await setStreamStatus(change, parseStreamReference(streamId), { status, reason }),
            ),
          ),
        )
      },
    }),
  ]
}

function toStatusJson(stream: Stream): z.input<typeof statusSchema> {
  return {
    stream_id: stream.streamId,
    status: stream.status,
    ...(stream.statusReason === null ? {} : { reason: stream.statusReason }),
  }
}
