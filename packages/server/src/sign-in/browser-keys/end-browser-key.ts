import type { Change } from '../../changes/change.ts'
import { conflict, notFound } from '../../platform/app-error.ts'
import { endSession } from '../sessions/end-sessions.ts'
import {
  getBrowserKeyForUpdate,
  listSessionsByKeyForUpdate,
  updateBrowserKey,
  type BrowserKey,
} from './browser-key-store.ts'

type EndReason = NonNullable<BrowserKey['endReason']>

const WHY = {
  copied:
    'ended the key of a browser: a former state of it was used, so that its profile was copied',
  other_device:
    'ended the key of a browser: its browser was proven on another device, so that its profile was copied or moved',
  person: 'ended the key of a browser of their own',
  admin: 'ended the key of a browser',
  replaced: 'ended the key of a browser: the person has newer ones on the device',
} as const satisfies Record<EndReason, string>

/** Ends a locked, live key, and with it the sessions that were granted because of it alone. */
export async function endLockedKey(
  change: Change,
  { id, personId, deviceId }: BrowserKey,
  reason: EndReason,
): Promise<BrowserKey> {
  const at = change.now()
  const ended = await updateBrowserKey(change.tx, id, { endedAt: at, endReason: reason })
  for (const sessionId of await listSessionsByKeyForUpdate(change.tx, id, at)) {
    await endSession(change, sessionId, 'browser_key')
  }
  change.recordAudit({
    action: 'browser_key.ended',
    target: { type: 'browser_key', id },
    description: WHY[reason],
    after: { reason, person_id: personId, device_id: deviceId },
  })
  return ended
}

/**
 * Ends a key by an admin, or by its person.
 *
 * @throws AppError `not_found`, also for what is of another person than the given one; `conflict` for what has ended
 */
export async function endBrowserKey(
  change: Change,
  id: string,
  by: { readonly reason: 'person' | 'admin'; readonly personId?: string },
): Promise<BrowserKey> {
  const key = await getBrowserKeyForUpdate(change.tx, id)
  if (by.personId !== undefined && key.personId !== by.personId) {
    throw notFound('browser key', id)
  }
  if (key.endedAt !== null) throw conflict('The key of this browser has ended already.')
  return endLockedKey(change, key, by.reason)
}
