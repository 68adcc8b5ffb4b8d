/*
 * What is recorded of an attempt, and the form in which it is stored. How an attempt is made and judged is
 * attempt-delivery.ts's.
 */
import type { Change } from '../../changes/change.ts'
import type { AttemptTimings } from '../../schema/tables/delivery-tables.ts'
import type { OutboundResult, OutboundTimings } from '../../platform/net/outbound-result.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import type { ClaimedDelivery, DestinationNotice, Verdict } from './delivery-channel.ts'

/** Everything that is recorded of one attempt, and the state of the delivery after it. */
export interface DeliveryOutcome {
  readonly delivery: ClaimedDelivery
  readonly verdict: Verdict
  readonly state: 'delivered' | 'dead' | 'discarded' | 'queued'
  /** The wait until the next attempt, from when the outcome is recorded; null when there is none. */
  readonly retryDelayMs: number | null
  /** The pause that the receiver asked for as a whole; 0 for none. */
  readonly pauseMs: number
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly timings: AttemptTimings
  readonly statusCode: number | null
  /** What the channel is to be notified of; null in most cases. */
  readonly notice: OutcomeNotice | null
  readonly requestHeaders: Readonly<Record<string, string>> | null
  readonly responseHeaders: Readonly<Record<string, string>> | null
  readonly responseBody: string | null
  readonly remoteAddress: string | null
  readonly token: string | null
  /** The key that signs it from now on, instead of the one of `token`. */
  readonly resignKid?: string | undefined
}

/** Something to tell a channel in the change that records the outcome. */
export interface OutcomeNotice {
  readonly kind: DestinationNotice['kind']
  /** Locks what owns the destination: before its deliveries, as whoever changes the owner does. */
  lockOwner(change: Change): Promise<void>
  notify(change: Change): Promise<void>
}

/** The sentence and the word that are stored when a verdict is not an acceptance. */
export function errorOf(verdict: Verdict): { errorCode: string | null; error: string | null } {
  if (verdict.kind === 'accepted') return { errorCode: null, error: null }
  return { errorCode: verdict.errorCode, error: verdict.error }
}

/** Stands where the database would not take what an attempt said. */
export const OUTCOME_REFUSED = 'outcome_refused'

/** What the outcome means for its delivery, without anything that others have written and without its notice. */
export function toBareOutcome(outcome: DeliveryOutcome): DeliveryOutcome {
  const { verdict } = outcome
  const error = 'The attempt failed, and the database refused to store what it said'
  return {
    ...outcome,
    verdict:
      verdict.kind === 'accepted' ? verdict : { ...verdict, errorCode: OUTCOME_REFUSED, error },
    notice: null,
    requestHeaders: null,
    responseHeaders: null,
    responseBody: null,
    remoteAddress: null,
  }
}

/** The times of an attempt, those that there are. */
export function toAttemptTimings(timings: OutboundTimings): AttemptTimings {
  const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = timings
  return {
    ...(dnsMs === null ? {} : { dns: rounded(dnsMs) }),
    ...(connectMs === null ? {} : { connect: rounded(connectMs) }),
    ...(tlsMs === null ? {} : { tls: rounded(tlsMs) }),
    ...(firstByteMs === null ? {} : { first_byte: rounded(firstByteMs) }),
    total: rounded(totalMs),
  }
}

/** To hundredths of a millisecond: the clock is no finer, and the text is stored for every attempt. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}

/** The body of an answer as text; null without one. */
export function toStoredBody(result: OutboundResult): string | null {
  if (result.kind === 'failed' || result.body.length === 0) return null
  return toStorableText(result.body.toString('utf8'))
}

/** The first value of a header that may come several times. */
export function singleHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
