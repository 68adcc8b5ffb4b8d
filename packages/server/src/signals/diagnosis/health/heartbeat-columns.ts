import { MINUTE_MS } from '../../../platform/clock.ts'

/** A week: a rarer sign of life is none. */
export const HEARTBEAT_MINUTES_MAX = 10_080

/** The columns of a stream that wants a heartbeat every `minutes` from now on, or none. */
export function toHeartbeatColumns(minutes: number | null, now: Date) {
  return {
    heartbeat_minutes: minutes,
    heartbeat_due_at: minutes === null ? null : new Date(now.getTime() + minutes * MINUTE_MS),
  }
}
