import type { Kysely } from 'kysely'
import type { DeprovisionDependencies } from '../../people/people/deprovision-person.ts'
import type { Person } from '../../people/people/person-store.ts'
import { applyEdits } from '../../people/provisioning/apply-edits.ts'
import { createUser, deleteUser, updateUser } from '../../people/provisioning/provision-user.ts'
import type { ScimAttributes } from '../../people/provisioning/read-resource.ts'
import { USER_TYPE } from '../../people/provisioning/scim-schema.ts'
import {
  findUser,
  listGroupsOfUsers,
  listUsers,
  toUserColumns,
} from '../../people/provisioning/scim-user-store.ts'
import { toUserAttributes, toUserJson } from '../../people/provisioning/scim-user.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ProvisioningDependencies, ScimResources } from './resource-endpoints.ts'

export interface UserDependencies extends ProvisioningDependencies {
  readonly deprovisioning: DeprovisionDependencies
}

/** How users are read and changed; RFC 7644 section 3. */
export function userResources(deps: UserDependencies): ScimResources<Person> {
  const { deprovisioning, scimUrl } = deps
  const toJson = async (
    db: Kysely<Schema>,
    users: readonly Person[],
  ): Promise<ScimAttributes[]> => {
    const groups = await listGroupsOfUsers(
      db,
      users.map(({ id }) => id),
    )
    return users.map((user) => toUserJson(scimUrl, user, groups.get(user.id) ?? []))
  }
  return {
    type: USER_TYPE,
    columns: toUserColumns(scimUrl),
    list: listUsers,
    find: findUser,
    toJson,
    // The version of a user changes with the names of its groups.
    versionOf: async (db, user) => {
      const [resource] = await toJson(db, [user])
      return (resource?.['meta'] as { version: string }).version
    },
    create: (change, attributes) => createUser(change, deprovisioning, attributes),
    replace: (change, id, given, check) =>
      updateUser(change, deprovisioning, id, {
        check,
        // A request that does not say keeps a person switched off or on.
        next: (person) => ({ active: person.deprovisionedAt === null, ...given }),
      }),
    patch: (change, id, edits, check) => {
      const isAboutEmails = edits.some(({ attribute }) => attribute.name === 'emails')
      return updateUser(change, deprovisioning, id, {
        check,
        next: (person) => applyEdits(toUserAttributes(person, isAboutEmails), edits),
      })
    },
    remove: (change, id, check) => deleteUser(change, deprovisioning, id, check),
    isShownAfterPatch: true,
  }
}
