/*
 * Who reads the pages of a person: a session that a sign-in here granted, held by a cookie of its own. Owns no sign-in;
 * one that has ended opens nothing from its end on.
 */
import { createHash } from 'node:crypto'
import type { Change } from '../../../changes/change.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { newSecret } from '../../../platform/ids.ts'
import type { Assurance } from '../../../schema/tables/sign-in-tables.ts'
import { findAttemptPerson } from '../../attempts/attempt-facts-read.ts'
import { updateAttemptReturned, type Attempt } from '../../attempts/attempt-store.ts'
import { endSession } from '../../sessions/end-sessions.ts'
import { findGrantedSession, updateGrantedSession } from '../../sessions/granted-session-store.ts'

/** A person who has signed in to the pages. */
export interface PersonSession {
  readonly id: string
  readonly person: { readonly id: string; readonly name: string; readonly email: string }
  /** The device that was used to sign in. */
  readonly deviceId: string | null
  /** How that device was known. */
  readonly assurance: Assurance
}

/** The session that a token opens; undefined for one that has ended, or that was never given out. */
export async function findPersonSession(
  { db, clock }: Pick<Foundation, 'db' | 'clock'>,
  token: string | undefined,
): Promise<PersonSession | undefined> {
  if (token === undefined || token === '') return undefined
  const session = await findGrantedSession(db, { cookieHash: hashToken(token) })
  const isLive =
    session !== undefined &&
    session.applicationId === null &&
    session.endedAt === null &&
    session.expiresAt > clock.now()
  if (!isLive) return undefined
  const person = await findAttemptPerson(db, session.personId)
  const { id, deviceId, assurance } = session
  return person && { id, person, deviceId, assurance }
}

/** The token of the session that an attempt came to, once; undefined where it came to none, or was asked before. */
export async function openPersonSession(
  { tx, at }: Change,
  attempt: Pick<Attempt, 'id' | 'interaction'>,
): Promise<string | undefined> {
  const session = await findGrantedSession(tx, { attemptId: attempt.id })
  const isOwn = attempt.interaction.kind === 'person_pages' && session?.applicationId === null
  if (!isOwn || !(await updateAttemptReturned(tx, attempt.id, at))) return undefined
  const token = newSecret()
  await updateGrantedSession(tx, session.id, { cookieHash: hashToken(token) })
  return token
}

/** Ends a session. */
export async function endPersonSession(change: Change, { id }: PersonSession): Promise<void> {
  await endSession(change, id, 'logout')
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(`person ${token}`).digest()
}
