/*
 * A change of a stream, whichever surface asks for it. Owns the order of the steps: what is asked for and
 * whether it can be, the values, the delivery of what is queued, the status, the audit entry.
 */
import { isDeepStrictEqual } from 'node:util'
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { authorizationHeaderContext } from '../push/authorization-header.ts'
import { changePushAuthentication } from '../push/change-push-authentication.ts'
import { endUnfitFallback } from '../push/poll-fallback.ts'
import { resumeRestatement } from '../history/restatement-store.ts'
import { isAuthenticationGiven } from '../push/push-authentication.ts'
import type { ErrorDetail } from '../../platform/app-error.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { assertTarget } from '../dispatch/assert-target.ts'
import { notifyTargetChanged } from '../dispatch/delivery-store.ts'
import { isSameHost } from '../dispatch/is-same-host.ts'
import { applyStreamStatus, changeDelivery } from './set-stream-status.ts'
import type { StreamDependencies } from './stream-context.ts'
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
import { discardUnrequested, isRequested } from './unrequested-event-store.ts'
import { warnOfBareHeader } from './warn-of-bare-header.ts'

/**
 * Changes what is given of a stream and leaves an audit entry with the values before and after; a
 * change of nothing leaves a new `updated_at` alone. Events that are queued keep the audience that they were made
 * with, and follow the stream from push to poll and back; those of a type that is no longer asked for are given up.
 *
 * @throws AppError `not_found`; `target_refused`; `invalid_body` when it would push without an
 * endpoint, poll with an authorization header, or exchange a client secret for tokens that another host gets.
 */
export async function changeStream(
  change: Change,
  reference: StreamReference,
  input: StreamInput,
  dependencies: StreamDependencies,
): Promise<Stream> {
  const before = await getStream(change.tx, reference, { isLocked: true })
  const wish = toWish(change, before, input, dependencies)
  if (!wish.isAny) return updateStream(change.tx, before.id, { updatedAt: change.at })
  const updated = await applyValues(change, before, input, wish, dependencies)
  const after = await applyToDelivery(change, updated, wish.status)
  warnOfBareHeader(change, after, input.authorizationHeader, dependencies.log)
  change.recordAudit({
    action: 'ssf_stream.updated',
    target: { type: 'ssf_stream', id: before.id },
    description: `changed the stream ${after.name}`,
    before: toStreamAudit(before),
    after: { ...toStreamAudit(after), authorization_header_changed: wish.isHeaderGiven },
  })
  return after
}

/** What a change comes to, once nothing about it has to be refused. */
interface StreamWish {
  readonly values: StreamChanges
  readonly status: Stream['status']
  readonly isHeaderGiven: boolean
  /** Sealed values differ each time: given ones count as changed. */
  readonly isSecretGiven: boolean
  readonly isAny: boolean
}

function toWish(
  change: Change,
  before: Stream,
  input: StreamInput,
  dependencies: StreamDependencies,
): StreamWish {
  const values = {
    ...toPlainValues(input),
    ...toEventValues(before, input),
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
  const isSecretGiven = isHeaderGiven || isAuthenticationGiven(input.authentication)
  const isChanged = Object.entries(values).some(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof Stream]),
  )
  const isAny = isChanged || isSecretGiven || status !== before.status
  return { values, status, isHeaderGiven, isSecretGiven, isAny }
}

async function applyValues(
  change: Change,
  before: Stream,
  { authentication }: StreamInput,
  wish: StreamWish,
  dependencies: StreamDependencies,
): Promise<Stream> {
  const changed = await updateStream(change.tx, before.id, { ...wish.values, updatedAt: change.at })
  // Before the destination is locked: those who record outcomes and acknowledgements lock its deliveries first.
  await discardNoLongerRequested(change, before, changed, wish.status)
  const [wasAsked, isAsked] = [before, changed].map((stream) =>
    isRequested(stream, DEVICE_COMPLIANCE_CHANGE),
  )
  if (wasAsked === false && isAsked === true) await resumeRestatement(change, before.id)
  const secured = await changePushAuthentication(
    change,
    changed,
    authentication,
    dependencies,
    before,
  )
  const isPushChanged = wish.isSecretGiven || isTargetChanged(before, secured)
  if (isPushChanged) await notifyTargetChanged(change.tx, secured.destinationId)
  return endUnfitFallback(change, secured, { isPushChanged })
}

/** Whether pushes go elsewhere, or carry no header any more. */
function isTargetChanged(before: Stream, after: Stream): boolean {
  return (
    before.endpointUrl !== after.endpointUrl ||
    before.deliveryMethod !== after.deliveryMethod ||
    !isDeepStrictEqual(before.authorizationHeaderSealed, after.authorizationHeaderSealed)
  )
}

