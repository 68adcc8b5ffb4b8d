/*
 * The end of sign-ins: told by whoever led them, or by time. Owns what an end brings about, once each.
 */
import type { Change } from '../../changes/change.ts'
import type { AuthLogRecord } from './auth-log-read.ts'
import { assertUnderWay } from './extend-session.ts'
import { toStoredEvent, type NewSessionEvent } from './session-facts.ts'
import {
  findSignInDevice,
  getSessionForUpdate,
  recordAuthentication,
  updateSession,
} from './session-store.ts'

/** How a sign-in ended. */
export interface SessionEnd {
  readonly result: 'Success' | 'Fail'
  /** What happened last, in words; default by the result. */
  readonly description?: string | undefined
}

const LAST_EVENTS = {
  Success: { type: 'sign_in_success', description: 'The person was let in.' },
  Fail: { type: 'sign_in_failure', description: 'The person was not let in.' },
} as const satisfies Record<SessionEnd['result'], NewSessionEvent>

/**
 * Ends a sign-in. Success is noted on the person and the device too.
 *
 * @throws AppError `not_found`; `conflict` when it has ended already
 */
export async function closeSession(
  change: Change,
  id: string,
  { result, description }: SessionEnd,
): Promise<AuthLogRecord> {
  const session = await getSessionForUpdate(change.tx, id)
  assertUnderWay(session)
  const known = LAST_EVENTS[result]
  return endSession(change, {
    session,
    result,
    event: { type: known.type, description: description ?? known.description },
    finishedAt: change.at,
    action: 'auth_log.closed',
  })
}

/** Ends a locked session that nobody went on with, as of the moment at which its time was over. */
export async function abandonSession(
  change: Change,
  session: AuthLogRecord,
): Promise<AuthLogRecord> {
  const finishedAt = session.expiresAt ?? change.at
  return endSession(change, {
    session,
    result: 'Fail',
    event: {
      type: 'sign_in_abandoned',
      description: 'The sign-in was never finished.',
      timestamp: finishedAt,
    },
    finishedAt,
    action: 'auth_log.abandoned',
  })
}

interface Ending {
  readonly session: AuthLogRecord
  readonly result: SessionEnd['result']
  readonly event: NewSessionEvent
  readonly finishedAt: Date
  readonly action: 'auth_log.closed' | 'auth_log.abandoned'
}

async function endSession(
  change: Change,
  { session, result, event, finishedAt, action }: Ending,
): Promise<AuthLogRecord> {
  const { tx, at } = change
  const ended = await updateSession(tx, session.id, {
    result,
    finishedAt,
    expiresAt: null,
    events: JSON.stringify([...session.events, toStoredEvent(event, at)]),
    txn: change.txn,
    updatedAt: at,
  })
  const { deviceId, personId } = ended
  if (result === 'Success') await recordAuthentication(tx, { deviceId, personId }, at)
  const how = action === 'auth_log.abandoned' ? 'was abandoned' : `ended with ${result}`
  change.recordAudit({
    action,
    target: { type: 'auth_log', id: session.id },
    description: `recorded that the sign-in of ${session.personEmail} ${how}`,
    before: { result: null },
    after: { result, finished_at: finishedAt.toISOString() },
  })
  const device = deviceId === null ? undefined : await findSignInDevice(tx, deviceId)
  change.recordEvent({
    type: result === 'Success' ? 'auth_logs.success' : 'auth_logs.failure',
    sessionId: ended.id,
    personId,
    device: device === undefined ? null : { id: device.id, name: device.name },
    browserName: ended.browserName,
    browserVersion: ended.browserVersion,
    agentVersion: ended.agentVersion,
  })
  return ended
}
