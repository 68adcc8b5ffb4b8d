import type { Change } from '../../changes/change.ts'
import { conflict } from '../../platform/app-error.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { deviceProven } from '../attempts/know-device.ts'
import { lockAttempt } from '../attempts/move-attempt.ts'
import { findKeyThatLetsIn } from './possible-ways.ts'

/**
 * Goes on by the key of the browser.
 *
 * @throws AppError `not_found`; `conflict` for an attempt at another step, or whose browser has no key that lets it in
 */
export async function takeKeyFallback(change: Change, attemptId: string): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['fallback'])
  const key = await findKeyThatLetsIn(change.tx, attempt, change.now())
  if (key === undefined) throw conflict('This browser holds no key that lets you in.')
  return deviceProven(change, attemptId, {
    deviceId: key.deviceId,
    assurance: 'key',
    evidence: { browser_key: key.id, last_proven_at: key.lastProvenAt.toISOString() },
  })
}
