import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../changes/change.ts'
import { updateDestination } from '../dispatch/destination-store.ts'
import { notifyDestinations } from '../dispatch/delivery-store.ts'
import { authorizationHeaderContext } from '../push/authorization-header.ts'
import { changePushAuthentication } from '../push/change-push-authentication.ts'
import { applyFallbackChoice } from '../push/poll-fallback.ts'
import { isAuthenticationGiven } from '../push/push-authentication.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { assertPushEndpoint } from './push-endpoint.ts'
import { applyStreamStatus, STATE_OF_STATUS } from './set-stream-status.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { refuseIf } from './refuse-if.ts'
import { startHeartbeats } from '../diagnosis/health/heartbeat-rhythm.ts'
import { toChoiceValues } from './stream-choices.ts'
import { toPathPrefix, type StreamInput } from './stream-input.ts'
import { pollUrl, toStreamAudit } from './stream-json.ts'
import {
  getStream,
  updateStream,
  type Stream,
  type StreamChanges,
  type StreamReference,
} from './stream-store.ts'
import { warnOfBareHeader } from './warn-of-bare-header.ts'

type StreamValues = StreamChanges

/**
 * Changes what is given of a stream and leaves an audit entry with the values before and after; a
 * change of nothing leaves neither. Events that are queued keep the audience that they were made
 * with, and follow the stream from push to poll and back.
 *
 * @throws AppError `not_found`; `target_refused`; `invalid_body` when it would push without an
 * endpoint, or poll with an authorization header.
 */
export async function changeStream(
  change: Change,
  reference: StreamReference,
  input: StreamInput,
  dependencies: StreamDependencies,
): Promise<Stream> {
  const before = await getStream(change.tx, reference, { isLocked: true })
  const values = {
    ...toPlainValues(input),
    ...toHeartbeatValues(before, input, change.at),
    ...toChoiceValues(input.choices, {
      streamId: before.streamId,
      sealer: dependencies.sealer,
      base: before,
      pathPrefix: toPathPrefix(input),
    }),
    ...toDeliveryValues(before, input, dependencies),
  }
  const status = toStatus(before, input.isEnabled)
  const isHeaderGiven = values.authorizationHeaderSealed instanceof Buffer
  const isChanged = Object.entries(values).some(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof Stream]),
  )
  const { authentication } = input
  const isSecretGiven = isHeaderGiven || isAuthenticationGiven(authentication)
  if (!isChanged && !isSecretGiven && status === before.status) return before
  const changed = await updateStream(change.tx, before.id, { ...values, updatedAt: change.at })
  const secured = await changePushAuthentication(change, changed, authentication, dependencies)
  const updated = await applyFallbackChoice(change, before, secured, {
    isPushChanged: isSecretGiven || changed.endpointUrl !== before.endpointUrl,
  })
  await updateDestination(change.tx, before.destinationId, {
    kind: updated.deliveryMethod === 'push' ? 'ssf_push' : 'ssf_poll',
    state: STATE_OF_STATUS[before.status],
  })
  await notifyDestinations(change.tx, [before.destinationId])
  const after =
    status === before.status
      ? updated
      : await applyStreamStatus(change, updated, { status, reason: null })
  warnOfBareHeader(change, after, input.authorizationHeader, dependencies.log)
  change.recordAudit({
    action: 'ssf_stream.updated',
    target: { type: 'ssf_stream', id: before.id },
    description: `changed the stream ${after.name}`,
    before: toStreamAudit(before),
    after: { ...toStreamAudit(after), authorization_header_changed: isHeaderGiven },
  })
  return after
}

function toStatus(before: Stream, isEnabled: boolean | undefined): Stream['status'] {
  if (isEnabled === undefined) return before.status
  if (isEnabled) return 'enabled'
  // A paused stream is not enabled already: it keeps holding its events.
  return before.status === 'enabled' ? 'disabled' : before.status
}

/** A rhythm that is given again keeps its beat. */
function toHeartbeatValues(
  before: Stream,
  { heartbeatMinutes }: StreamInput,
  now: Date,
): StreamValues {
  if (heartbeatMinutes === undefined || heartbeatMinutes === before.heartbeatMinutes) return {}
  return startHeartbeats(heartbeatMinutes, now)
}

function toPlainValues(input: StreamInput): StreamValues {
  const { fallsBackToPoll: fallbackToPoll, name, description, eventsRequested } = input
  return givenMembers({
    fallbackToPoll,
    name,
    description,
    eventsRequested: eventsRequested && [...eventsRequested],
  })
}

function toDeliveryValues(
  before: Stream,
  input: StreamInput,
  dependencies: StreamDependencies,
): StreamValues {
  const method = input.deliveryMethod ?? before.deliveryMethod
  const endpointUrl = toEndpointUrl(before, input, method, dependencies)
  const header = toHeaderValues(before, input, method, dependencies)
  return {
    deliveryMethod: method,
    endpointUrl,
    audience: toAudience(before, input, endpointUrl, dependencies),
    ...header,
  }
}

function toEndpointUrl(
  before: Stream,
  input: StreamInput,
  method: 'push' | 'poll',
  { targetPolicy }: StreamDependencies,
): string | null {
  const endpointUrl = input.endpointUrl === undefined ? before.endpointUrl : input.endpointUrl
  if (method === 'poll') return endpointUrl
  if (endpointUrl === null) {
    refuseIf([{ path: input.endpointPath, message: 'Push streams need the URL of the receiver.' }])
    return endpointUrl
  }
  const isNew = endpointUrl !== before.endpointUrl || before.deliveryMethod === 'poll'
  if (isNew) assertPushEndpoint(endpointUrl, targetPolicy, input.endpointPath)
  return endpointUrl
}

/** An audience that the service assigned follows the address that it was assigned from. */
function toAudience(
  before: Stream,
  input: StreamInput,
  endpointUrl: string | null,
  { baseUrl }: StreamDependencies,
): string {
  if (input.audience !== undefined) return input.audience
  const assigned = before.endpointUrl ?? pollUrl(baseUrl, before.streamId)
  if (before.surface === 'strict' || before.audience !== assigned) return before.audience
  return endpointUrl ?? pollUrl(baseUrl, before.streamId)
}

/** A stream that polls sends no header: switching to poll forgets it. */
function toHeaderValues(
  before: Stream,
  { authorizationHeader }: StreamInput,
  method: 'push' | 'poll',
  { sealer }: StreamDependencies,
): StreamValues {
  if (method === 'poll') {
    const hasStrayHeader = (authorizationHeader ?? null) !== null
    refuseIf(
      hasStrayHeader
        ? [{ path: 'authorization_header', message: 'Only push streams send a header.' }]
        : [],
    )
    return { authorizationHeaderSealed: null }
  }
  if (authorizationHeader === undefined) return {}
  if (authorizationHeader === null) return { authorizationHeaderSealed: null }
  const context = authorizationHeaderContext(before.streamId)
  return { authorizationHeaderSealed: sealer.seal(authorizationHeader, context) }
}
