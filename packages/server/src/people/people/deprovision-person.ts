import type { Change } from '../../changes/change.ts'
import { deleteMembershipsOfPerson, updatePerson, type Person } from './person-store.ts'

/** What else ends with the access of a person; composed once for the whole service. */
export interface DeprovisionDependencies {
  /**
   * Locks every device of the person: devices are locked before people. What it answers is called when the person is
   * locked: it begins the change anew where there is another device since.
   */
  readonly lockDevices: (change: Change, personId: string) => Promise<() => Promise<void>>
  /** Ends the registration of every device of the person. */
  readonly endRegistrations: (change: Change, personId: string) => Promise<void>
  /**
   * Resolves the open issues of the person and ends the results of checks: no report is taken any more that could. Last
   * of all.
   */
  readonly resolveIssues: (change: Change, personId: string) => Promise<void>
  /** Ends the enrollment secrets that register devices to the person. */
  readonly revokeEnrollmentSecrets: (change: Change, personId: string) => Promise<void>
}

/**
 * Switches a person off: the record stays and is listed as deprovisioned, nobody finds the person among
 * the live ones or in a group, registrations of devices end, open issues are resolved. Memberships are kept for the
 * day the person is restored: identity providers do not tell them again. Idempotent; the person must be locked.
 */
export async function deprovisionPerson(
  change: Change,
  deps: DeprovisionDependencies,
  person: Person,
): Promise<Person> {
  if (person.deprovisionedAt !== null) return person
  recordActivity(change, person, 'person.deprovisioned', 'deprovisioned')
  change.recordEvent({ type: 'person.deprovisioned', personId: person.id })
  await deps.endRegistrations(change, person.id)
  await deps.revokeEnrollmentSecrets(change, person.id)
  await deps.resolveIssues(change, person.id)
  return updatePerson(change.tx, person.id, {
    deprovisionedAt: change.at,
    updatedAt: change.at,
  })
}

/**
 * Makes a deprovisioned person live again, with the groups kept from before. Devices have to be
 * registered anew. Idempotent; the person must be locked.
 */
export async function restorePerson(change: Change, person: Person): Promise<Person> {
  if (person.deprovisionedAt === null) return person
  recordActivity(change, person, 'person.restored', 'restored')
  return updatePerson(change.tx, person.id, { deprovisionedAt: null, updatedAt: change.at })
}

/**
 * Ends the provisioning of a person for good: deprovisioned, out of every group, and no longer a user of
 * the identity provider. The record stays. The person must be locked.
 */
export async function endProvisioning(
  change: Change,
  deps: DeprovisionDependencies,
  person: Person,
): Promise<void> {
  const deprovisioned = await deprovisionPerson(change, deps, person)
  const groupIds = await deleteMembershipsOfPerson(change.tx, person.id, change.at)
  change.recordAudit({
    action: 'person.provisioning_ended',
    target: { type: 'person', id: person.id },
    description: `ended the provisioning of ${person.name} (${person.email})`,
    before: { user_name: person.userName, person_group_ids: groupIds },
    after: { person_group_ids: [] },
  })
  await updatePerson(change.tx, deprovisioned.id, {
    provisioningEndedAt: change.at,
    updatedAt: change.at,
  })
}

function recordActivity(change: Change, person: Person, action: string, verb: string): void {
  const isActive = person.deprovisionedAt === null
  change.recordAudit({
    action,
    target: { type: 'person', id: person.id },
    description: `${verb} ${person.name} (${person.email})`,
    before: { active: isActive, deprovisioned_at: person.deprovisionedAt?.toISOString() ?? null },
    after: { active: !isActive, deprovisioned_at: isActive ? change.at.toISOString() : null },
  })
}
