import type { Change } from '../../changes/change.ts'
import { parseEmail, parseName } from '../../platform/parse-text.ts'
import { conflict } from '../../platform/app-error.ts'
import {
  findPersonByEmail,
  findProvisionedPerson,
  insertPerson,
  type Person,
} from './person-store.ts'

/**
 * The person with an email address; created, with an audit entry, when there is none. The name of a
 * person who exists stays; without a name a new person is called by the address. A person whom the
 * identity provider knows by the address as a user name is that person.
 *
 * @throws AppError `invalid_body`; `conflict` when the identity provider has switched the person off
 */
export async function findOrCreatePerson(
  change: Change,
  input: { readonly email: string; readonly name?: string | undefined },
): Promise<Person> {
  const email = parseEmail(input.email, 'email')
  const existing = await findPersonByEmail(change.tx, email)
  if (existing !== undefined) return existing
  const provisioned = await findProvisionedPerson(change.tx, email)
  if (provisioned !== undefined) return refuseDeprovisioned(provisioned)
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

/** Else a switched-off person would come back under a second record. */
function refuseDeprovisioned(person: Person): Person {
  if (person.deprovisionedAt === null) return person
  throw conflict(`${person.email} has been deprovisioned by the identity provider.`)
}
