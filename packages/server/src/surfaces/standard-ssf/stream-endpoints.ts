import { noContent } from '../../platform/http/operation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHODS,
  parseStreamCreateRequest,
  parseStreamUpdateRequest,
  parseWithSchema,
  streamExtensionMembersSchema,
  type StreamExtensionMembers,
} from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { deleteStream } from '../../signals/streams/delete-stream.ts'
import type { StreamInput } from '../../signals/streams/stream-input.ts'
import { listClientStreams } from '../../signals/streams/stream-store.ts'
import { changeStream } from '../../signals/streams/update-stream.ts'
import {
  findTransmitterProblem,
  toConfigurationInput,
  toDeliveryInput,
} from '../../signals/streams/configuration-change.ts'
import { createClientStream } from '../../signals/streams/create-client-stream.ts'
import type { StreamDependencies } from '../../signals/streams/stream-dependencies.ts'
import { getOwnStream } from './own-stream.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import {
  invalidBody,
  readBody,
  readStreamId,
  requireStreamId,
  type SsfOperation,
  type SsfRequest,
  ssfOperation,
  streamIdQuery,
} from './ssf-operation.ts'
import {
  streamConfigurationSchema,
  toStreamConfiguration,
  toTransmitterMembers,
  type ConfigurationContext,
} from './stream-configuration.ts'

export interface StreamEndpointDependencies extends StreamDependencies, ConfigurationContext {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
}

const PATH = '/ssf/streams'
const NAME_LENGTH_MAX = 255
const EXAMPLE_ID = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'

/** The address of a poll is ours, whatever came in its place. */
const OWN_POLL_ENDPOINT = { toPollEndpoint: () => null } as const

