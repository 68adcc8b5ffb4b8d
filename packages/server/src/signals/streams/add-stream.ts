/*
 * Adding a stream, whoever it is for: the steps that are the same for the streams of the root issuer
 * (create-stream.ts) and for those of clients (create-client-stream.ts), which say what differs.
 */
import type { StreamId } from '../../schema/branded-ids.ts'
import type { Change } from '../../changes/change.ts'
import { insertDestination } from '../dispatch/destination-store.ts'
import { AppError } from '../../platform/app-error.ts'
import { newUuid } from '../../platform/ids.ts'
import { authorizationHeaderContext } from '../push/authorization-header.ts'
import { changePushAuthentication } from '../push/change-push-authentication.ts'
import { assertTarget } from '../dispatch/assert-target.ts'
import type { StreamDependencies } from './stream-context.ts'
import { startHeartbeats } from '../diagnosis/health/heartbeat-rhythm.ts'
import { toChoiceValues, type StreamProfileName } from './stream-choices.ts'
import { toPathPrefix, type StreamInput } from './stream-input.ts'
import { toStreamAudit } from './stream-json.ts'
import { countStreamsLocked, insertStream, type NewStream, type Stream } from './stream-store.ts'
import { warnOfBareHeader } from './warn-of-bare-header.ts'

/** What a stream gets from where it is created. */
export interface StreamOrigin {
  readonly surface: Stream['surface']
  readonly issuer: string
  /** The choices that it begins with. */
  readonly profile: StreamProfileName
  /** Unless the input has one. */
  readonly audience: (streamId: string) => string
  readonly name: (streamId: string) => string
  readonly eventsRequested: readonly string[]
  /** What a stream has of its client. */
  readonly clientValues?: Pick<NewStream, 'ssfClientId' | 'defaultSubjects' | 'lastActivityAt'>
  /** The client, for the audit log. */
  readonly auditOfClient?: { readonly client_id: string }
}

/**
 * Adds a stream, enabled, and leaves an audit entry. Without a delivery method it polls.
 *
 * @throws AppError `target_refused`; `limit_reached`; `invalid_body` for choices or an authentication
 * that cannot be.
 */
export async function addStream(
  change: Change,
  input: StreamInput,
  origin: StreamOrigin,
  dependencies: StreamDependencies,
): Promise<Stream> {
  assertEndpointAllowed(input, dependencies)
  await assertRoomForStream(change, dependencies.streamsMax)
  const stream = await insertEnabledStream(change, input, origin, dependencies)
  const created = await changePushAuthentication(change, stream, input.authentication, dependencies)
  warnOfBareHeader(change, created, input.authorizationHeader, dependencies.log)
  change.recordAudit({
    action: 'ssf_stream.created',
    target: { type: 'ssf_stream', id: created.id },
    description: `created the stream ${created.name}`,
    after: { ...toStreamAudit(created), ...origin.auditOfClient },
  })
  return created
}

function assertEndpointAllowed(input: StreamInput, { targetPolicy }: StreamDependencies): void {
  const { deliveryMethod, endpointUrl } = input
  if (deliveryMethod !== 'push' || endpointUrl === undefined || endpointUrl === null) return
  assertTarget(endpointUrl, targetPolicy, input.endpointPath, 'pushed')
}

/** Makes sure that one more stream may be made, and that nobody else makes one until the change ends. */
async function assertRoomForStream(change: Change, streamsMax: number): Promise<void> {
  if ((await countStreamsLocked(change.tx)) < streamsMax) return
  throw new AppError(
    'limit_reached',
    `There are ${streamsMax} streams, as many as are allowed. Delete one that is not needed.`,
  )
}

async function insertEnabledStream(
  change: Change,
  input: StreamInput,
  origin: StreamOrigin,
  { sealer }: StreamDependencies,
): Promise<Stream> {
  const streamId = newUuid() as StreamId
  const isPush = input.deliveryMethod === 'push'
  const fallbackToPoll = input.fallsBackToPoll === true
  const header = input.authorizationHeader ?? null
  return insertStream(change.tx, {
    streamId,
    destinationId: await insertDestination(change.tx, {
      kind: isPush ? 'ssf_push' : 'ssf_poll',
      state: 'active',
      keepsExhausted: fallbackToPoll,
    }),
    surface: origin.surface,
    issuer: origin.issuer,
    ...origin.clientValues,
    audience: input.audience ?? origin.audience(streamId),
    name: input.name ?? origin.name(streamId),
    description: input.description ?? null,
    deliveryMethod: isPush ? 'push' : 'poll',
    endpointUrl: input.endpointUrl ?? null,
    authorizationHeaderSealed:
      header === null ? null : sealer.seal(header, authorizationHeaderContext(streamId)),
    eventsRequested: [...(input.eventsRequested ?? origin.eventsRequested)],
    ...toChoiceValues(input.choices, {
      streamId,
      sealer,
      base: origin.profile,
      pathPrefix: toPathPrefix(input),
    }),
    ...startHeartbeats(input.heartbeatMinutes ?? null, change.at),
    fallbackToPoll,
    status: 'enabled',
    statusReason: null,
    createdAt: change.at,
    updatedAt: change.at,
  })
}
