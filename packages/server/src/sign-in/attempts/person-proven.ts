import type { AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from './attempt-store.ts'

/** The member of the evidence that says whether it is proven who signs in. */
const PROVEN = 'is_person_proven'

/** What the evidence of a sign-in says of whether it is proven who signs in. */
export function toPersonEvidence(isProven: boolean): AttemptEvidence {
  return { [PROVEN]: isProven }
}

/** Whether somebody whose word counts has said who signs in: the browser alone has not. */
export function isPersonProven({ evidence }: Pick<Attempt, 'evidence'>): boolean {
  return evidence[PROVEN] === true
}
