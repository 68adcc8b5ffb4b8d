/*
 * Signing in to a site: from the proxy in front of it here, and back with a ticket. Owns that nobody is sent to a host
 * that no application has, and that a ticket is made once for each sign-in.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import { findApplicationOfHost, type SignInApplication } from '../applications/application-store.ts'
import { getHeldAttempt, writeAttemptCookie } from '../attempts/attempt-cookie-input.ts'
import { updateAttemptReturned, type Attempt } from '../attempts/attempt-store.ts'
import { beginAttempt } from '../attempts/begin-attempt.ts'
import { attemptPath } from '../pages/attempt/attempt-path.ts'
import type { PageAnswer, PageRequest, PageRoute } from '../pages/page-surface.ts'
import { findGrantedSession } from '../sessions/granted-session-store.ts'
import { beginUpstream, type UpstreamSignInDependencies } from '../upstreams/upstream-sign-in.ts'
import { signSiteTicket, TICKET_PARAMETER } from './site-ticket.ts'
import { toSite, toSiteAddress, type Site } from './site.ts'

export interface StartContext extends Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  readonly baseUrl: string
  readonly masterKeys: MasterKeys
  readonly upstream: UpstreamSignInDependencies
}

const PATH = '/sign-in/start'
const URL_LENGTH_MAX = 8_192
const STATE = /^[\w-]{43}$/
const PARTS_OF_URL = /^(https?):\/\/([^/?#\\]+)(\/[^#]*)?$/i

/** Where proxies send browsers, and where their sign-in ends. */
export function startRoutes(context: StartContext): PageRoute[] {
  return [
    { method: 'GET', path: PATH, handler: async (request) => begin(context, request) },
    { method: 'GET', path: `${PATH}/finish`, handler: async (request) => finish(context, request) },
  ]
}

/** A place of a site, with the application that the site belongs to. */
interface Place {
  readonly site: Site
  readonly address: string
  readonly application: SignInApplication
}

async function begin(context: StartContext, request: PageRequest): Promise<PageAnswer> {
  const { runChange, baseUrl, upstream } = context
  const { query, headers, address: ipAddress, language } = request
  const { address, application } = await getPlace(context, query['rd'])
  const { state } = query
  if (typeof state !== 'string' || !STATE.test(state)) {
    throw invalid('Open the address of the site; it leads here when it is time to sign in.')
  }
  const begun = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    beginAttempt(change, {
      applicationId: application.id,
      interaction: { kind: 'forward_auth', url: address, state },
      loginHint: null,
      language,
      ipAddress,
      userAgent: headers['user-agent'] ?? null,
    }),
  )
  const cookies = [writeAttemptCookie(begun.attempt.id, begun.secret, baseUrl)]
  const to = await beginUpstream(upstream, begun, application, headers)
  return { kind: 'see_other', to: to ?? attemptPath(begun.attempt.id), cookies }
}

/** Back to the site: with a ticket the first time, where the sign-in was granted; otherwise it may begin again. */
async function finish(context: StartContext, { query, headers }: PageRequest): Promise<PageAnswer> {
  const { attempt: id } = query
  const { attempt } = await getHeldAttempt(context, headers, typeof id === 'string' ? id : '')
  const { interaction } = attempt
  if (interaction.kind !== 'forward_auth')
    throw conflict('This sign-in belongs to another request.')
  if (attempt.endedAt === null) throw conflict('This sign-in is under way.')
  const { site, address } = await getPlace(context, interaction.url)
  const ticket = await issueTicket(context, attempt, { site, state: interaction.state })
  return { kind: 'see_other', to: ticket === undefined ? address : addTicket(address, ticket) }
}

async function issueTicket(
  { runChange, masterKeys, clock }: StartContext,
  attempt: Attempt,
  { site: { origin }, state }: { readonly site: Site; readonly state: string },
): Promise<string | undefined> {
  return runChange({ actor: SYSTEM_ACTOR }, async ({ tx, at }) => {
    if (!(await updateAttemptReturned(tx, attempt.id, at))) return undefined
    const session = await findGrantedSession(tx, { attemptId: attempt.id })
    if (session === undefined || attempt.stage !== 'done') return undefined
    return signSiteTicket({ sessionId: session.id, origin, state }, masterKeys, clock.now())
  })
}

function addTicket(address: string, ticket: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}${TICKET_PARAMETER}=${ticket}`
}

/** @throws AppError `invalid_parameter` for an address of no site here: nobody is sent there */
async function getPlace({ db, baseUrl }: StartContext, given: unknown): Promise<Place> {
  const text = typeof given === 'string' && given.length <= URL_LENGTH_MAX ? given : ''
  const [, scheme = '', host = '', path = '/'] = PARTS_OF_URL.exec(text) ?? []
  const site = toSite(scheme.toLowerCase(), host, baseUrl)
  const address = site && toSiteAddress(site, path)
  const application = site && (await findApplicationOfHost(db, site.host))
  if (site === undefined || address === undefined || application === undefined) {
    throw invalid('Nobody signs in here to the site that the address names.')
  }
  return { site, address, application }
}

function invalid(message: string): AppError {
  return new AppError('invalid_parameter', message)
}
