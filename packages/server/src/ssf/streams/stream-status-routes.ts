import { z } from 'zod'
import type { Kysely } from 'kysely'
import type { RunChange } from '../../audit/change.ts'
import { toOrigin } from '../../audit/to-origin.ts'
import type { WakeDelivery } from '../../delivery/enqueue-deliveries.ts'
import type { Schema } from '../../platform/db/schema.ts'
import { answer, route, type ApiRoute } from '../../platform/http/route.ts'
import { setStreamStatus } from './set-stream-status.ts'
import { STREAM_ACCESS } from './stream-routes.ts'
import { getStream, type StreamRow } from './stream-store.ts'

export interface StreamStatusDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly wake: WakeDelivery
}

const REASON_LENGTH_MAX = 1_024

const statusSchema = z
  .object({
    stream_id: z.string(),
    status: z.enum(['enabled', 'paused', 'disabled']),
    reason: z.string().optional(),
  })
  .meta({ id: 'StreamStatus' })

const statusBody = z.strictObject({
  stream_id: z.string().min(1).max(64),
  status: z.enum(['enabled', 'paused', 'disabled']),
  reason: z
    .string()
    .max(REASON_LENGTH_MAX)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), 'No control characters')
    .nullish(),
})

/** The status of streams at the status endpoint of the discovery document. SSF 1.0 section 8.1.2. */
export function streamStatusRoutes({ db, runChange, wake }: StreamStatusDependencies): ApiRoute[] {
  return [
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/status',
      summary: 'Show the status of a stream',
      query: z.object({ stream_id: z.string().min(1).max(64) }),
      example: { query: { stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11' } },
      responses: { 200: statusSchema },
      handler: async ({ query }) => toStatusJson(await getStream(db, query.stream_id)),
    }),
    route({
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams/status',
      summary: 'Set the status of a stream',
      description: 'A paused stream holds its events; a disabled one gives them up.',
      body: statusBody,
      responses: { 200: statusSchema },
      example: {
        body: { stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11', status: 'paused' },
      },
      handler: (context) => {
        const { stream_id: streamId, status, reason = null } = context.body
        return runChange(toOrigin(context), async (change) =>
          answer(
            200,
            toStatusJson(await setStreamStatus(change, streamId, { status, reason }, wake)),
          ),
        )
      },
    }),
  ]
}

function toStatusJson(stream: StreamRow): z.input<typeof statusSchema> {
  return {
    stream_id: stream.stream_id,
    status: stream.status,
    ...(stream.status_reason === null ? {} : { reason: stream.status_reason }),
  }
}
