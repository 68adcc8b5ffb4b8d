/*
 * A change of a stream by the members of the standard configuration, at whichever endpoint: SSF 1.0
 * sections 8.1.1.3 (update) and 8.1.1.4 (replace). Owns what must come back unchanged and what becomes
 * of members that are left out; how invalid bodies are answered is the endpoint's.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  findChangedTransmitterMember,
  type DeliveryRequest,
  type ReceiverSuppliedChanges,
  type StreamUpdateRequest,
  type TransmitterSuppliedMembers,
} from '@heliograph/ssf'
import type { ErrorDetail } from '../../platform/app-error.ts'
import type { StreamInput } from './stream-input.ts'
import type { Stream } from './stream-store.ts'

/** How an endpoint shows a stream, and what it does with members that are left out. */
export interface ConfigurationRules {
  /** A replacement, which deletes what is left out, or an update, which leaves it. */
  readonly method: 'PATCH' | 'PUT'
  /** What the transmitter sets, as the endpoint shows it. */
  readonly transmitterMembers: TransmitterSuppliedMembers
  /** The event types as the endpoint shows them; when they come back, nothing was asked. */
  readonly eventsShown: readonly string[]
  /** What a replacement without event types asks for. */
  readonly eventsWhenReplaced: readonly string[]
  /** The address of polls, where a poll stream may name no other. */
  readonly ownPollEndpoint?: string
  /** What a poll stream may name as its address; null for none. */
  readonly toPollEndpoint: (endpointUrl: string | undefined) => string | null
}

/** The member that only the transmitter sets and that the request would change, if any. */
export function findTransmitterProblem(
  request: StreamUpdateRequest,
  { transmitterMembers, ownPollEndpoint }: ConfigurationRules,
): ErrorDetail | undefined {
  const path =
    findChangedTransmitterMember(request.transmitterMembers, transmitterMembers) ??
    findForeignPollEndpoint(request.supplied.delivery, ownPollEndpoint)
  if (path === undefined) return undefined
  return { path, message: 'Is set by the transmitter and must not change.' }
}

/** The transmitter sets the address of polls. SSF 1.0 section 8.1.1. */
function findForeignPollEndpoint(
  delivery: DeliveryRequest | undefined,
  ownPollEndpoint: string | undefined,
): 'delivery.endpoint_url' | undefined {
  if (ownPollEndpoint === undefined || delivery?.method !== DELIVERY_METHOD_POLL) return undefined
  const { endpoint_url: endpointUrl = ownPollEndpoint } = delivery
  return endpointUrl === ownPollEndpoint ? undefined : 'delivery.endpoint_url'
}

/** What a request asks for. The audience can never be updated (SSF 1.0 section 8.1.1). */
export function toConfigurationInput(
  supplied: ReceiverSuppliedChanges,
  before: Stream,
  rules: ConfigurationRules,
): StreamInput {
  const isReplacing = rules.method === 'PUT'
  const delivery = supplied.delivery ?? (isReplacing ? { method: DELIVERY_METHOD_POLL } : undefined)
  const isUnchanged = isDeepStrictEqual(supplied.events_requested, rules.eventsShown)
  return {
    ...(delivery === undefined ? {} : toDeliveryInput(delivery, rules)),
    audience: before.audience,
    description: isReplacing ? (supplied.description ?? null) : supplied.description,
    eventsRequested: isUnchanged
      ? before.eventsRequested
      : (supplied.events_requested ?? (isReplacing ? rules.eventsWhenReplaced : undefined)),
    endpointPath: 'delivery.endpoint_url',
  }
}

/** A delivery is replaced whole: a push without a header forgets the one before. */
export function toDeliveryInput(
  delivery: DeliveryRequest,
  { toPollEndpoint }: Pick<ConfigurationRules, 'toPollEndpoint'>,
): Partial<StreamInput> {
  if (delivery.method !== DELIVERY_METHOD_PUSH) {
    return { deliveryMethod: 'poll', endpointUrl: toPollEndpoint(delivery.endpoint_url) }
  }
  return {
    deliveryMethod: 'push',
    endpointUrl: delivery.endpoint_url,
    authorizationHeader: delivery.authorization_header ?? null,
  }
}
