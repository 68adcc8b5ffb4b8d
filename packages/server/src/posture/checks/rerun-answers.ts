/*
 * Waits until a device has run checks again that it was asked to. What a device sends arrives in any process; the one
 * in which somebody waits hears of it from the database, and looks by itself now and then in case that was missed. Owns
 * no question to a device.
 */
import { SECOND_MS } from '../../platform/clock.ts'
import { KeyedWatchers } from '../../platform/keyed-watchers.ts'

/** The channel that tells which devices have run checks again that they were asked to: ids with blanks between. */
export const RERUN_CHANNEL = 'check_rerun'

/** A wait for what one device answers. */
export interface RerunWait {
  /**
   * Whether `isAnswered` holds within the time, asked when the device has answered since the wait began, and every few
   * seconds.
   */
  until(isAnswered: () => Promise<boolean>, timeoutMs: number): Promise<boolean>
  /** Safe to call twice. */
  end(): void
}

/** Who waits in this process. */
export interface RerunAnswers {
  /** Begin before the device is asked, so that no answer is missed. */
  begin(deviceId: string): RerunWait
  /** Takes the payload of a notification. */
  hear(payload: string): void
  /** Notifications may have been missed. */
  hearAll(): void
}

const LOOK_INTERVAL_MS = 2 * SECOND_MS

export function createRerunAnswers(lookIntervalMs = LOOK_INTERVAL_MS): RerunAnswers {
  const watchers = new KeyedWatchers()
  return {
    begin: (deviceId) => beginWait(watchers, deviceId, lookIntervalMs),
    hear: (payload) => {
      for (const deviceId of payload.split(' ')) watchers.hear(deviceId)
    },
    hearAll: () => watchers.hearAll(),
  }
}

function beginWait(watchers: KeyedWatchers, deviceId: string, lookIntervalMs: number): RerunWait {
  let isNews = false
  let wake: (() => void) | undefined
  const end = watchers.watch(deviceId, () => {
    isNews = true
    wake?.()
  })
  async function awaitNews(timeoutMs: number): Promise<void> {
    if (!isNews) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    isNews = false
    wake = undefined
  }
  return {
    async until(isAnswered, timeoutMs) {
      const endsAtMs = performance.now() + timeoutMs
      for (;;) {
        const leftMs = endsAtMs - performance.now()
        if (leftMs <= 0) return false
        await awaitNews(Math.ceil(Math.min(leftMs, lookIntervalMs)))
        if (await isAnswered()) return true
      }
    },
    end,
  }
}
