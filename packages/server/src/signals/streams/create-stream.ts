import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { insertDestination } from '../dispatch/destination-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { newUuid } from '../../platform/ids.ts'
import { authorizationHeaderContext } from '../push/authorization-header.ts'
import { setKeepsExhausted } from '../push/poll-fallback-store.ts'
import { changePushAuthentication } from '../push/change-push-authentication.ts'
import { assertPushEndpoint } from './push-endpoint.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { refuseIf } from './refuse-if.ts'
import { startHeartbeats } from '../diagnosis/health/heartbeat-rhythm.ts'
import { toChoiceValues } from './stream-choices.ts'
import { toPathPrefix, type StreamInput } from './stream-input.ts'
import { pollUrl, toStreamAudit } from './stream-json.ts'
import { countStreamsLocked, insertStream, type Stream } from './stream-store.ts'
import { warnOfBareHeader } from './warn-of-bare-header.ts'

/**
 * Creates a stream of the root issuer, enabled, and leaves an audit entry. Without a delivery it
 * polls. The audience is the given one, else the endpoint URL, else the poll URL of the stream.
 *
 * @throws AppError `invalid_body` without a name, or a push stream without an endpoint;
 * `target_refused`; `limit_reached`.
 */
export async function createStream(
  change: Change,
  input: StreamInput,
  dependencies: StreamDependencies,
): Promise<Stream> {
  const { baseUrl, sealer, targetPolicy } = dependencies
  const deliveryMethod = input.deliveryMethod ?? 'poll'
  const name = assertComplete(input, deliveryMethod)
  const endpointUrl = input.endpointUrl ?? null
  if (deliveryMethod === 'push' && endpointUrl !== null) {
    assertPushEndpoint(endpointUrl, targetPolicy, input.endpointPath)
  }
  await assertRoomForStream(change, dependencies.streamsMax)
  const streamId = newUuid()
  const header = input.authorizationHeader ?? null
  const stream = await insertStream(change.tx, {
    streamId,
    destinationId: await insertDestination(change.tx, {
      kind: deliveryMethod === 'push' ? 'ssf_push' : 'ssf_poll',
      state: 'active',
    }),
    surface: 'root',
    issuer: baseUrl,
    audience: input.audience ?? endpointUrl ?? pollUrl(baseUrl, streamId),
    name,
    description: input.description ?? null,
    deliveryMethod,
    endpointUrl,
    authorizationHeaderSealed:
      header === null ? null : sealer.seal(header, authorizationHeaderContext(streamId)),
    eventsRequested: [...(input.eventsRequested ?? [DEVICE_COMPLIANCE_CHANGE])],
    ...toChoiceValues(input.choices, {
      streamId,
      sealer,
      base: 'interface',
      pathPrefix: toPathPrefix(input),
    }),
    ...startHeartbeats(input.heartbeatMinutes ?? null, change.at),
    fallbackToPoll: input.fallsBackToPoll === true,
    status: 'enabled',
    statusReason: null,
    createdAt: change.at,
    updatedAt: change.at,
  })
  warnOfBareHeader(change, stream, header, dependencies.log)
  if (stream.fallbackToPoll) await setKeepsExhausted(change.tx, stream.destinationId, true)
  const created = await changePushAuthentication(change, stream, input.authentication, dependencies)
  change.recordAudit({
    action: 'ssf_stream.created',
    target: { type: 'ssf_stream', id: stream.id },
    description: `created the stream ${stream.name}`,
    after: toStreamAudit(created),
  })
  return created
}

/** The name, once nothing that is required is missing. */
function assertComplete(input: StreamInput, deliveryMethod: 'push' | 'poll'): string {
  const isWrapped = input.endpointPath === 'ssf_stream.aud'
  const isUrlMissing = deliveryMethod === 'push' && (input.endpointUrl ?? null) === null
  const hasStrayHeader = deliveryMethod === 'poll' && (input.authorizationHeader ?? null) !== null
  refuseIf([
    ...(input.name === undefined
      ? [{ path: isWrapped ? 'ssf_stream.name' : 'name', message: 'This is required: a string.' }]
      : []),
    ...(isUrlMissing
      ? [{ path: input.endpointPath, message: 'Push streams need the URL of the receiver.' }]
      : []),
    ...(hasStrayHeader
      ? [{ path: 'authorization_header', message: 'Only push streams send a header.' }]
      : []),
  ])
  return input.name ?? ''
}

/**
 * Makes sure that one more stream may be made, and that nobody else makes one until the change ends.
 *
 * @throws AppError `limit_reached`
 */
export async function assertRoomForStream(change: Change, streamsMax: number): Promise<void> {
  if ((await countStreamsLocked(change.tx)) < streamsMax) return
  throw new AppError(
    'conflict',
    'limit_reached',
    `There are ${streamsMax} streams, as many as are allowed. Delete one that is not needed.`,
  )
}
