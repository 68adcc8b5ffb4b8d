import { toRow } from '../../platform/db/record-table.ts'
import type { Change } from '../../changes/change.ts'
import type { JsonObject } from '../../changes/audit/audit-entry.ts'
import { changedMembers } from '../../changes/changed-members.ts'
import {
  deprovisionPerson,
  endProvisioning,
  restorePerson,
  type DeprovisionDependencies,
} from '../people/deprovision-person.ts'
import { insertPerson, updatePerson, type Person } from '../people/person-store.ts'
import type { ScimAttributes } from './read-resource.ts'
import { notUnique, resourceNotFound } from './scim-error.ts'
import { PROVISIONED_COLUMNS, toProvisionedPerson, type ProvisionedPerson } from './scim-user.ts'
import { findUnmanagedPersonId, findUserConflict, findUserForUpdate } from './scim-user-store.ts'

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
  const { email, userName } = provisioned.columns
  const knownId = await findUnmanagedPersonId(change.tx, [email, userName])
  const known = knownId === undefined ? undefined : await lockUser(change, deps, knownId)
  if (known?.userName === null) return saveUser(change, deps, known, provisioned)
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
  const person = await getLockedUser(change, deps, id)
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
  const person = await getLockedUser(change, deps, id)
  await check(person)
  await endProvisioning(change, deps, person)
}

/** A user, locked after the devices, whose registrations may end. */
async function lockUser(
  change: Change,
  deps: DeprovisionDependencies,
  id: string,
): Promise<Person | undefined> {
  const assertLocked = await deps.lockDevices(change, id)
  const person = await findUserForUpdate(change.tx, id)
  await assertLocked()
  return person
}

async function getLockedUser(
  change: Change,
  deps: DeprovisionDependencies,
  id: string,
): Promise<Person> {
  const person = await lockUser(change, deps, id)
  if (person === undefined) throw resourceNotFound('user', id)
  return person
}

async function saveUser(
  change: Change,
  deps: DeprovisionDependencies,
  person: Person,
  provisioned: ProvisionedPerson,
): Promise<Person> {
  const isActive = provisioned.active ?? person.deprovisionedAt === null
  await requireUnique(change, provisioned, isActive, person.id)
  const saved = await saveColumns(change, person, provisioned)
  return isActive ? restorePerson(change, saved) : deprovisionPerson(change, deps, saved)
}

async function saveColumns(
  change: Change,
  person: Person,
  provisioned: ProvisionedPerson,
): Promise<Person> {
  const { names, before, after } = changedMembers(
    toAuditFields(person),
    toAuditFields(provisioned.columns),
  )
  if (names.length === 0) return person
  const isTakenOver = person.userName === null
  change.recordAudit({
    action: isTakenOver ? 'person.provisioned' : 'person.updated',
    target: { type: 'person', id: person.id },
    description: isTakenOver
      ? `took over ${person.name} (${person.email}) from the identity provider`
      : `updated ${person.name} (${person.email})`,
    before,
    after,
  })
  return updatePerson(change.tx, person.id, { ...toColumns(provisioned), updatedAt: change.at })
}

function toColumns({ columns }: ProvisionedPerson) {
  const { emails, userName } = columns
  return {
    ...columns,
    usernames: [userName],
    emails: emails === null ? null : JSON.stringify(emails),
  }
}

async function requireUnique(
  change: Change,
  provisioned: ProvisionedPerson,
  isActive: boolean,
  exceptId: string | undefined,
): Promise<void> {
  const { userName, email } = provisioned.columns
  const conflict = await findUserConflict(change.tx, { userName, email, isActive }, exceptId)
  if (conflict !== undefined) throw conflictOf(conflict, provisioned)
}

function conflictOf(conflict: 'userName' | 'email', { columns }: ProvisionedPerson): Error {
  return notUnique(
    conflict === 'userName'
      ? `Another user has the user name "${columns.userName}".`
      : `Another user has the email address "${columns.email}".`,
  )
}

function toAuditFields(person: Pick<Person, (typeof PROVISIONED_COLUMNS)[number]>) {
  const fields = PROVISIONED_COLUMNS.map((name) => [name, person[name]])
  return toRow(Object.fromEntries(fields) as object) as JsonObject
}
