/*
 * The decision about a request to a site: let in, sent to sign in, taken back from there, or refused. Nothing but a
 * session that is good now lets anybody in; whatever else happens, a fault among it, lets nobody in.
 */
import type { Foundation } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { newSecret } from '../../platform/ids.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import { findApplicationOfHost } from '../applications/application-store.ts'
import { ATTEMPT_LIFETIME_MS } from '../attempts/move-attempt.ts'
import type { ForwardedRequest } from './forwarded-request-input.ts'
import { isSignOut, SIGNED_OUT_PATH, signOutAddress } from './site-sign-out.ts'
import { hashSiteState, hashSiteToken } from './site.ts'
import { findSiteSession, updateSiteSessionCookie, type SiteSession } from './site-session-store.ts'
import { openSiteTicket } from './site-ticket.ts'

export interface SiteContext extends Pick<Foundation, 'db' | 'clock'> {
  readonly baseUrl: string
  readonly masterKeys: MasterKeys
}

/** What the cookie of a site is to hold, and for how long. */
export interface SiteCookie {
  readonly value: string
  readonly seconds: number
}

export type SiteVerdict =
  | { readonly kind: 'let_in'; readonly session: SiteSession }
  | { readonly kind: 'redirect'; readonly to: string; readonly cookie: SiteCookie | undefined }
  | { readonly kind: 'not_signed_in' }
  | { readonly kind: 'refused'; readonly code: SiteRefusal }

/** Why nobody can sign in either. */
export type SiteRefusal = 'site_unknown' | 'ticket_spent'

/** Longer than a sign-in may take, and the minute of its ticket. */
const STATE_SECONDS = (2 * ATTEMPT_LIFETIME_MS) / SECOND_MS
/** What is longer is not gone back to: people then begin at the first page. nginx takes 4 kB of headers. */
const START_LENGTH_MAX = 2_048

export async function judgeForwarded(
  context: SiteContext,
  asked: ForwardedRequest,
): Promise<SiteVerdict> {
  const { db, clock } = context
  const { site, address, cookie, isPage, ticket } = asked
  const now = { host: site.host, at: clock.now() }
  const session =
    cookie === undefined ? undefined : await findSiteSession(db, hashSiteToken(site, cookie), now)
  if (isPage && isSignOut(asked)) return signOut(context, asked, session)
  const isBack = ticket !== undefined && isPage
  if (session !== undefined) {
    return isBack
      ? { kind: 'redirect', to: address, cookie: undefined }
      : { kind: 'let_in', session }
  }
  if (isBack) return redeem(context, asked, ticket)
  if ((await findApplicationOfHost(db, site.host)) === undefined) {
    return { kind: 'refused', code: 'site_unknown' }
  }
  return isPage ? sendToSignIn(context, asked) : { kind: 'not_signed_in' }
}

/**
 * Somebody leaves. Only the page of the service, which asks first, ends a session: its address can be opened by any
 * site. A cookie that opens nothing any more goes.
 */
function signOut(
  { baseUrl, masterKeys, clock }: SiteContext,
  { site: { origin }, cookie }: ForwardedRequest,
  session: SiteSession | undefined,
): SiteVerdict {
  if (session !== undefined) {
    const to = signOutAddress(baseUrl, { sessionId: session.id, origin }, masterKeys, clock.now())
    return { kind: 'redirect', to, cookie: undefined }
  }
  const to = `${baseUrl}${SIGNED_OUT_PATH}`
  return { kind: 'redirect', to, cookie: cookie === undefined ? undefined : NO_COOKIE }
}

const NO_COOKIE: SiteCookie = { value: '', seconds: 0 }

/** The value of a cookie that there is stays: another page of the same browser may be signing in. */
function sendToSignIn(
  { baseUrl }: SiteContext,
  { site, address, cookie }: ForwardedRequest,
): SiteVerdict {
  const value = cookie ?? newSecret()
  const state = hashSiteState(site, value)
  const start = (rd: string) =>
    `${baseUrl}/sign-in/start?${new URLSearchParams({ rd, state }).toString()}`
  const whole = start(address)
  const to = whole.length > START_LENGTH_MAX ? start(`${site.origin}/`) : whole
  return { kind: 'redirect', to, cookie: { value, seconds: STATE_SECONDS } }
}

/** A ticket that is not good leads nowhere by itself: a browser that keeps no cookies would come back for ever. */
async function redeem(
  { db, clock, masterKeys }: SiteContext,
  { site, address, cookie }: ForwardedRequest,
  ticket: string,
): Promise<SiteVerdict> {
  const spent: SiteVerdict = { kind: 'refused', code: 'ticket_spent' }
  if (cookie === undefined) return spent
  const at = clock.now()
  const use = { origin: site.origin, state: hashSiteState(site, cookie) }
  const sessionId = openSiteTicket(ticket, use, masterKeys, at)
  if (sessionId === undefined) return spent
  const value = newSecret()
  const given = { id: sessionId, cookieHash: hashSiteToken(site, value) }
  const expiresAt = await updateSiteSessionCookie(db, given, { host: site.host, at })
  if (expiresAt === undefined) return spent
  const seconds = Math.ceil((expiresAt.getTime() - at.getTime()) / SECOND_MS)
  return { kind: 'redirect', to: address, cookie: { value, seconds } }
}
