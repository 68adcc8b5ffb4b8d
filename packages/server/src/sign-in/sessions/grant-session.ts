import type { Change } from '../../changes/change.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { newSecret, newUuid } from '../../platform/ids.ts'
import { insertGrantedSession, type GrantedSession } from './granted-session-store.ts'

/** What is granted, to whom, and for how long. */
export interface Grant extends Pick<
  GrantedSession,
  'applicationId' | 'deviceId' | 'assurance' | 'attemptId'
> {
  readonly person: { readonly id: string; readonly email: string }
  readonly seconds: number
}

/** Grants a session; its event commits with it. */
export async function grantSession(
  change: Change,
  { person, seconds, applicationId, deviceId, assurance, attemptId }: Grant,
): Promise<GrantedSession> {
  const at = change.now()
  const session = await insertGrantedSession(change.tx, {
    id: newUuid(),
    sid: newSecret(24),
    applicationId,
    personId: person.id,
    deviceId,
    assurance,
    attemptId,
    cookieHash: null,
    grantedAt: at,
    expiresAt: new Date(at.getTime() + seconds * SECOND_MS),
  })
  change.recordEvent({
    type: 'sign_in_session.granted',
    sessionId: session.id,
    applicationId,
    person: { id: person.id, email: person.email },
    deviceId,
  })
  return session
}
