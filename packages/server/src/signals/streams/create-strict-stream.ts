import { DELIVERY_METHOD_PUSH, type ReceiverSuppliedMembers } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { insertDestination } from '../dispatch/destination-store.ts'
import { newUuid } from '../../platform/ids.ts'
import { getClient, type SsfClient } from '../clients/client-store.ts'
import { authorizationHeaderContext } from '../push/authorization-header.ts'
import { assertRoomForStream } from './create-stream.ts'
import { assertPushEndpoint } from './push-endpoint.ts'
import { toChoiceValues } from './stream-choices.ts'
import type { StreamDependencies } from './stream-dependencies.ts'
import { toStreamAudit } from './stream-json.ts'
import { insertStream, type Stream } from './stream-store.ts'
import { warnOfBareHeader } from './warn-of-bare-header.ts'
import type { StrictCaller } from '../../surfaces/standard-ssf/authenticate-client.ts'
import { announceActivity } from './stream-activity.ts'
import type { StrictSettings } from '../../surfaces/standard-ssf/strict-settings.ts'
import type { StrictUrls } from '../../surfaces/standard-ssf/strict-urls.ts'

export interface CreateStrictStreamDependencies extends StreamDependencies {
  readonly urls: StrictUrls
  readonly settings: StrictSettings
}

/** What a receiver asks for. Everything is optional; without a delivery the stream polls. */
export interface StrictStreamDraft extends ReceiverSuppliedMembers {
  readonly name?: string | undefined
  /** Whether its events carry their number in the stream. */
  readonly isNumbered?: boolean | undefined
}

/**
 * Creates a stream of a client, enabled, with the choices of the client's profile, and leaves an audit
 * entry. SSF 1.0 section 8.1.1.1.
 *
 * @throws AppError `target_refused`, `limit_reached`
 */
export async function createStrictStream(
  change: Change,
  caller: Pick<StrictCaller, 'clientId'>,
  draft: StrictStreamDraft,
  dependencies: CreateStrictStreamDependencies,
): Promise<Stream> {
  const { sealer, settings, targetPolicy, urls } = dependencies
  const push = draft.delivery?.method === DELIVERY_METHOD_PUSH ? draft.delivery : undefined
  if (push !== undefined) {
    assertPushEndpoint(push.endpoint_url, targetPolicy, 'delivery.endpoint_url')
  }
  await assertRoomForStream(change, dependencies.streamsMax)
  const client = await getClient(change.tx, caller.clientId)
  const streamId = newUuid()
  const header = push?.authorization_header
  const stream = await insertStream(change.tx, {
    streamId,
    destinationId: await insertDestination(change.tx, {
      kind: push === undefined ? 'ssf_poll' : 'ssf_push',
      state: 'active',
    }),
    surface: 'strict',
    issuer: urls.issuer,
    ...toClientValues(client, settings),
    name: draft.name ?? `${client.name} ${streamId.slice(0, 8)}`,
    description: draft.description ?? null,
    deliveryMethod: push === undefined ? 'poll' : 'push',
    endpointUrl: push?.endpoint_url ?? null,
    authorizationHeaderSealed:
      header === undefined ? null : sealer.seal(header, authorizationHeaderContext(streamId)),
    eventsRequested: [...(draft.events_requested ?? [])],
    ...toChoiceValues(
      { isNumbered: draft.isNumbered },
      { streamId, sealer, base: client.profile, pathPrefix: '' },
    ),
    status: 'enabled',
    statusReason: null,
    lastActivityAt: change.at,
    createdAt: change.at,
    updatedAt: change.at,
  })
  await announceActivity(change, settings)
  warnOfBareHeader(change, stream, header, dependencies.log)
  change.recordAudit({
    action: 'ssf_stream.created',
    target: { type: 'ssf_stream', id: stream.id },
    description: `created the stream ${stream.name}`,
    after: { ...toStreamAudit(stream), client_id: client.client_id },
  })
  return stream
}

/** What a stream has of its client. */
function toClientValues(client: SsfClient, { defaultSubjects }: StrictSettings) {
  return {
    ssfClientId: client.id,
    audience: client.audience ?? client.client_id,
    defaultSubjects: client.default_subjects ?? defaultSubjects,
  }
}
