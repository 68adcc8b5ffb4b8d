import { parsePollRequest, type PollRequest } from '@heliograph/ssf'
import { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { route, type ApiRoute } from '../../platform/http/route.ts'
import { STREAM_ACCESS } from '../streams/stream-routes.ts'
import { getStream, type StreamRow } from '../streams/stream-store.ts'
import {
  POLL_ACKNOWLEDGEMENTS_MAX,
  POLL_WAIT_MAX_MS,
  pollSets,
  type PollDependencies,
} from './poll-sets.ts'

const pollBody = z
  .looseObject({
    ack: z.array(z.string()).nullish().describe('Ids of SETs that have been received.'),
    setErrs: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Ids of SETs that were refused, with `err` and `description`.'),
    maxEvents: z.int().nullish().describe('At most this many SETs; 0 acknowledges only.'),
    returnImmediately: z
      .boolean()
      .nullish()
      .describe('`false` waits up to 25 seconds for a SET; otherwise the answer comes at once.'),
  })
  .meta({ id: 'PollRequest', description: 'A poll. RFC 8936 section 2.2.' })

const pollResponseSchema = z
  .object({
    sets: z.record(z.string(), z.string()).describe('Signed SETs by their id.'),
    moreAvailable: z.boolean().optional().describe('There only when more SETs wait.'),
  })
  .meta({ id: 'PollResponse', description: 'The next SETs. RFC 8936 section 2.3.' })

/** Poll delivery at the address of a stream: GET looks, POST acknowledges and looks. */
export function pollRoutes(dependencies: PollDependencies): ApiRoute[] {
  const nothing = { ack: [], setErrs: new Map() }
  return [
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/:id/events',
      summary: 'Show the events that wait',
      description: 'Answers at once and acknowledges nothing.',
      mayConflict: true,
      responses: { 200: pollResponseSchema },
      handler: async ({ params }) => {
        const stream = await getPolledStream(dependencies, params.id)
        return pollSets(stream, { ...nothing, waitMs: 0 }, dependencies)
      },
    }),
    route({
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams/:id/events',
      summary: 'Acknowledge events and get the next ones',
      body: pollBody,
      example: { body: { ack: ['5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'] } },
      responses: { 200: pollResponseSchema },
      handler: async ({ params, body }) => {
        const stream = await getPolledStream(dependencies, params.id)
        const poll = readPollRequest(body)
        return pollSets(stream, { ...poll, waitMs: toWaitMs(poll) }, dependencies)
      },
    }),
  ]
}

/**
 * An answer comes at once unless a wait is asked for in so many words: clients of the REST API
 * acknowledge with `ack` alone and do not expect to wait. The time-out of a long poll is out of band
 * (RFC 8936 section 2.5), so that none at all conforms.
 */
function toWaitMs({ returnImmediately, timeoutSecs }: PollRequest): number {
  if (returnImmediately !== false) return 0
  if (timeoutSecs === undefined) return POLL_WAIT_MAX_MS
  return Math.min(timeoutSecs * SECOND_MS, POLL_WAIT_MAX_MS)
}

function readPollRequest(body: unknown): PollRequest {
  const parsed = parsePollRequest(body, { acknowledgementsMax: POLL_ACKNOWLEDGEMENTS_MAX })
  if (parsed.ok) return parsed.value
  const details = parsed.issues.map(({ path, message }) => ({ path, message: `${message}.` }))
  const summary = details.map(({ path, message }) => `${path}: ${message}`).join(' ')
  throw new AppError('invalid', 'invalid_body', `The body is not valid. ${summary}`, { details })
}

async function getPolledStream({ db }: PollDependencies, id: string): Promise<StreamRow> {
  const stream = await getStream(db, id)
  if (stream.delivery_method === 'poll') return stream
  throw new AppError('conflict', 'conflict', 'The events of this stream are pushed, not polled.')
}
