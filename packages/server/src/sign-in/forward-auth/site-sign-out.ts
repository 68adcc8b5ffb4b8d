/*
 * How somebody leaves a site: an address of the site, at which its cookie tells which session it is, leads to the page
 * of the service that asks and ends it. The session is named there by a ticket, for the cookie is the site's alone.
 */
import { MINUTE_MS } from '../../platform/clock.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import type { ForwardedRequest } from './forwarded-request-input.ts'
import { openSiteTicket, signSiteTicket } from './site-ticket.ts'

/** The page that asks. What it is about stands in the path: another language changes the query. */
export const SIGN_OUT_PATH = '/sign-in/sign-out/:site/:ticket'
/** The page that says that it is done. */
export const SIGNED_OUT_PATH = '/sign-in/signed-out'

/** The address of every site at which people leave it. */
const SITE_PATH = '/.heliograph/sign-out'
/** As long as somebody may think about it. */
const LIFETIME_MS = 10 * MINUTE_MS
/** What a ticket is for that ends a session; one that opens a site has the hash of a cookie here. */
const STATE = 'sign-out'

/** A session at a site. */
interface Leaving {
  readonly sessionId: string
  readonly origin: string
}

/** Whether a request to a site is for its address for leaving. */
export function isSignOut({ address }: Pick<ForwardedRequest, 'address'>): boolean {
  return new URL(address).pathname === SITE_PATH
}

/** Where people of a site leave it. */
export function siteSignOutAddress(origin: string): string {
  return `${origin}${SITE_PATH}`
}

/** Where the session is ended; good for ten minutes. */
export function signOutAddress(
  baseUrl: string,
  leaving: Leaving,
  keys: MasterKeys,
  now: Date,
): string {
  const ticket = signSiteTicket({ ...leaving, state: STATE }, keys, now, LIFETIME_MS)
  const site = Buffer.from(leaving.origin).toString('base64url')
  return baseUrl + SIGN_OUT_PATH.replace(':site', site).replace(':ticket', ticket)
}

/** The session that the parameters of such an address are for; undefined for one that is not good now. */
export function openSignOut(
  { site = '', ticket = '' }: Readonly<Record<string, string>>,
  keys: MasterKeys,
  now: Date,
): Leaving | undefined {
  const origin = Buffer.from(site, 'base64url').toString()
  const sessionId = openSiteTicket(ticket, { origin, state: STATE }, keys, now)
  return sessionId === undefined ? undefined : { sessionId, origin }
}
