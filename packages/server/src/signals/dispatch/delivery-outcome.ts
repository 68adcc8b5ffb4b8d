/*
 * From the result of a request to what is recorded of it. Pure.
 */
import type { Change } from '../../changes/change.ts'
import type { AttemptTimings } from '../../schema/tables/delivery-tables.ts'
import type { OutboundResult, OutboundTimings } from '../../platform/net/outbound-result.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import type {
  ClaimedDelivery,
  DeliveryChannel,
  DestinationNotice,
  Verdict,
} from './delivery-channel.ts'
import { toStoredRequestHeaders, toStoredResponseHeaders } from './attempt-headers.ts'
import { findRetryDelayMs, parseRetryAfter, type RandomShare } from './retry-schedule.ts'

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
  /** What the channel is to be told of the destination; null in most cases. */
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
  tell(change: Change): Promise<void>
}

/** An attempt that was answered, or failed. */
export interface FinishedAttempt {
  readonly delivery: ClaimedDelivery
  readonly token: string | null
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined
  readonly isKeptWhenExhausted?: boolean | undefined
  readonly result: OutboundResult
  readonly startedAt: Date
  readonly finishedAt: Date
}

const ERROR_LENGTH_MAX = 1_024

/** Failures of a receiver that may only have too much to do. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'connect_timeout',
  'headers_timeout',
  'body_timeout',
  'deadline_exceeded',
])

/** How the channel judges and repeats. */
export type OutcomeRules = Pick<
  DeliveryChannel,
  'classify' | 'reviseVerdict' | 'retryDelaysMs' | 'busyRetryDelayMinMs' | 'onNotice'
>

/**
 * Judges an attempt: what it means, what state the delivery is in now, when it is tried again. What
 * was accepted leaves a short record, without headers; there are far more of those.
 */
export function toDeliveryOutcome(
  attempt: FinishedAttempt,
  channel: OutcomeRules,
  random: RandomShare,
): DeliveryOutcome {
  const { delivery, result, startedAt, finishedAt, token } = attempt
  const classified = channel.classify(result)
  const verdict = shorten(
    channel.reviseVerdict?.(classified, result, { delivery, token }) ?? classified,
  )
  const { delayMs, pauseMs, isExhausted, resignKid } = planRetry(attempt, verdict, channel, random)
  const isAccepted = verdict.kind === 'accepted'
  return {
    delivery,
    verdict,
    state: isAccepted ? 'delivered' : delayMs === undefined ? 'dead' : 'queued',
    retryDelayMs: delayMs ?? null,
    pauseMs,
    startedAt,
    finishedAt,
    timings: toAttemptTimings(result.timings),
    statusCode: result.status ?? null,
    notice: toNotice(channel, delivery, verdict, isExhausted),
    requestHeaders: isAccepted ? null : toStoredRequestHeaders(attempt.requestHeaders ?? {}),
    responseHeaders: isAccepted ? null : toStoredResponseHeaders(result),
    responseBody: toStoredBody(result),
    remoteAddress: result.remoteAddress ?? null,
    token: resignKid === undefined ? token : null,
    resignKid,
  }
}

interface RetryPlan {
  /** Undefined when there is no next attempt. */
  readonly delayMs: number | undefined
  readonly pauseMs: number
  readonly isExhausted: boolean
  readonly resignKid?: string | undefined
}

const NO_RETRY: RetryPlan = { delayMs: undefined, pauseMs: 0, isExhausted: false }

function planRetry(
  { delivery, result, finishedAt, isKeptWhenExhausted }: FinishedAttempt,
  verdict: Verdict,
  { retryDelaysMs, busyRetryDelayMinMs }: OutcomeRules,
  random: RandomShare,
): RetryPlan {
  if (verdict.kind !== 'retry') return NO_RETRY
  const { resignKid, isOverloaded } = verdict
  const retryAfterMs =
    result.kind === 'response'
      ? parseRetryAfter(singleHeader(result.headers['retry-after']), finishedAt)
      : undefined
  const pauseMs = isOverloaded ? (retryAfterMs ?? 0) : 0
  // What is signed anew goes out at once, also when it was the last attempt of the schedule.
  if (resignKid !== undefined) return { delayMs: 0, pauseMs, isExhausted: false, resignKid }
  const isExhausted = isKeptWhenExhausted === true && delivery.attemptCount >= retryDelaysMs.length
  const attemptCount = isExhausted ? retryDelaysMs.length : delivery.attemptCount + 1
  const floorMs = isBusy(result) ? busyRetryDelayMinMs : undefined
  const delayMs = findRetryDelayMs(retryDelaysMs, attemptCount, { retryAfterMs, floorMs }, random)
  return { delayMs, pauseMs, isExhausted }
}

function toNotice(
  channel: OutcomeRules,
  { destinationId }: ClaimedDelivery,
  verdict: Verdict,
  isExhausted: boolean,
): OutcomeNotice | null {
  if (verdict.kind === 'accepted' || channel.onNotice === undefined) return null
  if (verdict.kind !== 'gone' && !isExhausted) return null
  const kind = isExhausted ? 'exhausted' : 'gone'
  const notice = { destinationId, kind, error: verdict.error } as const
  return { kind, tell: async (change) => channel.onNotice?.(change, notice) }
}

function isBusy(result: OutboundResult): boolean {
  return result.kind === 'failed' ? TIMEOUT_CODES.has(result.code) : result.status === 429
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

function toStoredBody(result: OutboundResult): string | null {
  if (result.kind === 'failed' || result.body.length === 0) return null
  return toStorableText(result.body.toString('utf8'))
}

/** The first value of a header that may come several times. */
export function singleHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
