import type { Change } from '../../changes/change.ts'
import { applyEdits } from './apply-edits.ts'
import { applyMemberSteps, readMemberSteps, type MemberStep } from './edit-members.ts'
import type { PatchEdit } from './patch-edits.ts'
import type { ScimAttributes } from './read-resource.ts'
import { badRequest, notUnique, resourceNotFound } from './scim-error.ts'
import {
  toGroupAttributes,
  toMemberIds,
  toProvisionedGroup,
  type PersonGroup,
  type ProvisionedGroup,
} from './scim-group.ts'
import {
  deleteGroupRow,
  deleteMembers,
  findGroupForUpdate,
  insertGroup,
  insertMembers,
  isGroupNameTaken,
  listExistingUserIds,
  listMemberIds,
  updateGroup,
} from './scim-group-store.ts'

/** Sees a group before it is changed, locked, and may refuse. */
export type CheckGroup = (group: PersonGroup) => Promise<void>

/**
 * Makes a group with its members. Names of groups are unique in any case: identity providers find
 * groups by them.
 *
 * @throws ScimError `uniqueness`, `invalidValue` also for a member who does not exist
 */
export async function createGroup(
  change: Change,
  attributes: ScimAttributes,
): Promise<PersonGroup> {
  const { name, externalId } = toProvisionedGroup(attributes)
  const memberIds = toMemberIds(attributes['members'])
  const group = await insertGroup(change.tx, {
    name,
    externalId,
    createdAt: change.at,
    updatedAt: change.at,
  })
  if (group === undefined) throw nameTaken(name)
  change.recordAudit({
    action: 'person_group.created',
    target: { type: 'person_group', id: group.id },
    description: `created the person group ${name}`,
    after: { name, external_id: externalId },
  })
  await changeMembers(change, group, [{ kind: 'add', ids: memberIds }], memberIds)
  return group
}

/**
 * Replaces a group and all its members. A group that stays the same is not written.
 *
 * @throws ScimError 404, `uniqueness`, `invalidValue`, and what `check` throws
 */
export async function replaceGroup(
  change: Change,
  id: string,
  attributes: ScimAttributes,
  check: CheckGroup,
): Promise<PersonGroup> {
  const group = await getGroupForUpdate(change, id)
  await check(group)
  const ids = toMemberIds(attributes['members'])
  return saveGroup(change, group, toProvisionedGroup(attributes), {
    steps: [{ kind: 'replace', ids }],
    involvedIds: undefined,
  })
}

/**
 * Carries out the edits of a PATCH request on a group.
 *
 * @throws ScimError 404, `uniqueness`, `invalidValue`, `noTarget`, and what `check` throws
 */
export async function patchGroup(
  change: Change,
  id: string,
  edits: readonly PatchEdit[],
  check: CheckGroup,
): Promise<PersonGroup> {
  const group = await getGroupForUpdate(change, id)
  await check(group)
  const isMemberEdit = (edit: PatchEdit) => edit.attribute.name === 'members'
  const attributes = applyEdits(
    toGroupAttributes(group),
    edits.filter((edit) => !isMemberEdit(edit)),
  )
  const members = readMemberSteps(edits.filter(isMemberEdit))
  return saveGroup(change, group, toProvisionedGroup(attributes), members)
}

/**
 * Deletes a group; its members stay.
 *
 * @throws ScimError 404, and what `check` throws
 */
export async function deleteGroup(change: Change, id: string, check: CheckGroup): Promise<void> {
  const group = await getGroupForUpdate(change, id)
  await check(group)
  const memberIds = await listMemberIds(change.tx, id, undefined)
  change.recordAudit({
    action: 'person_group.deleted',
    target: { type: 'person_group', id },
    description: `deleted the person group ${group.name}`,
    before: {
      name: group.name,
      external_id: group.externalId,
      members_count: memberIds.length,
      person_ids: shorten(memberIds),
    },
  })
  await deleteGroupRow(change.tx, id)
}

async function getGroupForUpdate(change: Change, id: string): Promise<PersonGroup> {
  const group = await findGroupForUpdate(change.tx, id)
  if (group === undefined) throw resourceNotFound('group', id)
  return group
}

async function saveGroup(
  change: Change,
  group: PersonGroup,
  next: ProvisionedGroup,
  members: ReturnType<typeof readMemberSteps>,
): Promise<PersonGroup> {
  const isRenamed = next.name !== group.name || next.externalId !== group.externalId
  if (isRenamed) await recordRename(change, group, next)
  const isMoved = await changeMembers(
    change,
    { ...group, name: next.name },
    members.steps,
    members.involvedIds,
  )
  if (!isRenamed && !isMoved) return group
  return updateGroup(change.tx, group.id, {
    name: next.name,
    externalId: next.externalId,
    updatedAt: change.at,
  })
}

async function recordRename(
  change: Change,
  group: PersonGroup,
  next: ProvisionedGroup,
): Promise<void> {
  if (await isGroupNameTaken(change.tx, next.name, group.id)) throw nameTaken(next.name)
  change.recordAudit({
    action: 'person_group.updated',
    target: { type: 'person_group', id: group.id },
    description: `updated the person group ${next.name}`,
    before: { name: group.name, external_id: group.externalId },
    after: { name: next.name, external_id: next.externalId },
  })
}

/** Carries out the steps; answers whether anybody came or went. */
async function changeMembers(
  change: Change,
  group: PersonGroup,
  steps: readonly MemberStep[],
  involvedIds: readonly string[] | undefined,
): Promise<boolean> {
  if (involvedIds?.length === 0) return false
  const before = new Set(await listMemberIds(change.tx, group.id, involvedIds))
  const after = applyMemberSteps([...before], steps)
  const added = [...after].filter((id) => !before.has(id))
  const removed = [...before].filter((id) => !after.has(id))
  if (added.length === 0 && removed.length === 0) return false
  await requireUsers(change, added)
  await insertMembers(change.tx, group.id, added, change.at)
  await deleteMembers(change.tx, group.id, removed)
  change.recordAudit({
    action: 'person_group.members_changed',
    target: { type: 'person_group', id: group.id },
    description: `changed the members of ${group.name}: ${added.length} added, ${removed.length} removed`,
    before: { removed_count: removed.length, removed_person_ids: shorten(removed) },
    after: { added_count: added.length, added_person_ids: shorten(added) },
  })
  return true
}

async function requireUsers(change: Change, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const existing = new Set(await listExistingUserIds(change.tx, ids))
  const missing = ids.find((id) => !existing.has(id))
  if (missing !== undefined) throw badRequest('invalidValue', `There is no user ${missing}.`)
}

const AUDITED_IDS_MAX = 100

function shorten(ids: readonly string[]): string[] {
  return ids.slice(0, AUDITED_IDS_MAX)
}

function nameTaken(name: string): Error {
  return notUnique(`Another group has the name "${name}".`)
}
