import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import { findPerson, findPersonByAnyEmail, type Person } from '../../people/people/person-store.ts'
import { openSession } from '../journal/open-session.ts'
import {
  bindEntraAccount,
  findPersonIdOfAccount,
  type ProvenAccount,
} from '../entra-accounts/bind-entra-account.ts'
import { findApplicationName } from './attempt-facts-read.ts'
import { updateAttempt, type Attempt } from './attempt-store.ts'
import { refuseLocked } from './end-attempt.ts'
import { makeRoomForPerson } from './make-room.ts'
import { JOURNAL_TIMEOUT_SECONDS, lockAttempt } from './move-attempt.ts'
import { toPersonEvidence } from './person-proven.ts'

/** Who signs in, and by whose word. */
export interface IdentifiedPerson {
  readonly email: string
  readonly name?: string | undefined
  /** How the person was authenticated, as whoever did it says. RFC 8176. */
  readonly amr: readonly string[]
  /**
   * Whether it is proven. A person whom only an unsigned hint names is never created, gets no device without somebody
   * who confirms it, breaks no glass, and opens pages of their own from devices of their own alone.
   */
  readonly isProven: boolean
  /** The account of Entra that was proven; it counts for more than its name. */
  readonly account?: ProvenAccount | undefined
}

/**
 * Says who signs in: the record of the sign-in begins. Somebody who is not known is created where it is proven who it
 * is, and refused where not.
 *
 * @throws AppError `not_found`, `conflict` for an attempt at another step
 */
export async function identifyPerson(
  change: Change,
  attemptId: string,
  identified: IdentifiedPerson,
): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['person'])
  const person = await findIdentified(change, identified)
  if (person === 'another account') return refuseLocked(change, attempt, 'account_changed')
  if (person === 'ended') return refuseLocked(change, attempt, 'person_ended')
  if (person === undefined) return refuseLocked(change, attempt, 'person_unknown')
  await makeRoomForPerson(change, person.id)
  const applicationName =
    attempt.applicationId === null
      ? null
      : await findApplicationName(change.tx, attempt.applicationId)
  const session = await openSession(change, {
    person: { id: person.id },
    columns: {
      ipAddress: attempt.ipAddress,
      browserUserAgent: attempt.userAgent,
      appName: applicationName,
    },
    timeoutSeconds: JOURNAL_TIMEOUT_SECONDS,
  })
  return updateAttempt(change, attempt, {
    stage: 'device',
    personId: person.id,
    amr: [...identified.amr],
    evidence: JSON.stringify({ ...attempt.evidence, ...toPersonEvidence(identified.isProven) }),
    authLogSessionId: session.id,
  })
}

async function findIdentified(
  change: Change,
  identified: IdentifiedPerson,
): Promise<Person | 'ended' | 'another account' | undefined> {
  const known = await findPersonByAnyEmail(change.tx, identified.email)
  const { account } = identified
  if (account === undefined) return known ?? findOrCreate(change, identified)
  const ownerId = await findPersonIdOfAccount(change, account)
  if (ownerId === undefined) {
    const person = known ?? (await findOrCreate(change, identified))
    if (person === undefined || person === 'ended') return person
    return (await bindEntraAccount(change, person.id, account)) ? person : 'another account'
  }
  if (known !== undefined) return known.id === ownerId ? known : 'another account'
  // The account has another name than when it was first seen, by which nobody is known here: it is the same account.
  const owner = await findPerson(change.tx, ownerId)
  return owner?.deprovisionedAt === null ? owner : 'ended'
}

async function findOrCreate(
  change: Change,
  { email, name, isProven }: IdentifiedPerson,
): Promise<Person | 'ended' | undefined> {
  if (!isProven) return undefined
  try {
    const { id } = await findOrCreatePerson(change, { email, name })
    return await findPerson(change.tx, id)
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return 'ended'
    throw error
  }
}
