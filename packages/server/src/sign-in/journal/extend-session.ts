import type { Change } from '../../changes/change.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { AuthLogRecord } from './auth-log-read.ts'
import {
  readDeviceColumns,
  SESSION_EVENTS_MAX,
  toStoredEvent,
  type NewSessionEvent,
  type SessionFacts,
} from './session-facts.ts'
import { getSessionForUpdate, SIGN_IN_CHANNEL, updateSession } from './session-store.ts'

/** What has become known of a sign-in, and the steps that it has made. */
export interface SessionExtension extends SessionFacts {
  readonly events: readonly NewSessionEvent[]
  /** Default: as it was. */
  readonly timeoutSeconds?: number | undefined
}

/**
 * Adds facts and steps to a sign-in under way, whose time until it counts as abandoned begins anew.
 * The status of its device is the one at the moment at which the device becomes known.
 *
 * @throws AppError `not_found`; `invalid_body` for a device that does not exist; `conflict` for a
 * sign-in that has ended or another device than before; `limit_reached` for too many steps
 */
export async function extendSession(
  change: Change,
  id: string,
  extension: SessionExtension,
): Promise<AuthLogRecord> {
  const { tx, at } = change
  const session = await getSessionForUpdate(tx, id)
  assertUnderWay(session)
  const events = appendEvents(session, extension.events, at)
  const timeoutSeconds = extension.timeoutSeconds ?? session.timeoutSeconds
  const expiresAt = new Date(at.getTime() + timeoutSeconds * SECOND_MS)
  const extended = await updateSession(tx, id, {
    ...extension.columns,
    ...(await readNewDevice(change, session, extension.deviceId)),
    events,
    timeoutSeconds,
    expiresAt,
    updatedAt: at,
  })
  change.tellDueAfterCommit(SIGN_IN_CHANNEL, expiresAt)
  change.recordAudit({
    action: 'auth_log.extended',
    target: { type: 'auth_log', id },
    description: `recorded the next step of the sign-in of ${session.personEmail}`,
    before: { device_id: session.deviceId, event_count: session.events.length },
    after: { device_id: extended.deviceId, event_count: extended.events.length },
  })
  return extended
}

/** @throws AppError `conflict` */
export function assertUnderWay(session: AuthLogRecord): void {
  if (session.result === null) return
  throw conflict(`The sign-in ${session.id} has ended already with ${session.result}.`)
}

/**
 * The events of a session with further ones, ready to be stored.
 *
 * @throws AppError `limit_reached`
 */
export function appendEvents(
  session: AuthLogRecord,
  events: readonly NewSessionEvent[],
  at: Date,
): string {
  const all = [...session.events, ...events.map((event) => toStoredEvent(event, at))]
  // The last place is kept for the end.
  if (all.length < SESSION_EVENTS_MAX) return JSON.stringify(all)
  throw new AppError(
    'limit_reached',
    `A sign-in has at most ${SESSION_EVENTS_MAX} events; close this one.`,
  )
}

async function readNewDevice(
  { tx, at }: Change,
  session: AuthLogRecord,
  deviceId: string | undefined,
) {
  if (deviceId === undefined || deviceId === session.deviceId) return {}
  if (session.deviceId === null) return readDeviceColumns(tx, deviceId, at)
  throw conflict(
    `The sign-in ${session.id} is made from the device ${session.deviceId}; another device needs a sign-in of its own.`,
  )
}
