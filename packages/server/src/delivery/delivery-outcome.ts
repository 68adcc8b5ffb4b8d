/*
 * From the result of a request to what is recorded of it. Pure.
 */
import type { AttemptTimings } from '../platform/db/schema.ts'
import type { OutboundResult, OutboundTimings } from '../platform/net/outbound-result.ts'
import { toStorableText } from '../platform/storable-text.ts'
import type { ClaimedDelivery, DeliveryChannel, Verdict } from './delivery-channel.ts'
import { findRetryDelayMs, parseRetryAfter, type RandomShare } from './retry-schedule.ts'

/** Everything that is recorded of one attempt, and the state of the delivery after it. */
export interface DeliveryOutcome {
  readonly delivery: ClaimedDelivery
  readonly verdict: Verdict
  readonly state: 'delivered' | 'dead' | 'discarded' | 'queued'
  /** Null when there is no next attempt. */
  readonly nextAttemptAt: Date | null
  /** The pause that the receiver asked for as a whole; 0 for none. */
  readonly pauseMs: number
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly timings: AttemptTimings
  readonly statusCode: number | null
  readonly responseHeaders: Readonly<Record<string, string>> | null
  readonly responseBody: string | null
  readonly remoteAddress: string | null
  readonly token: string | null
}

/** An attempt as the pump saw it. */
export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery
  readonly token: string | null
  readonly result: OutboundResult
  readonly startedAt: Date
  readonly finishedAt: Date
}

const ERROR_LENGTH_MAX = 1_024

/** Judges an attempt: what it means, what state the delivery is in now, when it is tried again. */
export function toDeliveryOutcome(
  attempt: FinishedAttempt,
  channel: Pick<DeliveryChannel, 'classify' | 'retryDelaysMs'>,
  random: RandomShare,
): DeliveryOutcome {
  const { delivery, result, startedAt, finishedAt, token } = attempt
  const verdict = shorten(channel.classify(result))
  const retryAfterMs =
    result.kind === 'response'
      ? parseRetryAfter(singleHeader(result.headers['retry-after']), finishedAt)
      : undefined
  const delayMs =
    verdict.kind === 'retry'
      ? findRetryDelayMs(channel.retryDelaysMs, delivery.attemptCount + 1, retryAfterMs, random)
      : undefined
  return {
    delivery,
    verdict,
    state: verdict.kind === 'accepted' ? 'delivered' : delayMs === undefined ? 'dead' : 'queued',
    nextAttemptAt: delayMs === undefined ? null : new Date(finishedAt.getTime() + delayMs),
    pauseMs: verdict.kind === 'retry' && verdict.isOverloaded ? (retryAfterMs ?? 0) : 0,
    startedAt,
    finishedAt,
    timings: toAttemptTimings(result.timings),
    statusCode: result.status ?? null,
    responseHeaders: verdict.kind === 'accepted' ? null : toStoredHeaders(result),
    responseBody: toStoredBody(result),
    remoteAddress: result.remoteAddress ?? null,
    token,
  }
}

/** The sentence and the word that are stored when a verdict is not an acceptance. */
export function errorOf(verdict: Verdict): { errorCode: string | null; error: string | null } {
  if (verdict.kind === 'accepted') return { errorCode: null, error: null }
  return { errorCode: verdict.errorCode, error: verdict.error }
}

function shorten(verdict: Verdict): Verdict {
  if (verdict.kind === 'accepted') return verdict
  return { ...verdict, error: toStorableText(verdict.error.slice(0, ERROR_LENGTH_MAX)) }
}

function toAttemptTimings(timings: OutboundTimings): AttemptTimings {
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

function toStoredHeaders(result: OutboundResult): Record<string, string> | null {
  if (result.kind === 'failed') return null
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(result.headers)) {
    // Cookies are credentials of the receiver's making, and of no use for understanding an answer.
    if (value === undefined || name === 'set-cookie') continue
    headers[name] = toStorableText(typeof value === 'string' ? value : value.join(', '))
  }
  return headers
}

function toStoredBody(result: OutboundResult): string | null {
  if (result.kind === 'failed' || result.body.length === 0) return null
  return toStorableText(result.body.toString('utf8'))
}

/** The first value of a header that may come several times. */
export function singleHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
