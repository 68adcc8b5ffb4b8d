import type { Insertable } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { JsonObject, JsonValue } from '../../changes/audit/audit-entry.ts'
import type { PersonTable } from '../../schema/tables/person-tables.ts'
import {
  deprovisionPerson,
  endProvisioning,
  restorePerson,
  type DeprovisionDependencies,
} from '../people/deprovision-person.ts'
import { insertPerson, updatePerson, type Person } from '../people/person-store.ts'
import type { ScimAttributes } from './read-resource.ts'
import { notUnique, resourceNotFound } from './scim-error.ts'
import { toProvisionedPerson, type ProvisionedPerson } from './scim-user.ts'
import { findUnmanagedPerson, findUserConflict, findUserForUpdate } from './scim-user-store.ts'

/**
 * Makes a user of an identity provider. A person who is there already without one, from the enrollment
 * of a device or a sign-in, is taken over by email address or user name instead of being doubled.
 *
 * @throws ScimError `uniqueness` when another user has the user name or email address, `invalidValue`
 */
export async function createUser(
  change: Change,
  deps: DeprovisionDependencies,
  attributes: ScimAttributes,
): Promise<Person> {
  const provisioned = toProvisionedPerson(attributes)
  const known = await findUnmanagedPerson(change.tx, [provisioned.email, provisioned.userName])
  if (known !== undefined) return saveUser(change, deps, known, provisioned)
  await requireUnique(change, provisioned, provisioned.active !== false, undefined)
  const created = await insertPerson(change.tx, toColumns(provisioned), change.at)
  if (created === undefined) throw conflictOf('email', provisioned)
  change.recordAudit({
    action: 'person.created',
    target: { type: 'person', id: created.id },
    description: `created the person ${created.name} (${created.email})`,
    after: { ...toAuditFields(created), active: true },
  })
  return provisioned.active === false ? deprovisionPerson(change, deps, created) : created
}

/**
 * Changes a user to what `next` makes of it. `check` sees the user first, locked, and may
 * refuse. A user who stays the same is not written.
 *
 * @throws ScimError 404, `uniqueness`, `invalidValue`, and what `check` and `next` throw
 */
export async function updateUser(
  change: Change,
  deps: DeprovisionDependencies,
  id: string,
  { check, next }: UserUpdate,
): Promise<Person> {
  const person = await getUserForUpdate(change, id)
  await check(person)
  return saveUser(change, deps, person, toProvisionedPerson(next(person)))
}

export interface UserUpdate {
  readonly check: (person: Person) => Promise<void>
  /** The attributes that the user shall have. */
  readonly next: (person: Person) => ScimAttributes
}

/**
 * Ends the provisioning of a user: afterwards it does not exist over SCIM, and its record is listed among
 * the deprovisioned people (RFC 7644 section 3.6).
 *
 * @throws ScimError 404, and what `check` throws
 */
export async function deleteUser(
  change: Change,
  deps: DeprovisionDependencies,
  id: string,
  check: UserUpdate['check'],
): Promise<void> {
  const person = await getUserForUpdate(change, id)
  await check(person)
  await endProvisioning(change, deps, person)
}

async function getUserForUpdate(change: Change, id: string): Promise<Person> {
  const person = await findUserForUpdate(change.tx, id)
  if (person === undefined) throw resourceNotFound('user', id)
  return person
}

async function saveUser(
  change: Change,
  deps: DeprovisionDependencies,
  person: Person,
  provisioned: ProvisionedPerson,
): Promise<Person> {
  const isActive = provisioned.active ?? person.deprovisioned_at === null
  await requireUnique(change, provisioned, isActive, person.id)
  const saved = await saveColumns(change, person, provisioned)
  return isActive ? restorePerson(change, saved) : deprovisionPerson(change, deps, saved)
}

async function saveColumns(
  change: Change,
  person: Person,
  provisioned: ProvisionedPerson,
): Promise<Person> {
  const columns = toColumns(provisioned)
  const [before, after] = differences(
    toAuditFields(person),
    toAuditFields({ ...person, ...columns, emails: provisioned.emails }),
  )
  if (Object.keys(after).length === 0) return person
  const isTakenOver = person.user_name === null
  change.recordAudit({
    action: isTakenOver ? 'person.provisioned' : 'person.updated',
    target: { type: 'person', id: person.id },
    description: isTakenOver
      ? `took over ${person.name} (${person.email}) from the identity provider`
      : `updated ${person.name} (${person.email})`,
    before,
    after,
  })
  return updatePerson(change.tx, person.id, { ...columns, updated_at: change.at })
}

type ProvisionedColumns = Omit<Insertable<PersonTable>, 'created_at' | 'updated_at'>

function toColumns(provisioned: ProvisionedPerson) {
  return {
    name: provisioned.name,
    email: provisioned.email,
    usernames: [provisioned.userName],
    user_name: provisioned.userName,
    external_id: provisioned.externalId,
    display_name: provisioned.displayName,
    formatted_name: provisioned.formattedName,
    given_name: provisioned.givenName,
    family_name: provisioned.familyName,
    emails: provisioned.emails === null ? null : JSON.stringify(provisioned.emails),
  } satisfies ProvisionedColumns
}

async function requireUnique(
  change: Change,
  provisioned: ProvisionedPerson,
  isActive: boolean,
  exceptId: string | undefined,
): Promise<void> {
  const { userName, email } = provisioned
  const conflict = await findUserConflict(change.tx, { userName, email, isActive }, exceptId)
  if (conflict !== undefined) throw conflictOf(conflict, provisioned)
}

function conflictOf(conflict: 'userName' | 'email', { userName, email }: ProvisionedPerson): Error {
  return notUnique(
    conflict === 'userName'
      ? `Another user has the user name "${userName}".`
      : `Another user has the email address "${email}".`,
  )
}

function toAuditFields(person: Person): JsonObject {
  return {
    name: person.name,
    email: person.email,
    user_name: person.user_name,
    external_id: person.external_id,
    display_name: person.display_name,
    formatted_name: person.formatted_name,
    given_name: person.given_name,
    family_name: person.family_name,
    emails: person.emails?.map((email) => ({ ...email })) ?? null,
  }
}

/** The members that differ, before and after. jsonb keeps members in an order of its own. */
function differences(before: JsonObject, after: JsonObject): [JsonObject, JsonObject] {
  const names = Object.keys(after).filter(
    (name) => canonical(before[name] ?? null) !== canonical(after[name] ?? null),
  )
  const pick = (from: JsonObject) =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? null]))
  return [pick(before), pick(after)]
}

function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
