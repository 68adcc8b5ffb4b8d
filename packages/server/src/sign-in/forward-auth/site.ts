/*
 * Sites behind proxies that ask here about each request: what they are called, and how a browser is known at one. A
 * site knows a browser by one cookie. Before somebody has signed in, its value ties the sign-in to the browser; then it
 * is the token of the session, good at this site alone.
 */
import { createHash } from 'node:crypto'

/** Where a site is. */
export interface Site {
  /** Such as `https://wiki.example.com`. */
  readonly origin: string
  /** With its port where that is not the usual one, as applications name it. */
  readonly host: string
}

const HOST = /^[a-z0-9.-]{1,253}(?::\d{1,5})?$/i

/**
 * The site of a scheme and a host; undefined for what is none. Plain HTTP is taken where the service itself speaks it,
 * which it does on loopback addresses only.
 */
export function toSite(scheme: string, host: string, baseUrl: string): Site | undefined {
  const isTaken = scheme === 'https' || (scheme === 'http' && baseUrl.startsWith('http:'))
  if (!isTaken || !HOST.test(host) || !URL.canParse(`${scheme}://${host}`)) return undefined
  const url = new URL(`${scheme}://${host}`)
  return { origin: url.origin, host: url.host }
}

/** An address within a site; undefined for what would lead out of it. `path` is as the request had it. */
export function toSiteAddress({ origin }: Site, path: string): string | undefined {
  if (!path.startsWith('/') || !URL.canParse(origin + path)) return undefined
  const url = new URL(origin + path)
  return url.origin === origin && url.username === '' ? url.href : undefined
}

/** What a cookie of a site holds. */
export const SITE_COOKIE_VALUE = /^[\w-]{43}$/

/** By what the value of a cookie is told to the service before somebody has signed in: it does not reveal it. */
export function hashSiteState({ origin }: Site, value: string): string {
  return createHash('sha256').update(`site state ${origin} ${value}`).digest('base64url')
}

/** By what a session is found that a cookie of this site holds: at another site the same value finds none. */
export function hashSiteToken({ origin }: Site, value: string): Buffer {
  return createHash('sha256').update(`site session ${origin} ${value}`).digest()
}
