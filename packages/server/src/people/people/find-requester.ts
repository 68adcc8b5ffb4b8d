import type { Transaction } from 'kysely'
import { z } from 'zod'
import { invalidBody } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import { recordIdInput } from '../../platform/wire/body-values.ts'
import { findPerson, findPersonByEmail, type Person } from './person-store.ts'

const EMAIL_LENGTH_MAX = 254

/** How the body of a request says who makes it. */
export const requesterShape = {
  person_id: recordIdInput.optional(),
  person_email: z.string().trim().max(EMAIL_LENGTH_MAX).optional(),
} as const

/** Who makes a request: exactly one of the two. */
export interface RequesterReference {
  readonly person_id?: string | undefined
  readonly person_email?: string | undefined
}

/**
 * The person who makes a request.
 *
 * @throws AppError `invalid_body` unless exactly one of the members names a person who exists and is
 * not deprovisioned
 */
export async function findRequester(
  tx: Transaction<Schema>,
  { person_id: id, person_email: email }: RequesterReference,
): Promise<Person> {
  if ((id === undefined) === (email === undefined)) {
    throw invalidBody([
      { path: 'person_id', message: 'Exactly one of person_id and person_email must be given.' },
    ])
  }
  const person =
    id === undefined ? await findPersonByEmail(tx, email ?? '') : await findPerson(tx, id)
  if (person !== undefined && person.deprovisionedAt === null) return person
  const path = id === undefined ? 'person_email' : 'person_id'
  throw invalidBody([{ path, message: `There is no person ${id ?? email ?? ''}.` }])
}
