/*
 * The cookie that carries the token of a session, and the proof that a request with it was sent by a page of the
 * service itself. RFC 6265bis; Fetch Metadata Request Headers (W3C).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../app-error.ts'

/** A cookie that scripts cannot read and other hosts cannot set. */
export interface SessionCookie {
  /** Begins with `__Host-` over HTTPS. */
  readonly name: string
  readonly isSecure: boolean
}

/** What tells the own pages from those of others. */
export interface OwnPages {
  /** What browsers call the service. */
  readonly origins: readonly string[]
  /** Lower case. A page of another site cannot send it: the browser would ask the service first. */
  readonly proofHeader: string
}

/** The value of the `Cookie` header that the session has; undefined without one. */
export function readSessionCookie(
  { cookie }: IncomingHttpHeaders,
  { name }: SessionCookie,
): string | undefined {
  for (const pair of cookie?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** The `Set-Cookie` header that has a browser carry `token` for so many seconds; 0 ends it. */
export function writeSessionCookie(
  { name, isSecure }: SessionCookie,
  token: string,
  maxAgeSeconds: number,
): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly${secure}; SameSite=Lax`
}

const READS: readonly string[] = ['GET', 'HEAD']

/**
 * Refuses a request that the browser of a person who is signed in was made to send by another site: a write
 * without the proof of the own pages, and a read by a script of another site.
 *
 * @throws AppError `cross_site_request`
 */
export function assertOwnPage(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  pages: OwnPages,
): void {
  if (READS.includes(method)) {
    if (!isForeignScript(headers)) return
    throw crossSite('A page of another site sent it.')
  }
  if (!isSameOrigin(headers, pages.origins)) throw crossSite('A page of another site sent it.')
  if (headers[pages.proofHeader] !== '1') {
    throw crossSite(`It lacks the header "${pages.proofHeader}: 1".`)
  }
}

/** A link on another site may be followed; its answer is then shown, and no script of the site reads it. */
function isForeignScript(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return (site === 'cross-site' || site === 'same-site') && headers['sec-fetch-mode'] !== 'navigate'
}

/** Browsers of before 2023 send no Fetch Metadata; every one sends the origin with a write. */
function isSameOrigin(headers: IncomingHttpHeaders, origins: readonly string[]): boolean {
  const site = headers['sec-fetch-site'] ?? 'none'
  if (site === 'same-origin') return true
  const { origin } = headers
  return site === 'none' && origin !== undefined && origins.includes(origin)
}

function crossSite(reason: string): AppError {
  return new AppError('cross_site_request', `The request does not come from the console. ${reason}`)
}
