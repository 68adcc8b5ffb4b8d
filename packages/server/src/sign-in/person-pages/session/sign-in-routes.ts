/* Signing in to the pages of a person and out of them. */
import type { ChangeOrigin } from '../../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { AppError } from '../../../platform/app-error.ts'
import { HOUR_MS, SECOND_MS } from '../../../platform/clock.ts'
import { isFromBrowserOf, writeAttemptCookie } from '../../attempts/attempt-cookie-input.ts'
import { findAttempt } from '../../attempts/attempt-store.ts'
import { beginAttempt } from '../../attempts/begin-attempt.ts'
import { identifyPerson } from '../../attempts/identify-person.ts'
import { attemptPath } from '../../pages/attempt/attempt-path.ts'
import type { PageAnswer, PageRequest, PageRoute } from '../../pages/page-surface.ts'
import { ME_PATHS, toOwnPath } from '../me/me-paths.ts'
import { showSignInToPages } from '../me/show-my-devices.ts'
import { readPersonCookie, writePersonCookie } from './person-cookie-input.ts'
import {
  endPersonSession,
  findPersonSession,
  openPersonSession,
  type PersonSession,
} from './person-session.ts'

/** What the pages of a person work with. */
export interface PersonPagesContext extends Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  readonly baseUrl: string
}

/** The cookie outlives no session: what is granted is looked up each time. */
const COOKIE_SECONDS = HOUR_MS / SECOND_MS
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/

/** A page that only a person who has signed in sees; for everybody else, the way to sign in. */
export function ownPage(
  context: PersonPagesContext,
  path: string,
  handler: (session: PersonSession, request: PageRequest) => Promise<PageAnswer>,
): PageRoute {
  return {
    method: 'GET',
    path,
    handler: async (request) => {
      const session = await readPersonSession(context, request)
      if (session !== undefined) return handler(session, request)
      const wanted = toOwnPath(path.replace(':id', request.params['id'] ?? ''))
      const content = showSignInToPages(wanted, request.language)
      return { kind: 'page', status: 401, content }
    },
  }
}

/** A form of such a page; nothing happens for anybody else. */
export function ownAction(
  context: PersonPagesContext,
  path: string,
  handler: (session: PersonSession, request: PageRequest) => Promise<PageAnswer>,
): PageRoute {
  return {
    method: 'POST',
    path,
    handler: async (request) => {
      const session = await readPersonSession(context, request)
      if (session === undefined) return { kind: 'see_other', to: ME_PATHS.devices }
      return handler(session, request)
    },
  }
}

/** Who made a change from a page: the person. */
export function toPersonOrigin({ person }: PersonSession, request: PageRequest): ChangeOrigin {
  const { id, name, email } = person
  return {
    actor: { type: 'Person', id, name, email },
    requestId: request.requestId,
    ipAddress: request.address,
  }
}

/** Who reads the page; undefined for whoever has not signed in. */
export async function readPersonSession(
  context: PersonPagesContext,
  { headers }: PageRequest,
): Promise<PersonSession | undefined> {
  return findPersonSession(context, readPersonCookie(headers, context.baseUrl))
}

export function personSignInRoutes(context: PersonPagesContext): PageRoute[] {
  const { baseUrl, runChange } = context
  return [
    {
      method: 'POST',
      path: ME_PATHS.signIn,
      handler: async (request) => beginSignIn(context, request),
    },
    {
      method: 'GET',
      path: ME_PATHS.finish,
      handler: async (request) => finishSignIn(context, request),
    },
    ownAction(context, ME_PATHS.signOut, async (session, request) => {
      await runChange(toPersonOrigin(session, request), async (change) =>
        endPersonSession(change, session),
      )
      const cookies = [writePersonCookie('', 0, baseUrl)]
      return { kind: 'see_other', to: ME_PATHS.devices, cookies }
    }),
  ]
}

/** Whoever types an address has proven nothing yet: the device does. */
async function beginSignIn(
  { runChange, baseUrl }: PersonPagesContext,
  request: PageRequest,
): Promise<PageAnswer> {
  const { form, language, address, headers, requestId } = request
  const email = (form.get('email') ?? '').trim()
  if (!EMAIL.test(email)) throw new AppError('invalid_body', 'That is no email address.')
  const path = toOwnPath(form.get('path'))
  const origin = { actor: SYSTEM_ACTOR, requestId, ipAddress: address }
  const { attempt, secret } = await runChange(origin, async (change) => {
    const begun = await beginAttempt(change, {
      applicationId: null,
      interaction: { kind: 'person_pages', path },
      loginHint: email,
      language,
      ipAddress: address,
      userAgent: headers['user-agent'] ?? null,
    })
    await identifyPerson(change, begun.attempt.id, { email, amr: [], isProven: false })
    return begun
  })
  const cookies = [writeAttemptCookie(attempt.id, secret, baseUrl)]
  return { kind: 'see_other', to: attemptPath(attempt.id), cookies }
}

async function finishSignIn(
  { db, runChange, baseUrl }: PersonPagesContext,
  { query, headers, address, requestId }: PageRequest,
): Promise<PageAnswer> {
  const id = typeof query['attempt'] === 'string' ? query['attempt'] : ''
  const attempt = await findAttempt(db, id)
  if (attempt === undefined || !isFromBrowserOf(attempt, headers, baseUrl)) {
    return { kind: 'see_other', to: ME_PATHS.devices }
  }
  const origin = { actor: SYSTEM_ACTOR, requestId, ipAddress: address }
  const token = await runChange(origin, async (change) => openPersonSession(change, attempt))
  const { interaction } = attempt
  const to = toOwnPath(interaction.kind === 'person_pages' ? interaction.path : undefined)
  const cookies = token === undefined ? [] : [writePersonCookie(token, COOKIE_SECONDS, baseUrl)]
  return { kind: 'see_other', to, cookies }
}
