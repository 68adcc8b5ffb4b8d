/* The browsers of a person: which hold a key, and ending it. */
import { DAY_MS } from '../../../platform/clock.ts'
import { listBrowserKeys } from '../../browser-keys/browser-key-store.ts'
import { endBrowserKey } from '../../browser-keys/end-browser-key.ts'
import type { PageRoute } from '../../pages/page-surface.ts'
import type { PersonSession } from '../session/person-session.ts'
import { ownAction, toPersonOrigin, type PersonPagesContext } from '../session/sign-in-routes.ts'
import { ME_PATHS } from './me-paths.ts'
import type { ShownBrowser } from './show-browsers.ts'

const READ_MAX = 500
const EVERY = { afterId: undefined, limit: READ_MAX } as const
/** For how long a person is told that a browser was copied. */
const TOLD_MS = 30 * DAY_MS

/** The browsers of a person that hold a key, and those whose key ended because it was seen elsewhere. */
export async function listOwnBrowsers(
  { db, clock }: PersonPagesContext,
  { person }: PersonSession,
): Promise<ShownBrowser[]> {
  const since = new Date(clock.now().getTime() - TOLD_MS)
  const keys = await listBrowserKeys(db, { personId: person.id }, EVERY)
  return keys
    .map(({ endReason, endedAt, ...key }) => ({
      ...key,
      isCopied: endReason === 'copied' || endReason === 'other_device',
      isShown: endedAt === null || endedAt >= since,
      isLive: endedAt === null,
    }))
    .filter(({ isShown, isLive, isCopied }) => isShown && (isLive || isCopied))
    .toSorted((one, other) => other.lastUsedAt.getTime() - one.lastUsedAt.getTime())
}

export function browserRoutes(context: PersonPagesContext): PageRoute[] {
  return [
    ownAction(context, ME_PATHS.endBrowser, async (session, request) => {
      const id = request.form.get('browser_key_id') ?? ''
      const by = { reason: 'person', personId: session.person.id } as const
      await context.runChange(toPersonOrigin(session, request), async (change) =>
        endBrowserKey(change, id, by),
      )
      return { kind: 'see_other', to: ME_PATHS.devices }
    }),
  ]
}
