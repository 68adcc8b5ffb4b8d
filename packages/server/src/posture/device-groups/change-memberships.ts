import type { Change } from '../../changes/change.ts'
import { applyCheckScope } from '../checks/apply-check-scope.ts'
import { lockDeviceRows } from '../devices/device-status-store.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import { parseId } from '../../platform/ids.ts'
import type { DeviceGroup } from './device-group-read.ts'
import {
  deleteDeviceGroupMember,
  getDeviceGroupForMembers,
  insertDeviceGroupMembers,
  listExistingDevices,
} from './device-group-store.ts'

/** A device in a group. */
export interface DeviceGroupMember {
  readonly deviceId: string
  readonly groupId: string
}

/**
 * Adds devices to a group, and makes their results, issues and statuses follow from it. Devices that
 * belong to it already stay; all that were asked for are answered, each once. All or nothing.
 *
 * @throws AppError `not_found` without the group, or naming the devices that do not exist
 */
export async function addDevicesToGroup(
  change: Change,
  groupId: string,
  deviceIds: readonly string[],
): Promise<DeviceGroupMember[]> {
  const { tx, at } = change
  const ids = [...new Set(deviceIds.map((id) => parseId(id, 'device')))]
  // As every change of memberships, so that two never wait for each other.
  await lockDeviceRows(tx, ids)
  const group = await getDeviceGroupForMembers(tx, groupId)
  await assertDevicesExist(change, ids)
  const addedIds = await insertDeviceGroupMembers(tx, group.id, ids, at)
  if (addedIds.length > 0) {
    change.recordAudit({
      action: 'device_group.devices_added',
      target: { type: 'device_group', id: group.id },
      description: `added ${countDevices(addedIds)} to the device group ${group.name}`,
      before: { members_count: group.membersCount },
      after: {
        members_count: group.membersCount + addedIds.length,
        device_ids: addedIds,
      },
    })
    await applyMemberships(change, group, addedIds)
  }
  return ids.map((deviceId) => ({ deviceId, groupId: group.id }))
}

/**
 * Takes a device out of a group, and makes its results, issues and status follow from it.
 *
 * @throws AppError `not_found` without the group, and for a device that is not a member
 */
export async function removeDeviceFromGroup(
  change: Change,
  groupId: string,
  deviceId: string,
): Promise<DeviceGroupMember> {
  const { tx } = change
  const id = parseId(deviceId, 'device')
  await lockDeviceRows(tx, [id])
  const group = await getDeviceGroupForMembers(tx, groupId)
  if (!(await deleteDeviceGroupMember(tx, group.id, id))) {
    throw new AppError('not_found', `The device ${id} is not in the group ${group.id}.`)
  }
  change.recordAudit({
    action: 'device_group.device_removed',
    target: { type: 'device_group', id: group.id },
    description: `removed a device from the device group ${group.name}`,
    before: { members_count: group.membersCount, device_id: id },
    after: { members_count: group.membersCount - 1 },
  })
  await applyMemberships(change, group, [id])
  return { deviceId: id, groupId: group.id }
}

async function assertDevicesExist(change: Change, ids: readonly string[]): Promise<void> {
  const existing = await listExistingDevices(change.tx, ids)
  const missing = ids.filter((id) => !existing.has(id))
  const [first] = missing
  if (first !== undefined) throw notFound('device', missing.slice(0, MISSING_NAMED_MAX).join(', '))
}

const MISSING_NAMED_MAX = 20

async function applyMemberships(
  change: Change,
  group: DeviceGroup,
  deviceIds: readonly string[],
): Promise<void> {
  await applyCheckScope(
    change,
    { deviceIds },
    { initiatingEntity: 'admin', reason: `The members of the group ${group.name} changed.` },
  )
}

function countDevices(ids: readonly string[]): string {
  return ids.length === 1 ? 'a device' : `${ids.length} devices`
}
