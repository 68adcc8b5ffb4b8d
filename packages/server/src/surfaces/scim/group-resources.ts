import { isShown } from '../../people/provisioning/projection.ts'
import {
  createGroup,
  deleteGroup,
  patchGroup,
  replaceGroup,
} from '../../people/provisioning/provision-group.ts'
import {
  findGroup,
  listGroups,
  listMembersOfGroups,
  toGroupColumns,
} from '../../people/provisioning/scim-group-store.ts'
import {
  groupVersion,
  toGroupJson,
  type PersonGroup,
} from '../../people/provisioning/scim-group.ts'
import { GROUP_TYPE } from '../../people/provisioning/scim-schema.ts'
import type { ProvisioningDependencies, ScimResources } from './resource-endpoints.ts'

/** How groups are read and changed; RFC 7644 section 3. */
export function groupResources(
  deps: Pick<ProvisioningDependencies, 'scimUrl'>,
): ScimResources<PersonGroup> {
  return {
    type: GROUP_TYPE,
    columns: toGroupColumns(deps.scimUrl),
    list: listGroups,
    find: findGroup,
    toJson: async (db, groups, projection) => {
      if (!isShown(projection, 'members')) {
        return groups.map((group) => toGroupJson(deps.scimUrl, group, undefined))
      }
      const members = await listMembersOfGroups(
        db,
        groups.map(({ id }) => id),
      )
      return groups.map((group) => toGroupJson(deps.scimUrl, group, members.get(group.id) ?? []))
    },
    versionOf: async (_db, group) => groupVersion(group),
    create: createGroup,
    replace: replaceGroup,
    patch: patchGroup,
    remove: deleteGroup,
    isShownAfterPatch: false,
  }
}
