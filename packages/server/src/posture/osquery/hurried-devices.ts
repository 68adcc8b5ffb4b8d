/*
 * Devices that somebody waits for: their owner is signing in. For that time they are held longer and asked to come
 * back sooner. Every process is told and keeps it in memory; one that missed it is slower and nothing else.
 */
import { MINUTE_MS, type Clock } from '../../platform/clock.ts'
import type { CommitSink } from '../../platform/db/commit-notifier.ts'
import { isId } from '../../platform/ids.ts'

/** The channel that tells all processes which devices are hurried. */
export const HURRY_CHANNEL = 'device_hurry'

/** Longer than any sign-in takes. */
const HURRY_MS_MAX = 15 * MINUTE_MS
const DEVICES_PER_NOTIFICATION = 200
const HURRIED_MAX = 100_000

/** Has these devices held longer and come back sooner until a time, 15 minutes ahead at most, in every process. */
export function hurryDevices(
  notifier: CommitSink,
  deviceIds: readonly string[],
  untilMs: number,
): void {
  for (let start = 0; start < deviceIds.length; start += DEVICES_PER_NOTIFICATION) {
    const some = deviceIds.slice(start, start + DEVICES_PER_NOTIFICATION)
    notifier.tell(HURRY_CHANNEL, [`${Math.ceil(untilMs)} ${some.join(' ')}`])
  }
}

/** What this process knows of them. */
export interface HurriedDevices {
  /** Takes the payload of a notification. */
  note(payload: string): void
  isHurried(deviceId: string): boolean
}

export function createHurriedDevices(clock: Clock): HurriedDevices {
  const untilMs = new Map<string, number>()

  function forgetPast(nowMs: number): void {
    for (const [deviceId, until] of untilMs) if (until <= nowMs) untilMs.delete(deviceId)
  }

  return {
    note(payload) {
      const [untilText, ...deviceIds] = payload.split(' ')
      const nowMs = clock.now().getTime()
      const until = Math.min(Number(untilText), nowMs + HURRY_MS_MAX)
      if (!(until > nowMs)) return
      if (untilMs.size + deviceIds.length > HURRIED_MAX) forgetPast(nowMs)
      for (const deviceId of deviceIds) {
        const isFull = untilMs.size >= HURRIED_MAX && !untilMs.has(deviceId)
        if (isFull || !isId(deviceId)) continue
        untilMs.set(deviceId, Math.max(until, untilMs.get(deviceId) ?? 0))
      }
    },
    isHurried(deviceId) {
      const until = untilMs.get(deviceId)
      if (until === undefined) return false
      const nowMs = clock.now().getTime()
      // A time farther ahead than any is of a clock that was set back.
      if (until > nowMs && until - nowMs <= HURRY_MS_MAX) return true
      untilMs.delete(deviceId)
      return false
    },
  }
}
