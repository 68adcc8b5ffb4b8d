/*
 * The ends of granted sessions before their time: whoever was let in is let in no more. Owns that the end, its event
 * and the debt to tell the application commit together; telling it is send-logouts.ts's.
 */
import type { Change, ChangePublisher, ChangeRecord } from '../../changes/change.ts'
import type { DomainEvent, SessionEndReason } from '../../changes/domain-event.ts'
import { conflict } from '../../platform/app-error.ts'
import { notify } from '../../platform/db/listener.ts'
import { ATTEMPT_CHANNEL, listAttemptsOfDevices } from '../attempts/attempt-store.ts'
import {
  findLiveSessionBySid,
  getGrantedSessionForUpdate,
  listLiveSessionsForUpdate,
  LOGOUT_CHANNEL,
  updateSessionsEnded,
  type EndedSession,
  type GrantedSession,
  type SessionsBy,
} from './granted-session-store.ts'

type Transaction = ChangeRecord['tx']

/** Ends the live sessions of devices, a person or an application. */
export async function endSessionsOf(
  change: Change,
  by: SessionsBy,
  reason: SessionEndReason,
): Promise<number> {
  const ended = await end(
    change.tx,
    await listLiveSessionsForUpdate(change.tx, by, change.at),
    reason,
    change.at,
  )
  for (const event of ended) change.recordEvent(event)
  return ended.length
}

/**
 * Ends one session, by an admin or its own application.
 *
 * @throws AppError `not_found`; `conflict` when it has ended
 */
export async function endSession(
  change: Change,
  id: string,
  reason: SessionEndReason,
): Promise<GrantedSession> {
  const session = await getGrantedSessionForUpdate(change.tx, id)
  if (session.endedAt !== null || session.expiresAt <= change.at) {
    throw conflict('The session has ended already.')
  }
  for (const event of await end(change.tx, [session], reason, change.at)) change.recordEvent(event)
  change.recordAudit({
    action: 'sign_in_session.ended',
    target: { type: 'sign_in_session', id },
    description: 'ended a session that a sign-in here had granted',
    after: { reason, person_id: session.personId, device_id: session.deviceId },
  })
  return getGrantedSessionForUpdate(change.tx, id)
}

/** Ends the session that an application knows by a `sid`, when it is live and of that application. Idempotent. */
export async function endSessionBySid(
  change: Change,
  clientId: string,
  sid: string,
): Promise<void> {
  const session = await findLiveSessionBySid(change.tx, clientId, sid, change.at)
  if (session !== undefined) await endSession(change, session.id, 'logout')
}

async function end(
  tx: Transaction,
  sessions: readonly GrantedSession[],
  reason: SessionEndReason,
  at: Date,
): Promise<DomainEvent[]> {
  if (sessions.length === 0) return []
  const ids = sessions.map(({ id }) => id)
  const ended = await updateSessionsEnded(tx, ids, reason, at)
  if (ended.some(({ isLogoutDue }) => isLogoutDue))
    await notify(tx, LOGOUT_CHANNEL, at.toISOString())
  return ended.map((session) => toEvent(session, reason))
}

function toEvent(session: EndedSession, reason: SessionEndReason): DomainEvent {
  const { id, applicationId, personId, personEmail, deviceId } = session
  return {
    type: 'sign_in_session.ended',
    sessionId: id,
    applicationId,
    person: { id: personId, email: personEmail },
    deviceId,
    reason,
  }
}

/**
 * Hears of every change before the other publishers: a device that becomes Blocked ends its sessions in the same
 * change, and sign-ins under way from a device whose status changes are told to look again.
 */
export function createSessionEnder(): ChangePublisher {
  return async (record) => {
    const { tx, at, events } = record
    const changed = events.flatMap((event) =>
      event.type === 'device.status_changed' && event.isRestated === undefined ? [event] : [],
    )
    if (changed.length === 0) return
    const blocked = changed.filter(({ current }) => current.authState === 'Blocked')
    const deviceIds = [...new Set(blocked.map(({ device }) => device.id))]
    if (deviceIds.length > 0) {
      const sessions = await listLiveSessionsForUpdate(tx, { deviceIds }, at)
      // Those of the own pages stay: there the person sees what blocks the device.
      const ended = sessions.filter(({ applicationId }) => applicationId !== null)
      record.followBy(...(await end(tx, ended, 'device_blocked', at)))
    }
    const waiting = await listAttemptsOfDevices(tx, [
      ...new Set(changed.map(({ device }) => device.id)),
    ])
    for (const { id, revision } of waiting) {
      await notify(tx, ATTEMPT_CHANNEL, JSON.stringify({ id, revision }))
    }
  }
}
