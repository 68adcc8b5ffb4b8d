/*
 * What differs between the things that are delivered: how a request is made from a delivery, what an
 * answer means, and how often it is tried. Everything else is the engine's.
 */
import type { OutboundRequest } from '../platform/net/guarded-client.ts'
import type { OutboundResult } from '../platform/net/outbound-result.ts'
import type { DeliveryDestinationTable } from '../platform/db/schema.ts'

export type DestinationKind = DeliveryDestinationTable['kind']

/** A delivery that this process may send until its claim ends. */
export interface ClaimedDelivery {
  readonly id: string
  readonly destinationId: string
  readonly claimId: string
  readonly claimExpiresAt: Date
  readonly eventId: string
  readonly eventType: string
  /** Deliveries of one destination and subject go out one after another; null has no order. */
  readonly subjectKey: string | null
  readonly body: string
  readonly signingKid: string | null
  readonly token: string | null
  /** Attempts that were made before this claim. */
  readonly attemptCount: number
  readonly createdAt: Date
}

/** A delivery made ready: a request and the token to store with its outcome. */
export interface PreparedRequest {
  readonly request: OutboundRequest
  /** What was signed, for deliveries that are signed. */
  readonly token: string | null
}

/** What an answer, or its absence, means for the delivery. */
export type Verdict =
  | { readonly kind: 'accepted' }
  /** Sending the same again is hopeless. */
  | { readonly kind: 'rejected'; readonly errorCode: string; readonly error: string }
  | {
      readonly kind: 'retry'
      readonly errorCode: string
      readonly error: string
      /** The receiver says that it has too much to do: the whole destination pauses. */
      readonly isOverloaded: boolean
    }

/** One kind of delivery. */
export interface DeliveryChannel {
  readonly kind: DestinationKind
  /** The name of the log line of an attempt. */
  readonly logEvent: string
  /** Delays before the second and each further attempt; as many retries as entries. */
  readonly retryDelaysMs: readonly number[]
  /** The key that deliveries which have none are bound to when they are claimed; null: not signed. */
  claimKid(): string | null
  /**
   * One prepared request per delivery, in order; undefined when the destination no longer exists.
   * Rejects when it cannot be done at the moment; the engine tries again later.
   */
  prepare(
    destinationId: string,
    deliveries: readonly ClaimedDelivery[],
  ): Promise<readonly PreparedRequest[] | undefined>
  classify(result: OutboundResult): Verdict
}
