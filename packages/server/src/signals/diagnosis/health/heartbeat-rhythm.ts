import { MINUTE_MS } from '../../../platform/clock.ts'

/** A week: a rarer sign of life is none. */
export const HEARTBEAT_MINUTES_MAX = 10_080

/** The rhythm of a stream that wants a heartbeat every `minutes` from now on, or none. */
export function startHeartbeats(minutes: number | null, now: Date) {
  return {
    heartbeatMinutes: minutes,
    heartbeatDueAt: minutes === null ? null : new Date(now.getTime() + minutes * MINUTE_MS),
  }
}
