/*
 * Streams in the REST API: where the operations on one stream are and what their documents say. A stream is
 * named by its `stream_id` or its `id`: in the path, or in the query or the body where SSF 1.0 has it there.
 */
import {
  DELIVERY_METHODS,
  DEVICE_COMPLIANCE_CHANGE,
  VERIFICATION_STATE_LENGTH_MAX,
} from '@heliograph/ssf'
import { z } from 'zod'
import { invalidBody, type ErrorDetail } from '../../platform/app-error.ts'
import { malformedWhenInvalid } from '../../platform/http/malformed-when-invalid.ts'
import type { OperationRequest } from '../../platform/http/operation.ts'
import { answer, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import { SELF_TEST_DESCRIPTION } from '../diagnosis/self-test/self-test-json.ts'
import { replayBody } from '../history/history-json.ts'
import { missingText, refuseIf } from './refuse-if.ts'
import { STREAM_ACCESS, STREAM_IDENTIFIER_LENGTH_MAX } from './stream-access.ts'
import { choiceShape, readChoices } from './stream-choices.ts'
import { nameSchema } from './stream-input.ts'
import { pollUrl, streamSchema, toStreamJson } from './stream-json.ts'
import { getStream, parseStreamReference } from './stream-store.ts'
import type { StreamPlace, StreamSurface, StreamUse } from './stream-surface.ts'

type RootRequest = OperationRequest

/** The surface of the REST API. */
export type RootSurface = StreamSurface<RootRequest, ApiRoute>

const PATH = '/ssf_streams'
const EXAMPLE_ID = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'
const REASON_LENGTH_MAX = 1_024

export const streamIdSchema = z.string().min(1).max(STREAM_IDENTIFIER_LENGTH_MAX)

/** Names the stream that a request is about. */
export const streamIdQuery = z.object({
  stream_id: streamIdSchema.describe('The stream: its `stream_id` or its `id`.'),
})

/** Names the stream where a body may name it too. */
export const otherStreamIdQuery = z.object({
  stream_id: streamIdSchema.optional().describe('The stream, where the body does not name it.'),
})

const configurationBody = z
  .looseObject({
    stream_id: streamIdQuery.shape.stream_id,
    events_requested: z
      .array(z.string())
      .optional()
      .describe('Unknown types are kept and not delivered.'),
    delivery: z
      .looseObject({
        method: z.enum(DELIVERY_METHODS),
        endpoint_url: z.string().nullish(),
        authorization_header: z
          .string()
          .nullish()
          .describe('Push only; left out, none is sent any more. Never answered.'),
      })
      .optional(),
    description: z.string().nullish().describe('Null removes it.'),
    name: nameSchema.optional(),
    ...choiceShape,
  })
  .meta({
    id: 'StreamConfigurationChange',
    description:
      'A change by SSF 1.0 sections 8.1.1.3 and 8.1.1.4. Members that the transmitter sets or that are changed elsewhere may come back unchanged; unknown ones are passed over.',
  })

const statusBody = z.strictObject({
  stream_id: streamIdSchema.optional(),
  status: z.enum(['enabled', 'paused', 'disabled']),
  reason: z
    .string()
    .max(REASON_LENGTH_MAX)
    .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), 'No control characters')
    .nullish(),
})

/** The `state` of a verification. */
export const stateSchema = z.string().max(VERIFICATION_STATE_LENGTH_MAX).nullish()

const verifyBody = z
  .looseObject({
    stream_id: streamIdSchema.optional(),
    state: stateSchema.describe('Comes back in the event.'),
  })
  .meta({ id: 'VerifyStream' })

/** The answer of streams with `legacy_status_codes`, in the place of 204. */
export const legacySchema = z
  .strictObject({})
  .describe('Of streams with `legacy_status_codes`, in the place of 204.')

/** What a stream has and a configuration does not, and by what it is changed. */
const CHANGED_ELSEWHERE = {
  enabled: `PATCH ${PATH}/{id}`,
  status: `POST ${PATH}/status`,
  delivery_type: 'delivery.method',
  fallback_to_poll: `PATCH ${PATH}/{id}`,
  heartbeat_minutes: `PATCH ${PATH}/{id}`,
  authorization_header: 'delivery.authorization_header',
  ssf_stream: `PATCH ${PATH}/{id}`,
} as const

const CHANGE = {
  path: PATH,
  body: configurationBody,
  example: { body: { stream_id: EXAMPLE_ID, description: 'Gateway of the office' } },
} as const

