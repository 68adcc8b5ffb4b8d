import type { DeliveryLog } from './delivery-log.ts'
import { errorOf, type DeliveryOutcome } from './delivery-outcome.ts'

/** Writes the one log line of an attempt: at `debug` when it was accepted, else at `info`. */
export function logAttempt(log: DeliveryLog, event: string, outcome: DeliveryOutcome): void {
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
