/*
 * How a migration gets the locks that it needs beside processes that serve. Whoever uses a table waits behind a
 * migration that waits for it, so that it waits for a moment at a time and begins anew.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../platform/clock.ts'
import { errorCodeOf } from '../platform/error-code-of.ts'

/** To be the `lock_timeout` of the work. */
export const LOCK_TIMEOUT_MS = 2 * SECOND_MS
const PAUSE_MS = SECOND_MS
/** Half a minute of waiting and pauses, however long the work takes before it meets the lock. */
const TRIES_MAX = (30 * SECOND_MS) / (LOCK_TIMEOUT_MS + PAUSE_MS)
/** PostgreSQL, appendix A: lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Tries again what was not given the locks that it needs; nothing of it was done. Throws what the last try does when a
 * lock is not to be had, as while a backup is written.
 */
export async function withLocks<Result>(
  work: () => Promise<Result>,
  pause: () => Promise<unknown> = () => sleep(PAUSE_MS),
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const isLocked = error instanceof Error && errorCodeOf(error.cause) === LOCK_NOT_AVAILABLE
      if (!isLocked || tries >= TRIES_MAX) throw error
      await pause()
    }
  }
}
