import type { Clock } from '../../platform/clock.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { toDeliveryOutcome, type DeliveryOutcome } from './delivery-outcome.ts'
import type { DeliverySettings } from './delivery-settings.ts'
import { logAttempt } from './log-attempt.ts'
import type { RandomShare } from './retry-schedule.ts'
import type { HandItem } from './subject-lanes.ts'

export interface AttemptDependencies {
  readonly clock: Clock
  readonly log: DeliveryLog
  readonly random: RandomShare
  readonly client: Pick<GuardedClient, 'request'>
  readonly settings: DeliverySettings
  /** Breaks off what is in flight when the service can wait no longer. */
  readonly signal: AbortSignal
}

/** What became of sending one delivery. */
export type Attempt =
  | { readonly kind: 'finished'; readonly outcome: DeliveryOutcome }
  /** Nothing is known: it goes back, and is due again at this time. */
  | { readonly kind: 'yielded'; readonly notBefore: Date }

/** A request is not begun when its claim might end before it does. */
const LEASE_MARGIN_MS = 5_000
/** After a fault of our own. */
const FAULT_PAUSE_MS = 1_000

/** Sends one delivery once, judges the answer and logs it. Never rejects; writes nothing. */
export async function attemptDelivery(
  { delivery, prepared }: HandItem,
  channel: DeliveryChannel,
  { clock, client, settings, random, log, signal }: AttemptDependencies,
): Promise<Attempt> {
  const startedAt = clock.now()
  const { requestTimeoutMs: totalMs } = settings
  const timeLeftMs = delivery.claimExpiresAt.getTime() - startedAt.getTime()
  if (timeLeftMs < totalMs + LEASE_MARGIN_MS) return { kind: 'yielded', notBefore: startedAt }
  try {
    const timeouts = { headersMs: totalMs, bodyMs: totalMs, totalMs }
    const request = { ...prepared.request, timeouts, signal }
    const result = await (prepared.send?.(request) ?? client.request(request))
    const finishedAt = clock.now()
    if (result.kind === 'failed' && result.stage === 'aborted') {
      return { kind: 'yielded', notBefore: finishedAt }
    }
    const { token, isKeptWhenExhausted } = prepared
    const requestHeaders = prepared.request.headers
    const outcome = toDeliveryOutcome(
      { delivery, token, requestHeaders, isKeptWhenExhausted, result, startedAt, finishedAt },
      channel,
      random,
    )
    logAttempt(log, channel.logEvent, outcome)
    return { kind: 'finished', outcome }
  } catch (error) {
    log.error({ err: error, delivery_id: delivery.id }, 'a delivery failed unexpectedly')
    return { kind: 'yielded', notBefore: new Date(clock.now().getTime() + FAULT_PAUSE_MS) }
  }
}
