/*
 * One attempt: sends a prepared delivery once, judges the answer and logs it. Owns what an attempt is, for
 * the dispatcher and for what is sent at once alike; writes nothing to the database.
 */
import type { Clock } from '../../platform/clock.ts'
import type { GuardedClient, OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { toDeliveryOutcome, type DeliveryOutcome, type OutcomeRules } from './delivery-outcome.ts'
import { logAttempt } from './log-attempt.ts'
import type { RandomShare } from './retry-schedule.ts'
import type { PreparedDelivery } from './subject-partitions.ts'

export interface AttemptDependencies {
  readonly clock: Clock
  readonly log: DeliveryLog
  readonly random: RandomShare
  readonly client: Pick<GuardedClient, 'request'>
}

/** How one attempt is made. */
export interface AttemptRules extends OutcomeRules, Pick<DeliveryChannel, 'logEvent'> {
  readonly timeouts: NonNullable<OutboundRequest['timeouts']>
  /** Breaks the request off when the service can wait no longer. */
  readonly signal?: AbortSignal
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
    const requestHeaders = prepared.request.headers
    const outcome = toDeliveryOutcome(
      { delivery, token, requestHeaders, isKeptWhenExhausted, result, startedAt, finishedAt },
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
