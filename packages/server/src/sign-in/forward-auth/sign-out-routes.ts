/* Leaving a site behind a proxy: the page that asks, what it does, and the page that says that it is done. */
import type { Foundation } from '../../changes/foundation.ts'
import { AppError } from '../../platform/app-error.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import { findAttemptPerson } from '../attempts/attempt-facts-read.ts'
import type { PageAnswer, PageRequest, PageRoute } from '../pages/page-surface.ts'
import { textsOf } from '../pages/texts/texts.ts'
import { endSession } from '../sessions/end-sessions.ts'
import { findGrantedSession } from '../sessions/granted-session-store.ts'
import { showSignedOut, showSignOut } from './show-sign-out.ts'
import { openSignOut, SIGN_OUT_PATH, SIGNED_OUT_PATH, siteSignOutAddress } from './site-sign-out.ts'

export interface SignOutContext extends Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  readonly masterKeys: MasterKeys
}

export function signOutRoutes(context: SignOutContext): PageRoute[] {
  return [
    {
      method: 'GET',
      path: SIGN_OUT_PATH,
      handler: async ({ params, language }) => {
        const { origin } = open(context, params)
        return {
          kind: 'page',
          content: showSignOut(origin, textsOf(language)),
          // The form leads back to the site, which takes its cookie away.
          policy: { formsTo: [origin] },
        }
      },
    },
    {
      method: 'POST',
      path: SIGN_OUT_PATH,
      handler: async (request) => leave(context, request),
    },
    {
      method: 'GET',
      path: SIGNED_OUT_PATH,
      handler: async ({ language }) => ({
        kind: 'page',
        content: showSignedOut(textsOf(language)),
      }),
    },
  ]
}

async function leave(
  context: SignOutContext,
  { params, requestId, address }: PageRequest,
): Promise<PageAnswer> {
  const { db, clock, runChange } = context
  const { sessionId, origin } = open(context, params)
  const session = await findGrantedSession(db, { id: sessionId })
  const isLive =
    session !== undefined && session.endedAt === null && session.expiresAt > clock.now()
  const person = isLive ? await findAttemptPerson(db, session.personId) : undefined
  if (person !== undefined) {
    const actor = { type: 'Person', ...person } as const
    await runChange({ actor, requestId, ipAddress: address }, async (change) =>
      endSession(change, sessionId, 'logout'),
    )
  }
  return { kind: 'see_other', to: siteSignOutAddress(origin) }
}

/** @throws AppError `invalid_parameter` */
function open({ masterKeys, clock }: SignOutContext, params: PageRequest['params']) {
  const leaving = openSignOut(params, masterKeys, clock.now())
  if (leaving !== undefined) return leaving
  const message = 'This way out is over. Open the address at which people leave the site again.'
  throw new AppError('invalid_parameter', message)
}
