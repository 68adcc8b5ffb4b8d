/*
 * Streams on the standard surface: where SSF 1.0 section 8.1 and its extensions have the operations on one
 * stream, and what their documents say. A client sees its own streams only; streams of others do not exist.
 */
import {
  DELIVERY_METHODS,
  parseWithSchema,
  streamExtensionMembersSchema,
  VERIFICATION_STATE_LENGTH_MAX,
  type StreamExtensionMembers,
} from '@heliograph/ssf'
import { z } from 'zod'
import { noContent } from '../../platform/http/operation.ts'
import { SELF_TEST_DESCRIPTION } from '../../signals/diagnosis/self-test/self-test-json.ts'
import { replayBody } from '../../signals/history/history-json.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import { streamStatusSchema } from '../../signals/streams/stream-json.ts'
import type { StreamContext } from '../../signals/streams/stream-context.ts'
import type { StreamPlace, StreamSurface, StreamUse } from '../../signals/streams/stream-surface.ts'
import { toSurfaceUrls } from '../../signals/streams/surface-urls.ts'
import { getOwnStream } from './ssf-caller.ts'
import {
  describeQuery,
  invalidBody,
  membersOf,
  readBody,
  requireStreamId,
  ssfOperation,
  streamIdQuery,
  type SsfOperation,
  type SsfRequest,
} from './ssf-operation.ts'
import {
  streamConfigurationSchema,
  toStreamConfiguration,
  toTransmitterMembers,
} from './stream-configuration.ts'

/** The standard surface. */
export type StandardSurface = StreamSurface<SsfRequest, SsfOperation>

const PATH = '/ssf/streams'
const EXAMPLE_ID = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'

/** The members of a configuration that a receiver may send. */
export const receiverMembers = {
  events_requested: z
    .array(z.string())
    .nullish()
    .describe('Unknown types are kept and not delivered.'),
  delivery: z
    .looseObject({
      method: z.enum(DELIVERY_METHODS),
      endpoint_url: z.string().nullish().describe('Push only: where events are delivered.'),
      authorization_header: z
        .string()
        .nullish()
        .describe('Push only: the Authorization header of every push. Never answered.'),
    })
    .optional()
    .describe('Poll when left out.'),
  description: z.string().nullish(),
  heliograph_sequence: z
    .boolean()
    .optional()
    .describe('An extension: events carry their number in the stream.'),
} as const

const verificationBody = z
  .looseObject({
    stream_id: z.string(),
    state: z
      .string()
      .max(VERIFICATION_STATE_LENGTH_MAX)
      .nullish()
      .describe('Comes back in the event exactly as it is here.'),
  })
  .meta({ id: 'VerificationRequest' })

/** Without a name, as the document has it. */
const statusSchema = z.object(streamStatusSchema.shape)

const CHANGE = {
  path: PATH,
  body: z.looseObject({
    stream_id: z.string(),
    ...receiverMembers,
    description: receiverMembers.description.describe('Null removes it.'),
  }),
  example: { body: { stream_id: EXAMPLE_ID, description: 'Gateway of the office' } },
} as const

