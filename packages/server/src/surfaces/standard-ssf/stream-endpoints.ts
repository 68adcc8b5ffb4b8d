import { DELIVERY_METHOD_POLL, parseStreamCreateRequest } from '@heliograph/ssf'
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import { toDeliveryInput } from '../../signals/streams/configuration-change.ts'
import { createClientStream } from '../../signals/streams/create-client-stream.ts'
import type { StreamInput } from '../../signals/streams/stream-input.ts'
import type { StreamContext } from '../../signals/streams/stream-context.ts'
import { listClientStreams } from '../../signals/streams/stream-store.ts'
import {
  invalidBody,
  readBody,
  readStreamId,
  ssfOperation,
  streamIdQuery,
  type SsfOperation,
} from './ssf-operation.ts'
import {
  OWN_POLL_ENDPOINT,
  readExtensions,
  receiverMembers,
  type StandardSurface,
} from './standard-surface.ts'
import { streamConfigurationSchema, toStreamConfiguration } from './stream-configuration.ts'

const PATH = '/ssf/streams'
const NAME_LENGTH_MAX = 255

const createBody = z.looseObject(receiverMembers)

/** Creates a stream of the calling client. SSF 1.0 section 8.1.1.1. */
export function createEndpoint(context: StreamContext): SsfOperation {
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
      const stream = await context.runChange(toOrigin(request), (change) =>
        createClientStream(change, request.principal.client.clientId, input, context),
      )
      return { status: 201, body: toStreamConfiguration(stream, context) }
    },
  })
}

/** A name is no member of the standard: one that cannot be used is passed over. */
function readName(value: unknown): string | undefined {
  if (typeof value !== 'string' || /\p{Cc}/u.test(value)) return undefined
  const name = value.trim()
  return name === '' || name.length > NAME_LENGTH_MAX ? undefined : name
}

/** Shows one stream, or all of the calling client. SSF 1.0 section 8.1.1.2. */
export function readEndpoint(
  { findStream, toStreamJson }: StandardSurface,
  { db }: StreamContext,
): SsfOperation {
  return ssfOperation({
    method: 'GET',
    path: PATH,
    scope: 'ssf.read',
    summary: 'Show a stream, or list all',
    description: 'With `stream_id` the one stream; without it the streams of the client.',
    query: streamIdQuery,
    responses: {
      200: z.union([streamConfigurationSchema, z.array(streamConfigurationSchema)]),
    },
    handler: async (request) => {
      const isOne = readStreamId(request.query) !== undefined
      const body = isOne
        ? toStreamJson(await findStream(db, { ...request, body: undefined }))
        : (await listClientStreams(db, request.principal.client.id)).map(toStreamJson)
      return { status: 200, body }
    },
  })
}
