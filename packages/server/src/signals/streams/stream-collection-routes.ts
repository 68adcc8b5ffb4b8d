/*
 * The collection of streams as SSF 1.0 section 8.1.1 uses it at the configuration endpoint of the root
 * issuer: a stream is named by `stream_id` in the query or the body, and the rules of the specification
 * hold, invalid bodies included, which answer 400.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DELIVERY_METHODS,
  DEVICE_COMPLIANCE_CHANGE,
  findChangedTransmitterMember,
  parseStreamUpdateRequest,
  type DeliveryRequest,
  type StreamUpdateRequest,
} from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import { answer, noContent, route, type ApiRoute } from '../../platform/http/route.ts'
import { deleteStream } from './delete-stream.ts'
import { malformedWhenInvalid } from './malformed-when-invalid.ts'
import { refuseIf } from './refuse-if.ts'
import { STREAM_ACCESS, STREAM_IDENTIFIER_LENGTH_MAX } from './stream-access.ts'
import { choiceShape, readChoices, type ChoiceInput } from './stream-choices.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { nameSchema, type StreamInput } from './stream-input.ts'
import { EVENTS_SUPPORTED, pollUrl, streamSchema, toStreamJson } from './stream-json.ts'
import { getStream, type Stream } from './stream-store.ts'
import { changeStream } from './update-stream.ts'

export interface StreamCollectionDependencies extends StreamDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
}

const streamIdQuery = z.object({
  stream_id: z
    .string()
    .min(1)
    .max(STREAM_IDENTIFIER_LENGTH_MAX)
    .describe('The stream: its `stream_id` or its `id`.'),
})

const configurationBody = z
  .looseObject({
    stream_id: streamIdQuery.shape.stream_id,
    events_requested: z.array(z.string()).optional().describe('Unknown types are ignored.'),
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
    description: z.string().nullish(),
    name: nameSchema.optional(),
    ...choiceShape,
  })
  .meta({
    id: 'StreamConfigurationChange',
    description:
      'A change by SSF 1.0 sections 8.1.1.3 and 8.1.1.4. Members that the transmitter sets may come back unchanged.',
  })

type ConfigurationBody = z.output<typeof configurationBody>

const EXAMPLE_ID = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'

/** The operations that name a stream beside the path. */
export function streamCollectionRoutes(dependencies: StreamCollectionDependencies): ApiRoute[] {
  return [
    updateRoute('PATCH', dependencies),
    updateRoute('PUT', dependencies),
    deleteRoute(dependencies),
  ]
}

/** Lets a list answer the one stream that `stream_id` names in its query. */
export function orOneStream(
  list: ApiRoute,
  { db, baseUrl }: { readonly db: Kysely<Schema>; readonly baseUrl: string },
): ApiRoute {
  const one = route({
    ...STREAM_ACCESS,
    method: 'GET',
    path: '/ssf_streams',
    summary: list.summary,
    query: streamIdQuery,
    responses: { 200: streamSchema },
    handler: async ({ query }) => toStreamJson(await getStream(db, query.stream_id), baseUrl),
  })
  const query = list.query instanceof z.ZodObject ? list.query : z.object({})
  return {
    ...list,
    query: query.extend(streamIdQuery.partial().shape),
    responses: { 200: z.union([list.responses[200] ?? z.never(), streamSchema]) },
    run: (input, ...rest) => {
      const isOne = (input.query as Record<string, unknown>)['stream_id'] !== undefined
      return (isOne ? one : list).run(input, ...rest)
    },
  }
}

function updateRoute(
  method: 'PATCH' | 'PUT',
  dependencies: StreamCollectionDependencies,
): ApiRoute {
  const { baseUrl, runChange } = dependencies
  return malformedWhenInvalid(
    route({
      ...STREAM_ACCESS,
      method,
      putAlias: false,
      path: '/ssf_streams',
      summary:
        method === 'PATCH' ? 'Update a stream configuration' : 'Replace a stream configuration',
      description:
        method === 'PATCH'
          ? 'Members that are left out stay as they are.'
          : 'Without `description` it is removed, without `events_requested` the supported types are delivered, without `delivery` the stream polls. Name and choices stay.',
      body: configurationBody,
      example: { body: { stream_id: EXAMPLE_ID, description: 'Gateway of the office' } },
      responses: { 200: streamSchema },
      handler: (context) => {
        const request = readUpdate(context.body)
        const extensions = { name: context.body.name, choices: readChoices(context.body) }
        return runChange(toOrigin(context), async (change) => {
          const before = await getStream(change.tx, request.stream_id, { isLocked: true })
          refuseTransmitterMembers(request, before)
          const input = toInput(request, { method, before, baseUrl, extensions })
          const stream = await changeStream(change, before.id, input, dependencies)
          return answer(200, toStreamJson(stream, baseUrl))
        })
      },
    }),
  )
}

