/*
 * One attempt: sends a prepared delivery once, judges the answer and logs it. Owns what an attempt is and what
 * follows from it, for the dispatcher and for what is sent at once alike; writes nothing to the database.
 */
import type { Clock } from '../../platform/clock.ts'
import type { GuardedClient, OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { toStoredRequestHeaders, toStoredResponseHeaders } from './attempt-headers.ts'
import type { ClaimedDelivery, DeliveryChannel, Verdict } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { DeliverySettings } from './delivery-settings.ts'
import {
  errorOf,
  singleHeader,
  toAttemptTimings,
  toStoredBody,
  type DeliveryOutcome,
  type OutcomeNotice,
} from './delivery-outcome.ts'
import { findRetryDelayMs, parseRetryAfter, type RandomShare } from './retry-schedule.ts'
import type { PreparedDelivery } from './subject-partitions.ts'

export interface AttemptDependencies {
  readonly clock: Clock
  readonly log: DeliveryLog
  readonly random: RandomShare
  readonly client: Pick<GuardedClient, 'request'>
}

/** How the channel judges and repeats. */
type OutcomeRules = Pick<
  DeliveryChannel,
  'classify' | 'reviseVerdict' | 'retryDelaysMs' | 'busyRetryDelayMinMs' | 'onNotice' | 'lockOwner'
>

/** How one attempt is made. */
export interface AttemptRules extends OutcomeRules, Pick<DeliveryChannel, 'logEvent'> {
  readonly timeouts: NonNullable<OutboundRequest['timeouts']>
  /** Breaks the request off when the service can wait no longer. */
  readonly signal?: AbortSignal
}

/** How the deliveries of a destination are attempted. */
export function toAttemptRules(
  channel: OutcomeRules & Pick<DeliveryChannel, 'logEvent'>,
  shared: {
    readonly settings: Pick<DeliverySettings, 'requestTimeoutMs'>
    readonly signal: AbortSignal
  },
): AttemptRules {
  const { requestTimeoutMs: totalMs } = shared.settings
  const timeouts = { headersMs: totalMs, bodyMs: totalMs, totalMs }
  return { ...channel, timeouts, signal: shared.signal }
}

/** An attempt that was answered, or failed. */
interface FinishedAttempt {
  readonly delivery: ClaimedDelivery
  readonly token: string | null
  readonly request: Pick<OutboundRequest, 'headers' | 'openHeaders'>
  readonly isKeptWhenExhausted?: boolean | undefined
  readonly result: OutboundResult
  readonly startedAt: Date
  readonly finishedAt: Date
}

/** What became of an attempt. */
export type Attempt =
  | { readonly kind: 'finished'; readonly outcome: DeliveryOutcome }
  /** Nothing is known of it: the delivery is released, due again after `delayMs`. */
  | { readonly kind: 'unfinished'; readonly delayMs: number }

/** A request is not begun when the lease might end before it does. */
const LEASE_MARGIN_MS = 5_000
/** After a fault of our own. */
const FAULT_PAUSE_MS = 1_000

const ERROR_LENGTH_MAX = 1_024

/** Failures of a receiver that may only have too much to do. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'connect_timeout',
  'headers_timeout',
  'body_timeout',
  'deadline_exceeded',
])

/** Sends one delivery once while its lease allows it. Never rejects. */
export async function attemptDelivery(
  { delivery, prepared }: PreparedDelivery,
  rules: AttemptRules,
  { clock, client, random, log }: AttemptDependencies,
): Promise<Attempt> {
  const { timeouts, signal } = rules
  const leaseLeftMs = delivery.leaseEndsMs - performance.now()
  if (leaseLeftMs < (timeouts.totalMs ?? 0) + LEASE_MARGIN_MS) {
    return { kind: 'unfinished', delayMs: 0 }
  }
  try {
    const request = { ...prepared.request, timeouts, ...(signal === undefined ? {} : { signal }) }
    const startedAt = clock.now()
    const result = await (prepared.send?.(request) ?? client.request(request))
    const finishedAt = clock.now()
    if (result.kind === 'failed' && result.stage === 'aborted') {
      return { kind: 'unfinished', delayMs: 0 }
    }
    const { token, isKeptWhenExhausted } = prepared
    const outcome = toDeliveryOutcome(
      { delivery, token, request, isKeptWhenExhausted, result, startedAt, finishedAt },
      rules,
      random,
    )
    logAttempt(log, rules.logEvent, outcome)
    return { kind: 'finished', outcome }
  } catch (error) {
    log.error({ err: error, delivery_id: delivery.id }, 'a delivery failed unexpectedly')
    return { kind: 'unfinished', delayMs: FAULT_PAUSE_MS }
  }
}

/**
 * Judges an attempt: what it means, what state the delivery is in now, when it is tried again. What
 * was accepted leaves a short record, without headers; there are far more of those.
 */
function toDeliveryOutcome(
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
    requestHeaders: isAccepted ? null : toStoredRequestHeaders(attempt.request),
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
  return {
    kind,
    lockOwner: async ({ tx }) => channel.lockOwner?.(tx, destinationId),
    notify: async (change) => channel.onNotice?.(change, notice),
  }
}

function isBusy(result: OutboundResult): boolean {
  return result.kind === 'failed' ? TIMEOUT_CODES.has(result.code) : result.status === 429
}

function shorten(verdict: Verdict): Verdict {
  if (verdict.kind === 'accepted') return verdict
  return { ...verdict, error: toStorableText(verdict.error.slice(0, ERROR_LENGTH_MAX)) }
}

/** Writes the one log line of an attempt: at `debug` when it was accepted, else at `info`. */
function logAttempt(log: DeliveryLog, event: string, outcome: DeliveryOutcome): void {
  const { delivery, verdict, retryDelayMs, finishedAt } = outcome
  const { errorCode, error } = errorOf(verdict)
  const fields = {
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    destination_id: delivery.destinationId,
    attempt: delivery.attemptCount + 1,
    outcome: outcome.state,
    status: outcome.statusCode,
    duration_ms: outcome.timings.total,
    age_ms: finishedAt.getTime() - delivery.createdAt.getTime(),
  }
  if (verdict.kind === 'accepted') {
    log.debug(fields, event)
    return
  }
  log.info({ ...fields, error_code: errorCode, error, retry_in_ms: retryDelayMs }, event)
}
