import { isDeepStrictEqual } from 'node:util'
import type { Updateable } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { updateDestination } from '../dispatch/destination-store.ts'
import { notifyDestinations } from '../dispatch/enqueue-deliveries.ts'
import type { SsfStreamTable } from '../../schema/tables/ssf-stream-tables.ts'
import { authorizationHeaderContext } from '../push/authorization-header.ts'
import { changePushAuthentication } from '../push/change-push-authentication.ts'
import { applyFallbackChoice } from '../push/poll-fallback.ts'
import { isAuthenticationGiven } from '../push/push-authentication.ts'
import { assertPushEndpoint } from './push-endpoint.ts'
import { applyStreamStatus, STATE_OF_STATUS } from './set-stream-status.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { refuseIf } from './refuse-if.ts'
import { toHeartbeatColumns } from '../diagnosis/health/heartbeat-columns.ts'
import { toChoiceValues } from './stream-choices.ts'
import { toPathPrefix, type StreamInput } from './stream-input.ts'
import { pollUrl, toStreamAudit } from './stream-json.ts'
import { getStream, updateStream, type StreamRow } from './stream-store.ts'
import { warnOfBareHeader } from './warn-of-bare-header.ts'

type StreamValues = Updateable<SsfStreamTable>

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
  identifier: string,
  input: StreamInput,
  dependencies: StreamDependencies,
): Promise<StreamRow> {
  const before = await getStream(change.tx, identifier, { isLocked: true })
  const values = {
    ...toPlainValues(input),
    ...toHeartbeatValues(before, input, change.at),
    ...toChoiceValues(input.choices, {
      streamId: before.stream_id,
      sealer: dependencies.sealer,
      base: before,
      pathPrefix: toPathPrefix(input),
    }),
    ...toDeliveryValues(before, input, dependencies),
  }
  const status = toStatus(before, input.isEnabled)
  const isHeaderGiven = values.authorization_header_sealed instanceof Buffer
  const isChanged = Object.entries(values).some(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof StreamRow]),
  )
  const { authentication } = input
  const isSecretGiven = isHeaderGiven || isAuthenticationGiven(authentication)
  if (!isChanged && !isSecretGiven && status === before.status) return before
  const changed = await updateStream(change.tx, before.id, { ...values, updated_at: change.at })
  const secured = await changePushAuthentication(change, changed, authentication, dependencies)
  const updated = await applyFallbackChoice(change, before, secured, {
    isPushChanged: isSecretGiven || changed.endpoint_url !== before.endpoint_url,
    wake: dependencies.wake,
  })
  await updateDestination(change.tx, before.destination_id, {
    kind: updated.delivery_method === 'push' ? 'ssf_push' : 'ssf_poll',
    state: STATE_OF_STATUS[before.status],
  })
  await notifyDestinations(change.tx, [before.destination_id])
  change.afterCommit(() => dependencies.wake(before.destination_id))
  const after =
    status === before.status
      ? updated
      : await applyStreamStatus(change, updated, { status, reason: null }, dependencies.wake)
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

function toStatus(before: StreamRow, isEnabled: boolean | undefined): StreamRow['status'] {
  if (isEnabled === undefined) return before.status
  if (isEnabled) return 'enabled'
  // A paused stream is not enabled already: it keeps holding its events.
  return before.status === 'enabled' ? 'disabled' : before.status
}

/** A rhythm that is given again keeps its beat. */
function toHeartbeatValues(
  before: StreamRow,
  { heartbeatMinutes }: StreamInput,
  now: Date,
): StreamValues {
  if (heartbeatMinutes === undefined || heartbeatMinutes === before.heartbeat_minutes) return {}
  return toHeartbeatColumns(heartbeatMinutes, now)
}

function toPlainValues(input: StreamInput): StreamValues {
  return {
    ...(input.fallsBackToPoll === undefined ? {} : { fallback_to_poll: input.fallsBackToPoll }),
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(input.eventsRequested === undefined
      ? {}
      : { events_requested: [...input.eventsRequested] }),
  }
}

function toDeliveryValues(
  before: StreamRow,
  input: StreamInput,
  dependencies: StreamDependencies,
): StreamValues {
  const method = input.deliveryMethod ?? before.delivery_method
  const endpointUrl = toEndpointUrl(before, input, method, dependencies)
  const header = toHeaderValues(before, input, method, dependencies)
  return {
    delivery_method: method,
    endpoint_url: endpointUrl,
    audience: toAudience(before, input, endpointUrl, dependencies),
    ...header,
  }
}

function toEndpointUrl(
  before: StreamRow,
  input: StreamInput,
  method: 'push' | 'poll',
  { targetPolicy }: StreamDependencies,
): string | null {
  const endpointUrl = input.endpointUrl === undefined ? before.endpoint_url : input.endpointUrl
  if (method === 'poll') return endpointUrl
  if (endpointUrl === null) {
    refuseIf([{ path: input.endpointPath, message: 'Push streams need the URL of the receiver.' }])
    return endpointUrl
  }
  const isNew = endpointUrl !== before.endpoint_url || before.delivery_method === 'poll'
  if (isNew) assertPushEndpoint(endpointUrl, targetPolicy, input.endpointPath)
  return endpointUrl
}

/** An audience that the service assigned follows the address that it was assigned from. */
function toAudience(
  before: StreamRow,
  input: StreamInput,
  endpointUrl: string | null,
  { baseUrl }: StreamDependencies,
): string {
  if (input.audience !== undefined) return input.audience
  const assigned = before.endpoint_url ?? pollUrl(baseUrl, before.stream_id)
  if (before.face === 'strict' || before.audience !== assigned) return before.audience
  return endpointUrl ?? pollUrl(baseUrl, before.stream_id)
}

/** A stream that polls sends no header: switching to poll forgets it. */
function toHeaderValues(
  before: StreamRow,
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
    return { authorization_header_sealed: null }
  }
  if (authorizationHeader === undefined) return {}
  if (authorizationHeader === null) return { authorization_header_sealed: null }
  const context = authorizationHeaderContext(before.stream_id)
  return { authorization_header_sealed: sealer.seal(authorizationHeader, context) }
}
