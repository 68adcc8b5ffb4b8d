/*
 * Who signed in with this browser at an upstream provider before: a cookie that the service has signed, for the time of
 * an outage. It says who somebody is to less than a provider does, and nothing of a device, which is proven all the
 * same.
 */
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import { readSessionCookie, writeSessionCookie } from '../../platform/http/session-cookie.ts'
import { isId } from '../../platform/ids.ts'
import { isEqualSecret } from '../../platform/secrets/keyed-digest.ts'

/** For how long somebody is remembered: over a weekend. */
const REMEMBERED_MS_MAX = 72 * HOUR_MS

/** Who is remembered, and since when. */
interface RememberedPerson {
  readonly personId: string
  readonly upstreamProviderId: string
  readonly at: Date
}

export interface RememberedCookieSite {
  readonly baseUrl: string
  /** What signs; the first signs, all verify. */
  readonly cookieKeys: readonly Buffer[]
}

const NAME = 'heliograph-remembered'

function toCookie(baseUrl: string) {
  const isSecure = baseUrl.startsWith('https:')
  return { name: isSecure ? `__Host-${NAME}` : NAME, isSecure }
}

/** The `Set-Cookie` header by which a browser remembers a person. */
export function writeRemembered(
  { baseUrl, cookieKeys }: RememberedCookieSite,
  { personId, upstreamProviderId, at }: RememberedPerson,
): string {
  const text = `${personId}.${upstreamProviderId}.${at.getTime()}`
  const token = `${text}.${sign(cookieKeys[0] ?? Buffer.alloc(0), text)}`
  return writeSessionCookie(toCookie(baseUrl), token, REMEMBERED_MS_MAX / SECOND_MS)
}

/** Whom a browser remembers that was proven by this upstream provider, unless that is too long ago. */
export function readRemembered(
  { baseUrl, cookieKeys }: RememberedCookieSite,
  headers: IncomingHttpHeaders,
  upstreamProviderId: string,
  now: Date,
): RememberedPerson | undefined {
  const token = readSessionCookie(headers, toCookie(baseUrl)) ?? ''
  const [personId = '', providerId = '', time = '', signature = ''] = token.split('.')
  const text = `${personId}.${providerId}.${time}`
  if (!cookieKeys.some((key) => isEqualSecret(sign(key, text), signature))) return undefined
  const ageMs = now.getTime() - Number(time)
  const isGood = providerId === upstreamProviderId && ageMs >= 0 && ageMs <= REMEMBERED_MS_MAX
  return isGood && isId(personId)
    ? { personId, upstreamProviderId, at: new Date(Number(time)) }
    : undefined
}

function sign(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(`remembered person ${text}`).digest('base64url')
}