const receiverMembers = {
  events_requested: z.array(z.string()).nullish().describe('Unknown types are ignored.'),
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

const createBody = z.looseObject(receiverMembers)
const updateBody = z.looseObject({ stream_id: z.string(), ...receiverMembers })

/** The operations of the configuration endpoint. SSF 1.0 section 8.1.1. */
export function streamEndpoints(dependencies: StreamEndpointDependencies): SsfOperation[] {
  return [createEndpoint(dependencies), ...readAndDelete(dependencies), ...updates(dependencies)]
}

function createEndpoint(dependencies: StreamEndpointDependencies): SsfOperation {
  return ssfOperation({
    method: 'POST',
    path: PATH,
    scope: 'ssf.manage',
    summary: 'Create a stream',
    description: 'Every member is optional, members that are not known are passed over.',
    body: createBody,
    example: {
      body: {
        events_requested: [
          'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change',
        ],
        delivery: { method: DELIVERY_METHOD_POLL },
        description: 'Gateway',
      },
    },
    responses: { 201: streamConfigurationSchema },
    handler: async (request) => {
      const body = readBody(request)
      const parsed = parseStreamCreateRequest(body)
      if (!parsed.ok) throw invalidBody(parsed.issues)
      const { heliograph_sequence: isNumbered } = readExtensions(body)
      const { delivery, events_requested: eventsRequested, description } = parsed.value
      const input: StreamInput = {
        ...(delivery === undefined ? {} : toDeliveryInput(delivery, OWN_POLL_ENDPOINT)),
        name: readName(body['name']),
        description,
        eventsRequested,
        choices: { isNumbered },
        endpointPath: 'delivery.endpoint_url',
      }
      const stream = await dependencies.runChange(toOrigin(request), (change) =>
        createClientStream(change, request.principal.client.clientId, input, dependencies),
      )
      return { status: 201, body: toStreamConfiguration(stream, dependencies) }
    },
  })
}

/** The members that the standard does not have. */
function readExtensions(body: unknown): StreamExtensionMembers {
  const parsed = parseWithSchema(streamExtensionMembersSchema, body)
  if (parsed.ok) return parsed.value
  throw invalidBody(parsed.issues)
}

/** A name is no member of the standard: one that cannot be used is passed over. */
function readName(value: unknown): string | undefined {
  if (typeof value !== 'string' || /\p{Cc}/u.test(value)) return undefined
  const name = value.trim()
  return name === '' || name.length > NAME_LENGTH_MAX ? undefined : name
}

function readAndDelete(dependencies: StreamEndpointDependencies): SsfOperation[] {
  const { db, clock, runChange, settings } = dependencies
  return [
    ssfOperation({
      method: 'GET',
      path: PATH,
      scope: 'ssf.read',
      summary: 'Show a stream, or list all',
      description: 'With `stream_id` the one stream; without it the streams of the client.',
      query: streamIdQuery,
      responses: {
        200: z.union([streamConfigurationSchema, z.array(streamConfigurationSchema)]),
      },
      handler: async ({ principal, query }) => {
        const streamId = readStreamId(query)
        if (streamId === undefined) {
          const streams = await listClientStreams(db, principal.client.id)
          const body = streams.map((stream) => toStreamConfiguration(stream, dependencies))
          return { status: 200, body }
        }
        const stream = await getOwnStream(db, principal, streamId)
        await recordActivity(db, stream, clock.now(), settings)
        return { status: 200, body: toStreamConfiguration(stream, dependencies) }
      },
    }),
    ssfOperation({
      method: 'DELETE',
      path: PATH,
      scope: 'ssf.manage',
      summary: 'Delete a stream',
      description: 'What is queued for it goes with it.',
      query: streamIdQuery,
      responses: { 204: noContent },
      handler: async (request) => {
        const streamId = requireStreamId(request.query)
        await runChange(toOrigin(request), async (change) => {
          const stream = await getOwnStream(change.tx, request.principal, streamId)
          await deleteStream(change, stream)
        })
        return { status: 204 }
      },
    }),
  ]
}

function updates(dependencies: StreamEndpointDependencies): SsfOperation[] {
  const common = {
    path: PATH,
    scope: 'ssf.manage',
    body: updateBody,
    example: { body: { stream_id: EXAMPLE_ID, description: 'Gateway of the office' } },
    responses: { 200: streamConfigurationSchema },
  } as const
  return [
    ssfOperation({
      ...common,
      method: 'PATCH',
      summary: 'Change a stream',
      description: 'Members that are left out stay as they are.',
      handler: (request) => update('PATCH', request, dependencies),
    }),
    ssfOperation({
      ...common,
      method: 'PUT',
      summary: 'Replace a stream',
      description:
        'Members of the receiver that are left out are deleted; without `delivery` the stream polls.',
      handler: (request) => update('PUT', request, dependencies),
    }),
  ]
}

async function update(
  method: 'PATCH' | 'PUT',
  request: SsfRequest,
  dependencies: StreamEndpointDependencies,
) {
  const { runChange, settings } = dependencies
  const body = readBody(request)
  const parsed = parseStreamUpdateRequest(body)
  if (!parsed.ok) throw invalidBody(parsed.issues)
  // A replacement deletes what is left out.
  const preset = method === 'PUT' ? { heliograph_sequence: false } : {}
  const { heliograph_sequence: isNumbered } = { ...preset, ...readExtensions(body) }
  const stream = await runChange(toOrigin(request), async (change) => {
    const id = parsed.value.stream_id
    const before = await getOwnStream(change.tx, request.principal, id, { isLocked: true })
    const rules = {
      method,
      transmitterMembers: toTransmitterMembers(before, dependencies),
      eventsShown: before.eventsRequested,
      eventsWhenReplaced: [],
      ...OWN_POLL_ENDPOINT,
    }
    const problem = findTransmitterProblem(parsed.value, rules)
    if (problem !== undefined) throw invalidBody([problem])
    const standard = toConfigurationInput(parsed.value.supplied, before, rules)
    const input = { ...standard, choices: { isNumbered } }
    const after = await changeStream(change, before, input, dependencies)
    await recordActivity(change.tx, after, change.at, settings)
    return after
  })
  return { status: 200, body: toStreamConfiguration(stream, dependencies) } as const
}
