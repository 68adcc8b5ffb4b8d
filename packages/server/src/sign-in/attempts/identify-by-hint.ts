import type { Foundation } from '../../changes/foundation.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { ProvenAccount } from '../entra-accounts/bind-entra-account.ts'
import { findAttemptPerson } from './attempt-facts-read.ts'
import type { Attempt } from './attempt-store.ts'
import { identifyPerson } from './identify-person.ts'
import { refuseAttempt } from './refuse-attempt.ts'

/** What whoever sent the browser says of the person. */
export interface PersonHint {
  /** An address; undefined without one. */
  readonly loginHint: string | undefined
  /** Whether nobody but the application can have said it: pushed by it, or signed. */
  readonly isProven: boolean
  /** The person whom an ID token of this service names. */
  readonly personId: string | undefined
  /** Of Entra, which has proven it. */
  readonly account?: ProvenAccount
}

/** Says who signs in by what the application tells; without that, the sign-in is refused. */
export async function identifyByHint(
  { db, runChange }: Pick<Foundation, 'db' | 'runChange'>,
  attemptId: string,
  { loginHint, isProven, personId, account }: PersonHint,
): Promise<Attempt> {
  const known = personId === undefined ? undefined : await findAttemptPerson(db, personId)
  const email = known?.email ?? loginHint
  return runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    if (email === undefined || !email.includes('@')) {
      return refuseAttempt(change, attemptId, 'person_missing')
    }
    return identifyPerson(change, attemptId, { email, amr: [], isProven, account })
  })
}
