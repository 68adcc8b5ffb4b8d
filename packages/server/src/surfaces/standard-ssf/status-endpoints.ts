import { toOrigin } from '../../changes/to-origin.ts'
import { parseStreamStatusMessage, STREAM_STATUSES } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { setStreamStatus } from '../../signals/streams/set-stream-status.ts'
import type { Stream } from '../../signals/streams/stream-store.ts'
import { getOwnStream } from './own-stream.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import {
  invalidBody,
  readBody,
  requireStreamId,
  type SsfOperation,
  ssfOperation,
  streamIdQuery,
} from './ssf-operation.ts'
import type { SsfSettings } from '../../signals/streams/ssf-settings.ts'

export interface StatusEndpointDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
  readonly settings: SsfSettings
}

const statusSchema = z.object({
  stream_id: z.string(),
  status: z.enum(STREAM_STATUSES),
  reason: z.string().optional(),
})

/** The operations of the status endpoint. SSF 1.0 section 8.1.2. */
export function statusEndpoints(dependencies: StatusEndpointDependencies): SsfOperation[] {
  const { db, clock, runChange, settings } = dependencies
  return [
    ssfOperation({
      method: 'GET',
      path: '/ssf/status',
      scope: 'ssf.read',
      summary: 'Show the status of a stream',
      query: streamIdQuery,
      responses: { 200: statusSchema },
      handler: async ({ principal, query }) => {
        const stream = await getOwnStream(db, principal, requireStreamId(query))
        await recordActivity(db, stream, clock.now(), settings)
        return { status: 200, body: toStatusJson(stream) }
      },
    }),
    ssfOperation({
      method: 'POST',
      path: '/ssf/status',
      scope: 'ssf.manage',
      summary: 'Set the status of a stream',
      description:
        'A paused stream holds its events; a disabled one gives them up and gets no others.',
      body: statusSchema,
      example: { body: { stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11', status: 'paused' } },
      responses: { 200: statusSchema },
      handler: async (request) => {
        const parsed = parseStreamStatusMessage(readBody(request))
        if (!parsed.ok) throw invalidBody(parsed.issues)
        const { stream_id: streamId, status, reason = null } = parsed.value
        const stream = await runChange(toOrigin(request), async (change) => {
          const own = await getOwnStream(change.tx, request.principal, streamId, { isLocked: true })
          const wish = { status, reason, initiator: 'receiver' } as const
          const after = await setStreamStatus(change, own, wish)
          await recordActivity(change.tx, after, change.at, settings)
          return after
        })
        return { status: 200, body: toStatusJson(stream) }
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
