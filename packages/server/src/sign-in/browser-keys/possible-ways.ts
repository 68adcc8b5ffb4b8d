/*
 * Which ways of the ladder are possible for a sign-in. The key of a browser lets in only for as long after the last
 * live proof as the policy says, only to what takes so little, and only while its device stays registered.
 */
import type { Kysely } from 'kysely'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Fallback } from '../../schema/tables/sign-in-tables.ts'
import { findDeviceOfPerson, findMinimumAssurance } from '../attempts/attempt-facts-read.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { isPersonProven } from '../attempts/person-proven.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { findKeyOfAttempt, type KeyOfAttempt } from './browser-key-store.ts'

/** The ways of the policy, in its order, without what cannot help this sign-in. */
export async function listPossibleWays(
  db: Kysely<Schema>,
  attempt: Attempt,
  at: Date,
): Promise<Fallback[]> {
  const { fallbacks } = await getSignInPolicy(db)
  if (!fallbacks.includes('browser_key')) return fallbacks
  const key = await findKeyThatLetsIn(db, attempt, at)
  return key === undefined ? fallbacks.filter((way) => way !== 'browser_key') : fallbacks
}

/** The key that lets an attempt go on without a proof of its device; undefined where none does. */
export async function findKeyThatLetsIn(
  db: Kysely<Schema>,
  attempt: Attempt,
  at: Date,
): Promise<KeyOfAttempt | undefined> {
  const { fallbacks, browserKeyDays } = await getSignInPolicy(db)
  if (!fallbacks.includes('browser_key')) return undefined
  const key = await findKeyOfAttempt(db, attempt.id)
  if (key === undefined || !key.isRegisteredSince) return undefined
  if (at.getTime() - key.lastProvenAt.getTime() > browserKeyDays * DAY_MS) return undefined
  if ((await findMinimumAssurance(db, attempt.applicationId)) !== 'key') return undefined
  const device = await findDeviceOfPerson(db, key.deviceId, attempt.personId ?? '0')
  if (device?.isAllowed !== true || device.isLeaving) return undefined
  return device.isOwn || isPersonProven(attempt) ? key : undefined
}
