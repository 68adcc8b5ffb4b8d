/*
 * The ends of granted sessions before their time: whoever was let in is let in no more. Owns that the end, its event
 * and the debt to tell the application commit together; telling it is send-logouts.ts's.
 */
import type { Change, ChangePublisher, ChangeRecord } from '../../changes/change.ts'
import type { SignedOutSession } from '../provider/list-signed-out.ts'
import type { DomainEvent, SessionEndReason } from '../../changes/domain-event.ts'
import { conflict } from '../../platform/app-error.ts'
import { notifyAttemptsOfDevices } from '../attempts/attempt-store.ts'
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

/** Ends the live sessions of devices, a person or an application. */
export async function endSessionsOf(
  change: Change,
  by: SessionsBy,
  reason: SessionEndReason,
): Promise<number> {
  const ended = await end(change, await listLiveSessionsForUpdate(change.tx, by, change.at), reason)
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
  for (const event of await end(change, [session], reason)) change.recordEvent(event)
  change.recordAudit({
    action: 'sign_in_session.ended',
    target: { type: 'sign_in_session', id },
    description: 'ended a session that a sign-in here had granted',
    after: { reason, person_id: session.personId, device_id: session.deviceId },
  })
  return getGrantedSessionForUpdate(change.tx, id)
}

/** Ends what applications were granted, by what their ID tokens call it, where it is live and theirs. Idempotent. */
export async function endSignedOut(
  change: Change,
  signedOut: readonly SignedOutSession[],
): Promise<void> {
  for (const { clientId, sid } of signedOut) {
    const session = await findLiveSessionBySid(change.tx, clientId, sid, change.at)
    if (session !== undefined) await endSession(change, session.id, 'logout')
  }
}

async function end(
  { tx, at, tellDueAfterCommit }: Pick<ChangeRecord, 'tx' | 'at' | 'tellDueAfterCommit'>,
  sessions: readonly GrantedSession[],
  reason: SessionEndReason,
): Promise<DomainEvent[]> {
  if (sessions.length === 0) return []
  const ids = sessions.map(({ id }) => id)
  const ended = await updateSessionsEnded(tx, ids, reason, at)
  if (ended.some(({ isLogoutDue }) => isLogoutDue)) tellDueAfterCommit(LOGOUT_CHANNEL, at)
  return ended.map((session) => toEvent(session, reason))
}

function toEvent(session: EndedSession, reason: SessionEndReason): DomainEvent {
  const { id, sid, applicationId, personId, personEmail, deviceId } = session
  return {
    type: 'sign_in_session.ended',
    sessionId: id,
    sid,
    applicationId,
    person: { id: personId, email: personEmail },
    deviceId,
    reason,
  }
}

/**
 * Hears of every change before the other publishers: with a device that becomes Blocked, leaves, or is registered to
 * somebody else, and with a person who is switched off, their sessions end in the same change. Sign-ins under way from
 * such a device are told to look again.
 */
export function createSessionEnder(): ChangePublisher {
  return async (record) => {
    const { tx, at, events } = record
    for (const { by, reason } of toCauses(events)) {
      const sessions = await listLiveSessionsForUpdate(tx, by, at)
      // With a blocked device those of the own pages stay: there the person sees what blocks it. The console looks at
      // the device itself.
      const ending = sessions.filter(
        ({ applicationId }) => reason !== 'device_blocked' || applicationId !== null,
      )
      record.followBy(...(await end(record, ending, reason)))
    }
    const deviceIds = [...new Set(events.flatMap(toWatchedDevice))]
    if (deviceIds.length === 0) return
    const isDecided = events.some(({ type }) => type === 'registration_request.denied')
    await notifyAttemptsOfDevices(tx, deviceIds, isDecided)
  }
}

/** Whose sessions end with an event, and why. */
interface EndCause {
  readonly by: SessionsBy
  readonly reason: SessionEndReason
}

/** The strongest reason first: with a person the registrations of the devices end as well. */
function toCauses(events: readonly DomainEvent[]): EndCause[] {
  const people: EndCause[] = events.flatMap((event) =>
    event.type === 'person.deprovisioned'
      ? [{ by: { personId: event.personId }, reason: 'person_gone' }]
      : [],
  )
  const devices = DEVICE_REASONS.flatMap((reason): EndCause[] => {
    const deviceIds = [...new Set(events.flatMap((event) => toEndingDevice(event, reason)))]
    return deviceIds.length === 0 ? [] : [{ by: { deviceIds }, reason }]
  })
  return [...people, ...devices]
}

const DEVICE_REASONS = [
  'device_gone',
  'owner_changed',
  'registration_ended',
  'device_blocked',
] as const satisfies readonly SessionEndReason[]

/** The device whose sessions an event ends for a reason. */
function toEndingDevice(event: DomainEvent, reason: (typeof DEVICE_REASONS)[number]): string[] {
  switch (event.type) {
    case 'device.dismissed':
      return reason === 'device_gone' ? [event.deviceId] : []
    case 'device.registration_ended': {
      const own = event.nextPersonId === null ? 'registration_ended' : 'owner_changed'
      return reason === own ? [event.deviceId] : []
    }
    case 'device.status_changed': {
      const isBlocked = event.isRestated === undefined && event.current.authState === 'Blocked'
      return reason === 'device_blocked' && isBlocked ? [event.device.id] : []
    }
    default:
      return []
  }
}

function toWatchedDevice(event: DomainEvent): string[] {
  switch (event.type) {
    case 'device.status_changed':
      return event.isRestated === undefined ? [event.device.id] : []
    case 'device.dismissed':
    case 'device.registration_ended':
    case 'devices.registered':
    case 'registration_request.denied':
      return [event.deviceId]
    default:
      return []
  }
}
