/*
 * The cookie that the requests to the ports of a proof carry, and which requests are those of the page that signs in.
 * RFC 6265bis; Fetch Metadata Request Headers (W3C).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { readSessionCookie, type SessionCookie } from '../../platform/http/session-cookie.ts'
import { isEqualSecret } from '../../platform/secrets/keyed-digest.ts'
import type { ProbeLease } from './probe-lease-store.ts'
import { hashProofSecret } from './start-proof.ts'

const PROBE_PATH = /^\/sign-in\/probe\/([\w-]{43})$/

/** Where the ports of a proof are opened, before the token. */
export const PROBE_PREFIX = '/sign-in/probe/'

/** The cookie of an attempt; two attempts of one browser have one each. */
export function toProofCookie(attemptId: string, baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:')
  const name = `heliograph-proof-${attemptId.slice(0, 8)}`
  return { name: isSecure ? `__Host-${name}` : name, isSecure }
}

/** The `Set-Cookie` header of a proof: no page of another site can have it sent. */
export function writeProofCookie(
  cookie: SessionCookie,
  value: string,
  maxAgeSeconds: number,
): string {
  const secure = cookie.isSecure ? '; Secure' : ''
  return `${cookie.name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly${secure}; SameSite=Strict`
}

/** A request to a port of a proof. */
export interface ProbeRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/** Why a request is not the one of the page that signs in. */
export type ForeignReason = 'method' | 'path' | 'origin' | 'site' | 'cookie' | 'token'

/** What is wrong with a request to a leased port; undefined for the one of the page that signs in. */
export function findForeignReason(
  { method, url, headers }: ProbeRequest,
  lease: Pick<ProbeLease, 'attemptId' | 'tokenHash' | 'cookieHash'>,
  baseUrl: string,
): ForeignReason | undefined {
  if (method !== 'GET') return 'method'
  const token = PROBE_PATH.exec(url)?.[1]
  if (token === undefined) return 'path'
  if (headers.origin !== baseUrl) return 'origin'
  // Another port of the same name is another origin of the same site. Browsers of before 2023 send no such header.
  const site = headers['sec-fetch-site'] ?? 'same-site'
  if (site !== 'same-site' && site !== 'same-origin') return 'site'
  const cookie = readSessionCookie(headers, toProofCookie(lease.attemptId, baseUrl))
  if (cookie === undefined || !isSecretOf(cookie, lease.cookieHash)) return 'cookie'
  return isSecretOf(token, lease.tokenHash) ? undefined : 'token'
}

function isSecretOf(secret: string, hash: Buffer): boolean {
  return isEqualSecret(hashProofSecret(secret).toString('hex'), hash.toString('hex'))
}
