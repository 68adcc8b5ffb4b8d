import type { Change } from '../../changes/change.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import { findPerson, type Person } from '../../people/people/person-store.ts'
import { invalidBody } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { AuthLogRecord } from './auth-log-read.ts'
import { readDeviceColumns, toStoredEvent, type SessionFacts } from './session-facts.ts'
import { insertSession, SIGN_IN_CHANNEL } from './session-store.ts'

/** Who signs in: the id of a person, or an email address with which one is found or created. */
export type SignInPerson =
  { readonly id: string } | { readonly email: string; readonly name?: string | undefined }

/** A sign-in that begins. */
export interface NewSession extends SessionFacts {
  readonly person: SignInPerson
  /** How long nothing may happen until the sign-in counts as abandoned. */
  readonly timeoutSeconds: number
}

/**
 * Opens the record of a sign-in. The status of its device and the issues that block it, now or later,
 * are kept as they are at this moment.
 *
 * @throws AppError `invalid_body` for a person or a device that does not exist; `conflict` when the
 * identity provider has switched the person off
 */
export async function openSession(change: Change, input: NewSession): Promise<AuthLogRecord> {
  const { tx, at } = change
  const person = await findSigningIn(change, input.person)
  const device = input.deviceId === undefined ? {} : await readDeviceColumns(tx, input.deviceId, at)
  const expiresAt = new Date(at.getTime() + input.timeoutSeconds * SECOND_MS)
  const session = await insertSession(tx, {
    startedAt: at,
    personId: person.id,
    personName: person.name,
    personEmail: person.email,
    ...input.columns,
    ...device,
    events: JSON.stringify([
      toStoredEvent({ type: 'sign_in_attempt', description: 'The sign-in began.' }, at),
    ]),
    timeoutSeconds: input.timeoutSeconds,
    expiresAt,
    txn: change.txn,
    updatedAt: at,
  })
  change.tellDueAfterCommit(SIGN_IN_CHANNEL, expiresAt)
  change.recordAudit({
    action: 'auth_log.opened',
    target: { type: 'auth_log', id: session.id },
    description: `recorded that ${person.email} began to sign in`,
    after: { person_id: person.id, device_id: session.deviceId },
  })
  return session
}

async function findSigningIn(change: Change, person: SignInPerson): Promise<Person> {
  if (!('id' in person)) {
    return findOrCreatePerson(change, person)
  }
  const found = await findPerson(change.tx, person.id)
  if (found !== undefined) return found
  throw invalidBody([{ path: 'person_id', message: `There is no person ${person.id}.` }])
}