function deleteRoute({ runChange, wake }: StreamCollectionDependencies): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'DELETE',
    path: '/ssf_streams',
    summary: 'Delete the stream that `stream_id` names',
    description: 'What is queued for it goes with it.',
    query: streamIdQuery,
    example: { query: { stream_id: EXAMPLE_ID } },
    responses: { 204: noContent },
    handler: (context) =>
      runChange(toOrigin(context), async (change) => {
        await deleteStream(change, context.query.stream_id, wake)
        return answer(204, undefined)
      }),
  })
}

function readUpdate(body: ConfigurationBody): StreamUpdateRequest {
  const parsed = parseStreamUpdateRequest(body)
  if (parsed.ok) return parsed.value
  const details = parsed.issues.map(({ path, message }) => ({ path, message: `${message}.` }))
  const summary = details.map(({ path, message }) => `${path}: ${message}`).join(' ')
  throw new AppError('malformed', 'invalid_body', `The body is not valid. ${summary}`, { details })
}

/** What only the transmitter sets may come back, but not changed. */
function refuseTransmitterMembers(
  { transmitterMembers }: StreamUpdateRequest,
  before: Stream,
): void {
  const { streamId } = before
  const changed = findChangedTransmitterMember(
    // Its `id` names a stream as well.
    { ...transmitterMembers, stream_id: streamId },
    {
      stream_id: streamId,
      iss: before.issuer,
      aud: before.audience,
      events_supported: EVENTS_SUPPORTED,
      events_delivered: EVENTS_SUPPORTED.filter((type) => before.eventsRequested.includes(type)),
    },
  )
  if (changed === undefined) return
  refuseIf([{ path: changed, message: 'Is set by the transmitter and must not change.' }])
}

interface UpdateContext {
  readonly method: 'PATCH' | 'PUT'
  readonly before: Stream
  readonly baseUrl: string
  readonly extensions: { readonly name: string | undefined; readonly choices: ChoiceInput }
}

function toInput({ supplied }: StreamUpdateRequest, context: UpdateContext): StreamInput {
  const isReplacing = context.method === 'PUT'
  const { before, extensions } = context
  return {
    ...extensions,
    ...toDeliveryInput(
      supplied.delivery ?? (isReplacing ? { method: DELIVERY_METHOD_POLL } : undefined),
      context,
    ),
    // It can never be updated (SSF 1.0 section 8.1.1), so that it does not follow the address either.
    audience: before.audience,
    description: supplied.description ?? (isReplacing ? null : undefined),
    eventsRequested:
      toEventsRequested(supplied.events_requested, context) ??
      (isReplacing ? [DEVICE_COMPLIANCE_CHANGE] : undefined),
    endpointPath: 'delivery.endpoint_url',
  }
}

/** The list of the answer names a type that nobody has to ask for: when it comes back, nothing was asked. */
function toEventsRequested(
  requested: readonly string[] | undefined,
  { before, baseUrl }: UpdateContext,
): readonly string[] | undefined {
  const { events_requested: answered } = toStreamJson(before, baseUrl)
  return isDeepStrictEqual(requested, answered) ? before.eventsRequested : requested
}

/** A delivery is replaced whole: a push without a header forgets the one before. */
function toDeliveryInput(
  delivery: DeliveryRequest | undefined,
  { before, baseUrl }: UpdateContext,
): Partial<StreamInput> {
  if (delivery === undefined) return {}
  if (delivery.method === DELIVERY_METHOD_PUSH) {
    return {
      deliveryMethod: 'push',
      endpointUrl: delivery.endpoint_url,
      authorizationHeader: delivery.authorization_header ?? null,
    }
  }
  const own = pollUrl(baseUrl, before.streamId)
  const informational = delivery.endpoint_url === own ? undefined : delivery.endpoint_url
  return { deliveryMethod: 'poll', endpointUrl: informational ?? null }
}