const PLACES: Readonly<Record<StreamUse, StreamPlace>> = {
  update: {
    ...CHANGE,
    stepUp: true,
    summary: 'Update a stream configuration',
    description: 'Members that are left out stay as they are.',
  },
  replace: {
    ...CHANGE,
    stepUp: true,
    summary: 'Replace a stream configuration',
    description:
      'Without `description` it is removed, without `events_requested` the supported types are delivered, without `delivery` the stream polls. Name and choices stay.',
  },
  delete: {
    path: PATH,
    summary: 'Delete the stream that `stream_id` names',
    stepUp: true,
    description: 'What is queued for it goes with it.',
    query: streamIdQuery,
    example: { query: { stream_id: EXAMPLE_ID } },
  },
  showStatus: {
    path: `${PATH}/status`,
    summary: 'Show the status of a stream',
    query: z.object({ stream_id: streamIdSchema }),
    example: { query: { stream_id: EXAMPLE_ID } },
  },
  setStatus: {
    path: `${PATH}/status`,
    summary: 'Set the status of a stream',
    description: 'A paused stream holds its events; a disabled one gives them up.',
    query: z.object({
      stream_id: streamIdSchema.optional().describe('Where the body does not name the stream.'),
    }),
    body: statusBody,
    example: { body: { stream_id: EXAMPLE_ID, status: 'paused' } },
  },
  verify: {
    path: `${PATH}/verify`,
    summary: 'Ask for a verification event',
    description:
      'The event is delivered as every other; a paused stream holds it, a disabled one drops it.',
    query: otherStreamIdQuery,
    body: verifyBody,
    example: { body: { stream_id: EXAMPLE_ID, state: 'VGhpcyBpcyBhIHRlc3Q' } },
    responses: { 200: legacySchema, 204: noContent },
  },
  showHealth: {
    path: `${PATH}/:id/health`,
    summary: 'Show how a stream is doing',
    description:
      'What waits, how long deliveries took in the last hour and day, what went wrong last, and which signing keys the receiver has accepted.',
  },
  selfTest: {
    path: `${PATH}/:id/self_test`,
    summary: 'Test the receiver of a stream',
    description: SELF_TEST_DESCRIPTION,
  },
  showSelfTest: {
    path: `${PATH}/:id/self_test`,
    summary: 'Show the last test of the receiver of a stream',
  },
  showState: {
    path: `${PATH}/:id/state`,
    summary: 'Show how the devices of a stream are now',
    description:
      'The present status of every device that the stream tells of, as its events name them. `as_of_sequence` is the last event that is taken into account.',
    query: z.object({ cursor: z.string().max(64).optional() }),
  },
  replay: {
    path: `${PATH}/:id/replay`,
    summary: 'Send the events of a stream again',
    description:
      'With the same `jti` and number, from a place on, as long as they are kept. Receivers pass over what they know.',
    body: replayBody,
    example: { body: { from_time: 1_767_225_600 } },
  },
}

/** SSF 1.0 knows 400 only for bodies that are wrong. */
const ANSWERS_400: ReadonlySet<StreamUse> = new Set(['update', 'replace', 'verify'])

/** The surface of the REST API, below `baseUrl`. */
export function createRootSurface(baseUrl: string): RootSurface {
  return {
    places: PLACES,
    initiator: 'transmitter',
    // Receivers have no clients here that could ask too often.
    minVerificationIntervalSeconds: 0,
    streamSchema,
    toStreamJson: (stream) => toStreamJson(stream, baseUrl),
    toSuccess: (stream) =>
      stream.usesLegacyStatusCodes ? answer(200, {}) : answer(204, undefined),
    findStream: (db, request, { isLocked = false } = {}) =>
      getStream(db, parseStreamReference(nameOf(request)), { isLocked }),
    toConfigurationRules: (before, request) => {
      const shown = toStreamJson(before, baseUrl)
      refuseIf(findChangedElsewhere(request, shown))
      const { events_supported, events_delivered, events_requested } = shown
      const ownPollUrl = pollUrl(baseUrl, before.streamId)
      return {
        transmitterMembers: {
          // Whichever of its ids it was named by.
          stream_id: nameOf(request),
          iss: before.issuer,
          aud: before.audience,
          events_supported,
          events_delivered,
        },
        eventsShown: events_requested,
        eventsWhenReplaced: [DEVICE_COMPLIANCE_CHANGE],
        // The address of a poll is ours; another one is kept as information.
        toPollEndpoint: (url) => (url === ownPollUrl ? null : (url ?? null)),
      }
    },
    readExtensions: ({ body }) => {
      const members = body as z.output<typeof configurationBody>
      return { name: members.name, choices: readChoices(members) }
    },
    refuse: invalidBody,
    declare: ({ use, handler, ...operation }) => {
      const declared = route({
        ...STREAM_ACCESS,
        ...operation,
        putAlias: false,
        handler: (context) =>
          handler(
            withName({
              ...context,
              params: context.params as RootRequest['params'],
              query: context.query as RootRequest['query'],
            }),
          ),
      })
      return ANSWERS_400.has(use) ? malformedWhenInvalid(declared) : declared
    },
  }
}

/** A body may leave it to the query to name the stream. */
function withName(request: RootRequest): RootRequest {
  const { params, query, body } = request
  if (params['id'] !== undefined || body === undefined) return request
  const { stream_id: streamId = query['stream_id'], ...members } = membersOf(body)
  refuseIf([streamId === undefined && missingText('stream_id')])
  return { ...request, body: { ...members, stream_id: streamId } }
}

/** Members that may come back as they are shown; what a client would change by them, it would take for changed. */
function findChangedElsewhere(
  { body }: RootRequest,
  shown: Readonly<Record<string, unknown>>,
): ErrorDetail[] {
  const members = membersOf(body)
  return Object.entries(CHANGED_ELSEWHERE).flatMap(([path, place]) =>
    members[path] === undefined || (path in shown && members[path] === shown[path])
      ? []
      : [{ path, message: `Is not changed here but by \`${place}\`.` }],
  )
}

function nameOf({ params, query, body }: RootRequest): string {
  return String(params['id'] ?? membersOf(body)['stream_id'] ?? query['stream_id'])
}

function membersOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}
