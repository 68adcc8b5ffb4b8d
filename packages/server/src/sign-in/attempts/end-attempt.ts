/*
 * The ends of sign-ins: granted, refused, abandoned. Owns what an end brings about, once each, and whom nothing may
 * lock out: proven members of the break-glass group pass where their device is what stands in the way.
 */
import type { Change } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import type { Assurance, AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import { abandonSession, closeSession } from '../journal/close-session.ts'
import { getSessionForUpdate } from '../journal/session-store.ts'
import { getSignInPolicy, hasGroupMember } from '../policy/policy-store.ts'
import { meetsRequest } from '../provider/essential-claims.ts'
import { grantSession } from '../sessions/grant-session.ts'
import { findAttemptPerson, findPersonForGrant, findSecondsForGrant } from './attempt-facts-read.ts'
import {
  claimExpiredAttempt,
  deleteAttempt,
  findNextAttemptExpiry,
  updateAttempt,
  type Attempt,
} from './attempt-store.ts'
import { moveAttempt } from './move-attempt.ts'
import { isPersonProven } from './person-proven.ts'
import { REFUSALS, type RefusalCode } from './refusals.ts'

/** Reasons that lie with the device alone: they do not hold for whoever must always get in. */
const PASSED_BY_BREAK_GLASS: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'device_unknown',
  'device_unreachable',
  'proof_unavailable',
  'assurance_too_low',
  'registration_refused',
  'device_blocked',
])

/** Seconds of a session on the pages of the person. */
const OWN_SESSION_SECONDS = 3_600

/**
 * Refuses a locked attempt and closes its record. Whom the policy lets break the glass is let in instead, where the
 * reason lies with the device.
 */
export async function refuseLocked(
  change: Change,
  attempt: Attempt,
  code: RefusalCode,
  evidence: AttemptEvidence = {},
): Promise<Attempt> {
  const gathered = { ...attempt.evidence, ...evidence }
  if (PASSED_BY_BREAK_GLASS.has(code) && (await mayBreakGlass(change, attempt))) {
    return grantByBreakGlass(change, { ...attempt, evidence: gathered }, code)
  }
  if (attempt.authLogSessionId !== null) {
    const description = `The person was not let in: ${code}. ${REFUSALS[code].remedy}`
    await closeSession(change, attempt.authLogSessionId, { result: 'Fail', description })
  }
  return updateAttempt(change, attempt, {
    stage: 'refused',
    refusalCode: code,
    evidence: JSON.stringify(gathered),
    endedAt: change.now(),
  })
}

/**
 * Whether a person of an attempt may pass although the device stands in the way. Without the device the person is all
 * that is known: somebody whom only a browser names passes never, and to the pages of a person nobody does. Nor does
 * anybody to Entra, which is told a possession or nothing.
 */
export async function mayBreakGlass({ tx }: Change, attempt: Attempt): Promise<boolean> {
  const { personId, applicationId, interaction } = attempt
  if (interaction.kind === 'entra') return false
  if (personId === null || applicationId === null || !isPersonProven(attempt)) return false
  const { breakGlassGroupId } = await getSignInPolicy(tx)
  return breakGlassGroupId !== null && hasGroupMember(tx, breakGlassGroupId, personId)
}

async function grantByBreakGlass(
  change: Change,
  attempt: Attempt,
  code: RefusalCode,
): Promise<Attempt> {
  const person =
    attempt.personId === null ? undefined : await findAttemptPerson(change.tx, attempt.personId)
  change.recordAudit({
    action: 'sign_in.glass_broken',
    target: { type: 'person', id: attempt.personId ?? '' },
    description: `let ${person?.email ?? 'somebody'} in without a trusted device, as the break-glass group allows`,
    after: { attempt_id: attempt.id, instead_of: code },
  })
  const description = `The person passed by the break-glass group; otherwise: ${code}.`
  const moved = await moveAttempt(
    change,
    attempt,
    { evidence: JSON.stringify(attempt.evidence) },
    { events: [{ type: 'break_glass', description }] },
  )
  return grantLocked(change, moved, 'none')
}

/**
 * Lets the person of a locked attempt in: what is granted, the end of its record, and the event of it commit together.
 */
export async function grantLocked(
  change: Change,
  attempt: Attempt,
  assurance: Assurance,
): Promise<Attempt> {
  const { tx } = change
  const { personId, applicationId, deviceId } = attempt
  const person = personId === null ? undefined : await findPersonForGrant(tx, personId)
  if (person === undefined) return refuseLocked(change, attempt, 'person_ended')
  const seconds =
    applicationId === null ? OWN_SESSION_SECONDS : await findSecondsForGrant(tx, applicationId)
  if (seconds === undefined) return refuseLocked(change, attempt, 'application_disabled')
  if (!meetsRequest(attempt.interaction, { personId: person.id, assurance })) {
    return refuseLocked(change, attempt, 'request_unmet')
  }
  const granted = { applicationId, deviceId, assurance, attemptId: attempt.id }
  await grantSession(change, { person, seconds, ...granted })
  if (attempt.authLogSessionId !== null) {
    await closeSession(change, attempt.authLogSessionId, { result: 'Success' })
  }
  return updateAttempt(change, attempt, { stage: 'done', assurance, endedAt: change.now() })
}

/**
 * Ends every attempt whose time is over, each in a change of its own, and answers when the next one is. Attempts of
 * which it was never known whose they are leave nothing behind. Any number of processes may call it at a time.
 */
export async function abandonAttempts({
  db,
  runChange,
}: Pick<Foundation, 'db' | 'runChange'>): Promise<Date | undefined> {
  for (;;) {
    const isFound = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const attempt = await claimExpiredAttempt(change.tx, change.at)
      if (attempt === undefined) return false
      await abandonLocked(change, attempt)
      return true
    })
    if (!isFound) return findNextAttemptExpiry(db)
  }
}

/** Ends a locked attempt that comes to nothing any more, at its time or before it. */
export async function abandonLocked(change: Change, attempt: Attempt): Promise<void> {
  const { tx } = change
  const { authLogSessionId } = attempt
  const now = change.now()
  const expiresAt = attempt.expiresAt < now ? attempt.expiresAt : now
  if (attempt.personId === null && authLogSessionId === null) {
    await deleteAttempt(tx, attempt.id)
    return
  }
  if (authLogSessionId !== null) {
    const session = await getSessionForUpdate(tx, authLogSessionId)
    if (session.result === null) await abandonSession(change, { ...session, expiresAt })
  }
  await updateAttempt(change, attempt, { stage: 'abandoned', endedAt: expiresAt })
}
