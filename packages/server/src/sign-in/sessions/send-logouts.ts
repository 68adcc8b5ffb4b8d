/*
 * Applications are told that a session has ended. The debt was written with the end; what is owed is sent outside of
 * any transaction, by whichever worker, again until it is taken or given up.
 * OpenID Connect Back-Channel Logout 1.0.
 */
import { importJWK, SignJWT } from 'jose'
import type { Foundation } from '../../changes/foundation.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS, toEpochSeconds } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { Outbound } from '../../platform/net/outbound.ts'
import type { SignInKeys } from '../provider/sign-in-keys.ts'
import {
  claimDueLogout,
  clearUnwantedLogouts,
  findNextLogout,
  updateLogoutDue,
  type DueLogout,
} from './logout-store.ts'

export interface SendLogoutsDependencies extends Pick<Foundation, 'db' | 'clock' | 'log'> {
  readonly baseUrl: string
  readonly keys: Pick<SignInKeys, 'current'>
  readonly outbound: Pick<Outbound, 'client'>
}

const CLAIM_MS = MINUTE_MS
const TOKEN_SECONDS = (2 * MINUTE_MS) / SECOND_MS
const RETRIES_MS = [5 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS] as const
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** Tells every application that is to be told, and answers when the next one is. */
export async function sendLogouts(
  dependencies: SendLogoutsDependencies,
): Promise<Date | undefined> {
  const { db, clock } = dependencies
  await clearUnwantedLogouts(db)
  for (;;) {
    const now = clock.now()
    const due = await db
      .transaction()
      .execute(async (tx) => claimDueLogout(tx, now, new Date(now.getTime() + CLAIM_MS)))
    if (due === undefined) return findNextLogout(db)
    const isTold = await tell(dependencies, due)
    await updateLogoutDue(db, due.id, isTold ? null : nextTime(due, clock.now()))
  }
}

/** Null when it was tried often enough. */
function nextTime({ attempts }: DueLogout, now: Date): Date | null {
  const delayMs = RETRIES_MS[attempts]
  return delayMs === undefined ? null : new Date(now.getTime() + delayMs)
}

async function tell(
  { baseUrl, keys, clock, outbound, log }: SendLogoutsDependencies,
  { id, sid, personId, clientId, url }: DueLogout,
): Promise<boolean> {
  try {
    const [key] = await keys.current()
    if (key === undefined) throw new Error('there is no key that signs logout tokens')
    const now = toEpochSeconds(clock.now())
    const token = await new SignJWT({ sid, events: { [EVENT]: {} } })
      .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt', kid: key.kid })
      .setIssuer(`${baseUrl}/sign-in`)
      .setAudience(clientId)
      .setSubject(personId)
      .setIssuedAt(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .setJti(newUuid())
      .sign(await importJWK(key, 'RS256'))
    const response = await createGuardedFetch(outbound.client)(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    })
    if (response.ok) return true
    log.warn({ sessionId: id, status: response.status }, 'an application did not take a logout')
  } catch (error) {
    log.warn({ err: error, sessionId: id }, 'an application could not be told of a logout')
  }
  return false
}
