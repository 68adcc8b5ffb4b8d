import type { Change } from '../audit/change.ts'
import { parseEmail, parseName } from '../platform/parse-text.ts'
import { findPersonByEmail, insertPerson, type Person } from './person-store.ts'

/**
 * The person with an email address; created, with an audit entry, when there is none. The name of a
 * person who exists stays; without a name a new person is called by the address.
 *
 * @throws AppError `invalid_body`
 */
export async function findOrCreatePerson(
  change: Change,
  input: { readonly email: string; readonly name?: string },
): Promise<Person> {
  const email = parseEmail(input.email, 'email')
  const existing = await findPersonByEmail(change.tx, email)
  if (existing !== undefined) return existing
  const name = parseName(input.name ?? email, 'name')
  const created = await insertPerson(change.tx, { name, email }, change.at)
  if (created === undefined) {
    const winner = await findPersonByEmail(change.tx, email)
    if (winner === undefined) throw new Error('a person vanished between two statements')
    return winner
  }
  change.recordAudit({
    action: 'person.created',
    target: { type: 'person', id: created.id },
    description: `created the person ${created.name} (${created.email})`,
    after: { name: created.name, email: created.email },
  })
  return created
}
