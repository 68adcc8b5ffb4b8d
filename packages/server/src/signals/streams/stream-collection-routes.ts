/*
 * The collection of streams as SSF 1.0 section 8.1.1 uses it at the configuration endpoint of the root
 * issuer: a stream is named by `stream_id` in the query or the body, and the rules of the specification
 * hold, invalid bodies included, which answer 400.
 */
import {
  DELIVERY_METHODS,
  DEVICE_COMPLIANCE_CHANGE,
  parseStreamUpdateRequest,
  type StreamUpdateRequest,
} from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import { deleteStream } from './delete-stream.ts'
import { malformedWhenInvalid } from '../../platform/http/malformed-when-invalid.ts'
import { answer, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import { refuseIf } from './refuse-if.ts'
import { STREAM_ACCESS, STREAM_IDENTIFIER_LENGTH_MAX } from './stream-access.ts'
import {
  findTransmitterProblem,
  toConfigurationInput,
  type ConfigurationRules,
} from './configuration-change.ts'
import { choiceShape, readChoices } from './stream-choices.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { nameSchema } from './stream-input.ts'
import { pollUrl, streamSchema, toStreamJson } from './stream-json.ts'
import { getStream, parseStreamReference, type Stream } from './stream-store.ts'
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
    handler: async ({ query }) =>
      toStreamJson(await getStream(db, parseStreamReference(query.stream_id)), baseUrl),
  })
  const query = list.query instanceof z.ZodObject ? list.query : z.object({})
  return {
    ...list,
    query: query.extend(streamIdQuery.partial().shape),
    responses: { 200: z.union([list.responses[200] ?? z.never(), streamSchema]) },
    run: (request) => (request.query['stream_id'] === undefined ? list : one).run(request),
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
          const before = await getStream(change.tx, parseStreamReference(request.stream_id), {
            isLocked: true,
          })
          const rules = toRules(method, before, dependencies)
          refuseIf([findTransmitterProblem(asNamed(request, before), rules) ?? false])
          const standard = toConfigurationInput(request.supplied, before, rules)
          const input = { ...extensions, ...standard }
          const stream = await changeStream(change, before, input, dependencies)
          return answer(200, toStreamJson(stream, baseUrl))
        })
      },
    }),
  )
}

function deleteRoute({ runChange }: StreamCollectionDependencies): ApiRoute {
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
        await deleteStream(change, parseStreamReference(context.query.stream_id))
        return answer(204, undefined)
      }),
  })
}

function readUpdate(body: ConfigurationBody): StreamUpdateRequest {
  const parsed = parseStreamUpdateRequest(body)
  if (parsed.ok) return parsed.value
  const details = parsed.issues.map(({ path, message }) => ({ path, message: `${message}.` }))
  const summary = details.map(({ path, message }) => `${path}: ${message}`).join(' ')
  throw new AppError('invalid_body', `The body is not valid. ${summary}`, {
    details,
    kind: 'malformed',
  })
}

/** A stream may be named by its `id` as well. */
function asNamed(request: StreamUpdateRequest, { streamId }: Stream): StreamUpdateRequest {
  return { ...request, transmitterMembers: { ...request.transmitterMembers, stream_id: streamId } }
}

/** The address of a poll is ours; another one is kept as information. */
function toRules(
  method: 'PATCH' | 'PUT',
  before: Stream,
  dependencies: Pick<StreamCollectionDependencies, 'baseUrl'>,
): ConfigurationRules {
  const { events_supported, events_delivered, events_requested } = toStreamJson(
    before,
    dependencies.baseUrl,
  )
  const ownPollUrl = pollUrl(dependencies.baseUrl, before.streamId)
  return {
    method,
    transmitterMembers: {
      stream_id: before.streamId,
      iss: before.issuer,
      aud: before.audience,
      events_supported,
      events_delivered,
    },
    eventsShown: events_requested,
    eventsWhenReplaced: [DEVICE_COMPLIANCE_CHANGE],
    toPollEndpoint: (url) => (url === ownPollUrl ? null : (url ?? null)),
  }
}