const PLACES: Readonly<Record<StreamUse, StreamPlace>> = {
  update: {
    ...CHANGE,
    summary: 'Change a stream',
    description: 'Members that are left out stay as they are.',
  },
  replace: {
    ...CHANGE,
    summary: 'Replace a stream',
    description:
      'Members of the receiver that are left out are deleted; without `delivery` the stream polls.',
  },
  delete: {
    path: PATH,
    summary: 'Delete a stream',
    description: 'What is queued for it goes with it.',
    query: streamIdQuery,
  },
  showStatus: {
    path: '/ssf/status',
    summary: 'Show the status of a stream',
    query: streamIdQuery,
    responses: { 200: statusSchema },
  },
  setStatus: {
    path: '/ssf/status',
    summary: 'Set the status of a stream',
    description:
      'A paused stream holds its events; a disabled one gives them up and gets no others.',
    body: statusSchema,
    responses: { 200: statusSchema },
    example: { body: { stream_id: EXAMPLE_ID, status: 'paused' } },
  },
  verify: {
    path: '/ssf/verify',
    summary: 'Ask for a verification event',
    description:
      'The event is delivered like every other: a paused stream holds it, a disabled one drops it.',
    body: verificationBody,
    example: { body: { stream_id: EXAMPLE_ID, state: 'VGhpcyBpcyBhIHRlc3Q' } },
    responses: { 204: noContent },
  },
  showHealth: {
    path: '/ssf/health',
    summary: 'Show how a stream is doing',
    description: 'An extension: the queue, delivery times, the last failure, and key proofs.',
    query: streamIdQuery,
  },
  selfTest: {
    path: '/ssf/self_test',
    summary: 'Test the receiver of a stream',
    description: `An extension. ${SELF_TEST_DESCRIPTION}`,
    query: streamIdQuery,
  },
  showSelfTest: {
    path: '/ssf/self_test',
    summary: 'Show the last test of the receiver of a stream',
    description: 'An extension.',
    query: streamIdQuery,
  },
  showState: {
    path: `${PATH}/:stream_id/state`,
    summary: 'Show how the subjects of a stream are now',
    description: '`as_of_sequence` is the last event that is taken into account.',
    query: describeQuery({ cursor: 'Continues the state; `next_cursor` of the page before.' }),
  },
  replay: {
    path: `${PATH}/:stream_id/replay`,
    summary: 'Have the events of a stream sent again',
    description: 'With the same `jti` and number, from a place on, as long as they are kept.',
    body: replayBody,
    example: { body: { from_sequence: 17 } },
  },
}

/** Members that come back as they were sent, whatever they contain. */
const VERBATIM: Partial<Record<StreamUse, readonly string[]>> = { verify: ['state'] }

/** The standard surface, for the clients of this service. */
export function createStandardSurface(context: StreamContext): StandardSurface {
  const { clock, settings } = context
  return {
    places: PLACES,
    initiator: 'receiver',
    minVerificationIntervalSeconds: settings.minVerificationIntervalSeconds,
    streamSchema: streamConfigurationSchema,
    toStreamJson: (stream) => toStreamConfiguration(stream, context),
    // 204; 200 for streams whose receiver takes no other success.
    toSuccess: ({ usesLegacyStatusCodes }) => ({ status: usesLegacyStatusCodes ? 200 : 204 }),
    findStream: async (db, request, { isLocked = false, isSignOfLife = true } = {}) => {
      const stream = await getOwnStream(db, request.principal, nameOf(request), { isLocked })
      if (isSignOfLife) await recordActivity(db, stream, clock.now(), settings)
      return stream
    },
    toConfigurationRules: (before) => ({
      transmitterMembers: toTransmitterMembers(before, context),
      eventsShown: before.eventsRequested,
      eventsWhenReplaced: [],
      ownPollEndpoint: toSurfaceUrls(context.baseUrl).pollEndpoint(before.streamId),
      ...OWN_POLL_ENDPOINT,
    }),
    readExtensions: ({ body }, method) => {
      // A replacement deletes what is left out.
      const preset = method === 'PUT' ? { heliograph_sequence: false } : {}
      const { heliograph_sequence: isNumbered } = { ...preset, ...readExtensions(body) }
      return { choices: { isNumbered } }
    },
    refuse: invalidBody,
    declare: ({ use, handler, ...operation }) =>
      ssfOperation({
        ...operation,
        scope: operation.method === 'GET' ? 'ssf.read' : 'ssf.manage',
        handler: async (request) => {
          const isRead = operation.body !== undefined
          return handler({
            ...request,
            body: isRead ? readBody(request, VERBATIM[use]) : undefined,
          })
        },
      }),
  }
}

/** The address of a poll is the transmitter's: none is taken from the receiver. */
export const OWN_POLL_ENDPOINT = { toPollEndpoint: () => null } as const

/**
 * The members that the standard does not have.
 *
 * @throws AppError `invalid_body`
 */
export function readExtensions(body: unknown): StreamExtensionMembers {
  const parsed = parseWithSchema(streamExtensionMembersSchema, body)
  if (parsed.ok) return parsed.value
  throw invalidBody(parsed.issues)
}

function nameOf({ params, query, body }: SsfRequest): string {
  const named = params['stream_id'] ?? membersOf(body)['stream_id']
  return typeof named === 'string' ? named : requireStreamId(query)
}