/**
 * A receiver relies on `events_delivered` for what it can expect, held events included. SSF 1.0 section 8.1.1. A status
 * that gives up whatever waits does so for these too, so that deliveries are locked once, in their order.
 */
async function discardNoLongerRequested(
  { tx, at }: Change,
  before: Stream,
  after: Stream,
  status: Stream['status'],
): Promise<void> {
  const isSomeDropped = before.eventsRequested.some((type) => !isRequested(after, type))
  const isAllGivenUp = before.status !== status && [before.status, status].includes('disabled')
  if (isSomeDropped && !isAllGivenUp) await discardUnrequested(tx, after.destinationId, at)
}

/** Has deliveries follow what the stream is now, in its status too. */
async function applyToDelivery(
  change: Change,
  stream: Stream,
  status: Stream['status'],
): Promise<Stream> {
  if (status === stream.status) {
    await changeDelivery(change, stream)
    return stream
  }
  return applyStreamStatus(change, stream, { status, reason: null })
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
): StreamChanges {
  if (heartbeatMinutes === undefined || heartbeatMinutes === before.heartbeatMinutes) return {}
  return startHeartbeats(heartbeatMinutes, now)
}

function toPlainValues(input: StreamInput): StreamChanges {
  const { fallsBackToPoll: fallbackToPoll, name, description } = input
  return givenMembers({ fallbackToPoll, name, description })
}

/** What REST clients cannot name stays as the receiver has asked for it. */
function toEventValues(
  { eventsRequested: before }: Stream,
  { eventsRequested = before, eventsAdded = [] }: StreamInput,
): StreamChanges {
  const added = eventsAdded.filter((type) => !eventsRequested.includes(type))
  return { eventsRequested: [...eventsRequested, ...added] }
}

function toDeliveryValues(
  before: Stream,
  input: StreamInput,
  dependencies: StreamDependencies,
): StreamChanges {
  const deliveryMethod = input.deliveryMethod ?? before.deliveryMethod
  const endpointUrl = input.endpointUrl === undefined ? before.endpointUrl : input.endpointUrl
  const delivery = { deliveryMethod, endpointUrl }
  assertDelivery(before, delivery, input, dependencies)
  return {
    ...delivery,
    audience: toAudience(before, input, endpointUrl, dependencies),
    ...toHeaderValues(before, input, deliveryMethod, dependencies),
  }
}

/**
 * Tokens that a client secret is exchanged for go to the host that it was given for: for another one it is given anew.
 * An authorization header goes wherever the address does, as clients of the K2 API expect who change nothing else.
 */
function findKeptSecret(
  before: Stream,
  endpointUrl: string,
  { authentication }: StreamInput,
): ErrorDetail[] {
  const { oauth } = before.pushAuthentication ?? {}
  const hasSecret = oauth !== undefined && oauth.auth_method !== 'private_key_jwt'
  const given = authentication?.oauth
  const isGivenUp = given === null || given?.auth_method === 'private_key_jwt'
  const isKept = hasSecret && !isGivenUp && given?.client_secret === undefined
  if (!isKept || isSameHost(before.endpointUrl ?? endpointUrl, endpointUrl)) return []
  const message = 'This is required with another host: it was given for the one before.'
  return [{ path: 'delivery.oauth.client_secret', message }]
}

/** Refuses what cannot be delivered to: the one place where a change of the delivery is. */
function assertDelivery(
  before: Stream,
  { deliveryMethod, endpointUrl }: Pick<Stream, 'deliveryMethod' | 'endpointUrl'>,
  input: StreamInput,
  { targetPolicy }: StreamDependencies,
): void {
  const { authorizationHeader, endpointPath } = input
  const isPush = deliveryMethod === 'push'
  const hasStrayHeader = !isPush && (authorizationHeader ?? null) !== null
  refuseIf([
    isPush &&
      endpointUrl === null && {
        path: endpointPath,
        message: 'Push streams need the URL of the receiver.',
      },
    hasStrayHeader && {
      path: 'authorization_header',
      message: 'Only push streams send a header.',
    },
  ])
  if (!isPush || endpointUrl === null) return
  const isNew = endpointUrl !== before.endpointUrl || before.deliveryMethod === 'poll'
  if (isNew) assertTarget(endpointUrl, targetPolicy, endpointPath, 'pushed')
  refuseIf(findKeptSecret(before, endpointUrl, input))
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
  { authorizationHeader: header }: StreamInput,
  method: 'push' | 'poll',
  { sealer }: StreamDependencies,
): StreamChanges {
  if (method === 'poll' || header === null) return { authorizationHeaderSealed: null }
  if (header === undefined) return {}
  const context = authorizationHeaderContext(before.streamId)
  return { authorizationHeaderSealed: sealer.seal(header, context) }
}
