/*
 * What differs between the things that are delivered: how a request is made from a delivery, what an
 * answer means, and how often it is tried. Everything else is the engine's.
 */
import type { Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'

export type DestinationKind = Schema['delivery_destination']['kind']

/** A delivery that this process may send until its claim ends. */
export interface ClaimedDelivery {
  readonly id: string
  readonly destinationId: DestinationId
  readonly claimId: string
  /** When the lease ends, on the steady clock of `performance.now()`. */
  readonly leaseEndsMs: number
  readonly eventId: string
  readonly eventType: string
  /** Deliveries of one destination and subject go out one after another; null has no order. */
  readonly subjectKey: string | null
  readonly body: string
  readonly signingKid: string | null
  readonly token: string | null
  /** Attempts that were made before this claim. */
  readonly attemptCount: number
  /** It is sent again: an attempt that was accepted stands in its row. */
  readonly wasAccepted: boolean
  /** Sent also while the destination is held or stopped; false when left out. */
  readonly outlivesStop?: boolean
  /** It had been due for `LEFT_AFTER_MS`, and nobody had tried to send it; false when left out. */
  readonly wasLeft?: boolean
  readonly createdAt: Date
}

/** A delivery made ready: a request and the token to store with its outcome. */
export interface PreparedRequest {
  readonly request: OutboundRequest
  /** What was signed, for deliveries that are signed. */
  readonly token: string | null
  /** Sends the request, with what it needs to be let in; without it, it goes out as it is. */
  readonly send?: ((request: OutboundRequest) => Promise<OutboundResult>) | undefined
  /** It stays queued when its attempts are used up: the receiver can have it in another way. */
  readonly isKeptWhenExhausted?: boolean
}

/** What an answer, or its absence, means for the delivery. */
export type Verdict =
  | { readonly kind: 'accepted' }
  /** Sending the same again is hopeless. */
  | { readonly kind: 'rejected'; readonly errorCode: string; readonly error: string }
  /** The receiver says that it will never take anything again; the channel is notified (`onNotice`). */
  | { readonly kind: 'gone'; readonly errorCode: string; readonly error: string }
  | {
      readonly kind: 'retry'
      readonly errorCode: string
      readonly error: string
      /** The receiver says that it has too much to do: the whole destination pauses. */
      readonly isOverloaded: boolean
      /** The delivery is bound to this key instead and sent again at once: its receiver is well. */
      readonly resignKid?: string
    }

/** Whether a verdict says that the receiver cannot be reached or cannot cope. */
export function isReceiverFailure(verdict: Verdict): boolean {
  return verdict.kind === 'retry' && verdict.resignKid === undefined
}

/** What was sent, for channels whose judgement depends on it. */
export interface SentDelivery {
  readonly delivery: ClaimedDelivery
  readonly token: string | null
}

/** What a channel is notified of a destination in the change that records it. */
export interface DestinationNotice {
  readonly destinationId: DestinationId
  /**
   * `gone`: the receiver wants nothing any more. `exhausted`: a delivery ran out of attempts and is
   * kept all the same.
   */
  readonly kind: 'gone' | 'exhausted'
  readonly error: string
}

/** How many deliveries a destination may get in a time, over all processes. */
export interface DeliveryPace {
  /** How many of the wanted ones may be sent now; when it is none, one may be after `waitMs`. */
  take(
    destinationId: DestinationId,
    wanted: number,
  ): Promise<{ readonly granted: number; readonly waitMs: number }>
  /** Fewer were sent than were granted. */
  giveBack(destinationId: DestinationId, count: number): Promise<void>
}

/** How requests are prepared. */
export interface PrepareOptions {
  /** Access tokens are fetched anew, so that the credentials are tried too. False when left out. */
  readonly hasFreshCredentials?: boolean
}

/** One kind of delivery. */
export interface DeliveryChannel {
  readonly kind: DestinationKind
  /** The name of the log line of an attempt. */
  readonly logEvent: string
  /** Delays before the second and each further attempt; as many retries as entries. */
  readonly retryDelaysMs: readonly number[]
  /** The least wait after a time-out and after 429; retries may come sooner when left out. */
  readonly busyRetryDelayMinMs?: number
  /** The key that deliveries which have none are bound to when they are claimed; null: not signed. */
  claimKid(destinationId: DestinationId): string | null
  /** Destinations are sent to as fast as they take it when left out. */
  readonly pace?: DeliveryPace
  /**
   * One prepared request per delivery, in order, or undefined for one that cannot be sent at the
   * moment, or `ended` for one that the channel has given up in the database; undefined when the destination no longer
   * exists. Rejects when nothing can be done at the moment. The engine tries again later.
   */
  prepare(
    destinationId: DestinationId,
    deliveries: readonly ClaimedDelivery[],
    options?: PrepareOptions,
  ): Promise<readonly (PreparedRequest | 'ended' | undefined)[] | undefined>
  /** What an answer means. Without effects. */
  classify(result: OutboundResult): Verdict
  /**
   * Judges a verdict again with what the channel knows of earlier answers, and learns from this one. Not
   * asked about tests.
   */
  reviseVerdict?(verdict: Verdict, result: OutboundResult, sent: SentDelivery): Verdict
  /**
   * Reacts to what an outcome says about a destination: in the same change, so that both are durable
   * together, at most once per destination and batch. Must bear being notified again. The destination is locked by
   * then: it may lock no delivery that there is already.
   */
  onNotice?(change: Change, notice: DestinationNotice): Promise<void>
  /**
   * Locks the owner of the destination when `onNotice` may change it. Whoever changes an owner, or sends its
   * deliveries again, locks it before the deliveries; so does what records their outcomes.
   */
  lockOwner?(tx: Transaction<Schema>, destinationId: DestinationId): Promise<void>
}
