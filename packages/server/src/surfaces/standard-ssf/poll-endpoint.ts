import { parsePollRequest } from '@heliograph/ssf'
import { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import { POLL_ACKNOWLEDGEMENTS_MAX, pollSets, toPollWaitMs } from '../../signals/poll/poll-sets.ts'
import { takesPolls } from '../../signals/push/poll-fallback.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import { invalidBody, readBody, type SsfOperation, ssfOperation } from './ssf-operation.ts'
import { getOwnStream, pollTokenCredential } from './ssf-caller.ts'
import type { StreamContext } from '../../signals/streams/stream-context.ts'

const pollBody = z.looseObject({
  ack: z.array(z.string()).optional().describe('Ids of SETs that have been received.'),
  setErrs: z
    .record(z.string(), z.looseObject({ err: z.string(), description: z.string().optional() }))
    .optional()
    .describe('Ids of SETs that were refused, and why.'),
  maxEvents: z.int().optional().describe('At most this many SETs; 0 acknowledges only.'),
  returnImmediately: z
    .boolean()
    .optional()
    .describe('Without it, the answer waits up to 25 seconds for a SET.'),
})

const pollResponseSchema = z.object({
  sets: z.record(z.string(), z.string()).describe('Signed SETs by their id.'),
  moreAvailable: z.boolean().optional().describe('There only when more SETs wait.'),
})

/** Poll delivery, waiting unless told otherwise. RFC 8936 section 2. */
export function pollEndpoint(context: StreamContext): SsfOperation {
  const { db, clock, settings } = context
  return ssfOperation({
    method: 'POST',
    path: '/ssf/poll/:stream_id',
    scope: 'ssf.read',
    credentials: [pollTokenCredential(context)],
    summary: 'Acknowledge events and get the next ones',
    body: pollBody,
    example: { body: { ack: ['5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'], returnImmediately: true } },
    responses: { 200: pollResponseSchema },
    handler: async (request) => {
      const { principal, params, address, disconnection, isStillAllowed } = request
      const stream = await getOwnStream(db, principal, params['stream_id'] ?? '')
      const body = readBody({ body: request.body ?? {}, query: {} }, ['ack', 'setErrs'])
      const parsed = parsePollRequest(body, { acknowledgementsMax: POLL_ACKNOWLEDGEMENTS_MAX })
      if (!parsed.ok) throw invalidBody(parsed.issues)
      if (!takesPolls(stream)) {
        throw new AppError('conflict', 'The events of this stream are pushed.')
      }
      await recordActivity(db, stream, clock.now(), settings)
      const waitMs = toPollWaitMs(parsed.value, { isLong: true })
      const signal = disconnection()
      const poll = { ...parsed.value, waitMs, address, signal, isStillAllowed }
      return { status: 200, body: await pollSets(stream, poll, context) }
    },
  })
}
