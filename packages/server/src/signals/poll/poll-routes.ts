import { parsePollRequest, type PollRequest } from '@heliograph/ssf'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { authenticateApiKey } from '../../organisation/api-keys/authenticate-api-key.ts'
import { AppError, invalidBody } from '../../platform/app-error.ts'
import { readBearerToken } from '../../platform/http/bearer-token.ts'
import type { Credential } from '../../platform/http/operation.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import { STREAM_ACCESS } from '../streams/stream-access.ts'
import { recordActivity } from '../streams/stream-activity.ts'
import { takesPolls } from '../push/poll-fallback.ts'
import { getStream, hasStream, parseStreamReference, type Stream } from '../streams/stream-store.ts'
import {
  authenticatePollToken,
  readPollToken,
  type PollTokenDependencies,
} from './authenticate-poll-token.ts'
import {
  POLL_ACKNOWLEDGEMENTS_MAX,
  pollSets,
  toPollWaitMs,
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
    max_events: z.int().nullish().describe('Another name for `maxEvents`.'),
    returnImmediately: z
      .boolean()
      .nullish()
      .describe('`false` waits up to 25 seconds for a SET; otherwise the answer comes at once.'),
    timeoutSecs: z.number().nullish().describe('Wait no longer than this, in seconds.'),
  })
  .meta({ id: 'PollRequest', description: 'A poll. RFC 8936 section 2.2.' })

const pollResponseSchema = z
  .object({
    sets: z.record(z.string(), z.string()).describe('Signed SETs by their id.'),
    moreAvailable: z.boolean().optional().describe('There only when more SETs wait.'),
  })
  .meta({ id: 'PollResponse', description: 'The next SETs. RFC 8936 section 2.3.' })

/** Some clients name the stream in the query too; the path decides. */
const pollQuery = z.object({
  stream_id: z.string().max(64).optional().describe('Taken and not looked at.'),
})

/**
 * Poll delivery at the address of a stream: GET looks, POST acknowledges and looks. Takes the poll tokens
 * of the stream beside API keys.
 */
export function pollRoutes(dependencies: PollDependencies): ApiRoute[] {
  const nothing = { ack: [], setErrs: new Map() }
  const access = { ...STREAM_ACCESS, credentials: [pollCredential(dependencies)] }
  return [
    route({
      ...access,
      method: 'GET',
      path: '/ssf_streams/:id/events',
      summary: 'Show the events that wait',
      description:
        'Answers at once and acknowledges nothing. Empty while the stream is not enabled.',
      query: pollQuery,
      mayConflict: true,
      responses: { 200: pollResponseSchema },
      handler: async ({ params, isStillAllowed }) => {
        const stream = await getPolledStream(dependencies, params.id)
        // The event of the stop of a stream is for receivers that know it: they poll by POST.
        if (stream.status !== 'enabled') return { sets: {} }
        return pollSets(stream, { ...nothing, waitMs: 0, isStillAllowed }, dependencies)
      },
    }),
    route({
      ...access,
      method: 'POST',
      path: '/ssf_streams/:id/events',
      summary: 'Acknowledge events and get the next ones',
      query: pollQuery,
      body: pollBody,
      // What a receiver says of an event that it refuses never keeps it from the others.
      takesAnyText: true,
      example: { body: { ack: ['5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'] } },
      responses: { 200: pollResponseSchema },
      handler: async ({ address, params, body, disconnection, isStillAllowed }) => {
        const stream = await getPolledStream(dependencies, params.id)
        const poll = readPollRequest(body)
        // An answer comes at once unless a wait is asked for in so many words: clients of the REST API
        // acknowledge with `ack` alone and do not expect to wait. The time-out of a long poll is out of
        // band (RFC 8936 section 2.5), so that none at all conforms.
        const waitMs = toPollWaitMs(poll, { isLong: false })
        const signal = waitMs > 0 ? { signal: disconnection() } : {}
        const asked = { ...poll, waitMs, address, isStillAllowed, ...signal }
        return pollSets(stream, asked, dependencies)
      },
    }),
  ]
}

/**
 * A poll token, where one is sent. With the stream its tokens are gone: an API key beside such a token is asked then,
 * so that clients which send both are told that there is no such stream, and make it anew.
 */
function pollCredential(dependencies: PollTokenDependencies): Credential {
  return {
    kind: 'token',
    find: async ({ headers, params }) => {
      const token = readPollToken(headers)
      if (token === undefined) return undefined
      const { id = '' } = params
      try {
        return await authenticatePollToken(dependencies, token, id)
      } catch (error) {
        if (!isUnauthenticated(error)) throw error
        const isGone =
          (await holdsKey(dependencies, headers)) && !(await hasStream(dependencies.db, id))
        if (isGone) return undefined
        throw error
      }
    },
  }
}

/** Whether an API key is sent as well, whose holder may know which streams there are. */
async function holdsKey(
  { db, clock }: PollTokenDependencies,
  headers: IncomingHttpHeaders,
): Promise<boolean> {
  try {
    const { permissions } = await authenticateApiKey(db, clock, readBearerToken(headers))
    return permissions.has(STREAM_ACCESS.permission)
  } catch (error) {
    if (isUnauthenticated(error)) return false
    throw error
  }
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'unauthenticated'
}

function readPollRequest(body: unknown): PollRequest {
  const parsed = parsePollRequest(body, { acknowledgementsMax: POLL_ACKNOWLEDGEMENTS_MAX })
  if (parsed.ok) return parsed.value
  throw invalidBody(parsed.issues)
}

async function getPolledStream({ db, clock }: PollDependencies, id: string): Promise<Stream> {
  const stream = await getStream(db, parseStreamReference(id))
  if (!takesPolls(stream)) {
    throw new AppError('conflict', 'The events of this stream are pushed, not polled.')
  }
  // Streams of this surface are not paused for silence.
  await recordActivity(db, stream, clock.now(), { inactivityTimeoutSeconds: 0 })
  return stream
}
