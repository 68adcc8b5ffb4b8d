/*
 * What a proxy says of the request that it asks about. Each proxy has headers of its own; a client may send those of
 * another one along. So everything that is said must say the same, and what is missing or contradicts is no request.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isNavigation } from '../../platform/http/is-navigation.ts'
import { readSessionCookie } from '../../platform/http/session-cookie.ts'
import { SITE_COOKIE_VALUE, toSite, toSiteAddress, type Site } from './site.ts'
import { toSiteCookie } from './site-cookie-input.ts'
import { TICKET_PARAMETER } from './site-ticket.ts'

/** A request to a site. */
export interface ForwardedRequest {
  readonly site: Site
  /** Where it goes, without the ticket. */
  readonly address: string
  /** As it came; undefined without one. */
  readonly ticket: string | undefined
  /** What the cookie of the site holds; undefined for what none of ours holds. */
  readonly cookie: string | undefined
  /** Whether a browser asks for a page, by GET: it can be sent elsewhere. */
  readonly isPage: boolean
  /** Whether the proxy itself makes redirections out of refusals, as nginx does, which relays none. */
  readonly isRedirectedByProxy: boolean
}

/** A request as the proxy sends it. */
export interface ProxyRequest {
  readonly headers: IncomingHttpHeaders
  readonly method: string
  /** Of the request to this service, with its query. */
  readonly url: string
}

/** What a proxy said, in one of its ways. */
interface Told {
  readonly scheme?: string | undefined
  readonly host?: string | undefined
  readonly path?: string | undefined
}

/** Envoy asks at this address with that of the request behind it. */
export const ENVOY_PATH = '/sign-in/auth/envoy'

const ORIGINAL_URL = /^([a-z]+):\/\/([^/?#]+)([^#]*)$/i
const PATH_LENGTH_MAX = 8_192

/** Reads what is asked about; undefined when a proxy does not say it, or says several things. */
export function readForwardedRequest(
  request: ProxyRequest,
  baseUrl: string,
): ForwardedRequest | undefined {
  const { headers } = request
  const { scheme, host, path } = join(readSources(request, baseUrl)) ?? {}
  if (scheme === undefined || host === undefined || path === undefined) return undefined
  if (path.length > PATH_LENGTH_MAX) return undefined
  const site = toSite(scheme, host, baseUrl)
  if (site === undefined) return undefined
  const { clean, ticket } = takeTicket(encodeBytes(path))
  const address = toSiteAddress(site, clean)
  if (address === undefined) return undefined
  const cookie = readSessionCookie(headers, toSiteCookie(baseUrl))
  return {
    site,
    address,
    ticket,
    cookie: cookie !== undefined && SITE_COOKIE_VALUE.test(cookie) ? cookie : undefined,
    isPage: methodOf(request) === 'GET' && isNavigation(headers),
    isRedirectedByProxy: headers['x-original-url'] !== undefined,
  }
}

function readSources(request: ProxyRequest, baseUrl: string): Told[] {
  const { headers, url } = request
  const forwarded = {
    scheme: schemeOf(textOf(headers['x-forwarded-proto'])),
    host: textOf(headers['x-forwarded-host']),
    path: textOf(headers['x-forwarded-uri']),
  }
  const original = textOf(headers['x-original-url'])
  const sources: Told[] = [forwarded]
  if (original !== undefined) {
    const [, scheme = '', host = '', path = ''] = ORIGINAL_URL.exec(original) ?? []
    sources.push({ scheme: scheme.toLowerCase(), host, path })
  }
  if (isEnvoy(url)) {
    const scheme = forwarded.scheme ?? baseUrl.slice(0, baseUrl.indexOf(':'))
    const path = url.slice(ENVOY_PATH.length)
    sources.push({ scheme, host: headers.host, path: path.startsWith('/') ? path : `/${path}` })
  }
  return sources
}

function isEnvoy(url: string): boolean {
  return url.startsWith(ENVOY_PATH)
}

/** What all sources say together; undefined where two differ. */
function join(sources: readonly Told[]): Told | undefined {
  let joined: Told = {}
  for (const source of sources) {
    for (const name of ['scheme', 'host', 'path'] as const) {
      const said = source[name]
      if (said === undefined) continue
      if (joined[name] !== undefined && joined[name] !== said) return undefined
      joined = { ...joined, [name]: said }
    }
  }
  return joined
}

/** Proxies name the scheme of a websocket by its own word. */
function schemeOf(text: string | undefined): string | undefined {
  if (text === 'wss') return 'https'
  return text === 'ws' ? 'http' : text
}

function methodOf({ headers, method, url }: ProxyRequest): string {
  if (isEnvoy(url)) return method
  return textOf(headers['x-forwarded-method']) ?? textOf(headers['x-original-method']) ?? 'GET'
}

/** A header that was sent twice is none. An empty one was not sent: that is how proxies take one away. */
function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined
}

/** Bytes that are no ASCII come as Latin-1. */
function encodeBytes(path: string): string {
  return path.replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
}

/** Everything else of an address stays as it is. */
function takeTicket(path: string): { readonly clean: string; readonly ticket: string | undefined } {
  const at = path.indexOf('?')
  if (at < 0) return { clean: path, ticket: undefined }
  const isTicket = (pair: string) => pair.startsWith(`${TICKET_PARAMETER}=`)
  const pairs = path.slice(at + 1).split('&')
  const [ticket, ...others] = pairs.filter(isTicket)
  const rest = pairs.filter((pair) => !isTicket(pair))
  return {
    clean: path.slice(0, at) + (rest.length === 0 ? '' : `?${rest.join('&')}`),
    // Of several none is good.
    ticket: others.length > 0 ? '' : ticket?.slice(TICKET_PARAMETER.length + 1),
  }
}
