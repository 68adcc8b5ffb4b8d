/*
 * Groups of devices that admins make: checks are aimed at them and spare them. Owns the groups
 * themselves; who belongs to one is in change-memberships.ts.
 */
import type { Change } from '../../changes/change.ts'
import { conflict } from '../../platform/app-error.ts'
import type { DeviceGroup } from './device-group-read.ts'
import {
  deleteDeviceGroupRow,
  getDeviceGroupForUpdate,
  insertDeviceGroup,
  listChecksBoundToGroup,
  updateDeviceGroup,
} from './device-group-store.ts'
import { auditedAs } from '../../changes/audited-record.ts'

const audit = auditedAs('device_group', 'device group')

/** What a group is called; texts that can be stored. */
export interface DeviceGroupInput {
  readonly name: string
  readonly description: string
}

/**
 * Creates a group without members.
 *
 * @throws AppError `conflict` when another group has the name
 */
export async function createDeviceGroup(
  change: Change,
  input: DeviceGroupInput,
): Promise<DeviceGroup> {
  const group = await insertDeviceGroup(change.tx, input, change.at)
  audit.created(change, group, toAudit(group))
  return group
}

/**
 * Changes what is given of a group; a change of nothing leaves no audit entry.
 *
 * @throws AppError `not_found`; `conflict` when another group has the name
 */
export async function changeDeviceGroup(
  change: Change,
  id: string,
  input: Partial<DeviceGroupInput>,
): Promise<DeviceGroup> {
  const before = await getDeviceGroupForUpdate(change.tx, id)
  const name = input.name ?? before.name
  const description = input.description ?? before.description
  if (name === before.name && description === before.description) return before
  const after = await updateDeviceGroup(change.tx, before.id, {
    name,
    description,
    updatedAt: change.at,
  })
  audit.updated(change, after, toAudit(before), toAudit(after))
  return after
}

/**
 * Deletes a group and its memberships; answers it as it was. A group that a check is aimed at, or
 * spares, is refused: without the group the check would run on other devices than anyone decided.
 *
 * @throws AppError `not_found`; `conflict` naming the checks
 */
export async function deleteDeviceGroup(change: Change, id: string): Promise<DeviceGroup> {
  const group = await getDeviceGroupForUpdate(change.tx, id)
  const checks = await listChecksBoundToGroup(change.tx, group.id)
  if (checks.length > 0) {
    const names = checks.slice(0, CHECKS_NAMED_MAX).join(', ')
    throw conflict(`Checks are configured for the group ${group.name}: ${names}.`)
  }
  await deleteDeviceGroupRow(change.tx, group.id)
  audit.deleted(change, group, toAudit(group))
  return group
}

const CHECKS_NAMED_MAX = 10

function toAudit({ name, description, membersCount }: DeviceGroup) {
  return { name, description, members_count: membersCount }
}
