/*
 * The rows of device groups and their members. Owns that a name is taken once; the number of members
 * is kept by triggers, whatever adds or removes them.
 */
import { sql, type Transaction } from 'kysely'
import type { RecordChanges } from '../../schema/define-table.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import { findRecord } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { isUniqueViolation } from '../../platform/db/unique-violation.ts'
import { parseId } from '../../platform/ids.ts'
import type { DeviceGroup } from './device-group-read.ts'
import { rowsOf } from '../../schema/row-store.ts'

const groups = rowsOf('device_group', 'device group')

/**
 * The group, locked until the transaction ends.
 *
 * @throws AppError `not_found`, also for a text that is no id
 */
export async function getDeviceGroupForUpdate(
  tx: Transaction<Schema>,
  id: string,
): Promise<DeviceGroup> {
  return groups.getForUpdate(tx, parseId(id, 'device group'))
}

/**
 * The group, kept from every other change of it and its members until the transaction ends, but not from changes that
 * only keep it from being deleted: these lock groups before devices, and memberships devices before groups.
 *
 * @throws AppError `not_found`, also for a text that is no id
 */
export async function getDeviceGroupForMembers(
  tx: Transaction<Schema>,
  id: string,
): Promise<DeviceGroup> {
  const groupId = parseId(id, 'device group')
  const locked = tx.selectFrom('device_group').selectAll().where('id', '=', groupId)
  const group = await findRecord(locked.forNoKeyUpdate())
  if (group === undefined) throw notFound('device group', groupId)
  return group
}

/** @throws AppError `conflict` when another group has the name in any case */
export async function insertDeviceGroup(
  tx: Transaction<Schema>,
  values: { readonly name: string; readonly description: string },
  at: Date,
): Promise<DeviceGroup> {
  return refuseTakenName(values.name, () =>
    groups.insert(tx, { ...values, createdAt: at, updatedAt: at }),
  )
}

/** @throws AppError `conflict` when another group has the name in any case */
export async function updateDeviceGroup(
  tx: Transaction<Schema>,
  id: string,
  values: RecordChanges<'device_group'>,
): Promise<DeviceGroup> {
  return refuseTakenName(values.name ?? '', () => groups.update(tx, id, values))
}

export const deleteDeviceGroupRow = groups.remove

/** The names of the checks whose configuration names a group, in their order. */
export async function listChecksBoundToGroup(
  tx: Transaction<Schema>,
  id: string,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('check_group_rule')
    .innerJoin('posture_check', 'posture_check.id', 'check_group_rule.check_id')
    .select('posture_check.name')
    .distinct()
    .where('check_group_rule.device_group_id', '=', id)
    .orderBy('posture_check.name')
    .execute()
  return rows.map(({ name }) => name)
}

/** Of some devices, those that exist. */
export async function listExistingDevices(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from device where id = any(${deviceIds}::bigint[])
  `.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Adds devices to a group; answers those that were no members before. */
export async function insertDeviceGroupMembers(
  tx: Transaction<Schema>,
  groupId: string,
  deviceIds: readonly string[],
  at: Date,
): Promise<string[]> {
  const { rows } = await sql<{ device_id: string }>`
    insert into device_group_member (device_group_id, device_id, added_at)
    select ${groupId}::bigint, device_id, ${at}::timestamptz
    from unnest(${deviceIds}::bigint[]) as new(device_id)
    order by device_id
    on conflict do nothing
    returning device_id
  `.execute(tx)
  return rows.map((row) => row.device_id)
}

/** Takes a device out of a group; answers whether it was a member. */
export async function deleteDeviceGroupMember(
  tx: Transaction<Schema>,
  groupId: string,
  deviceId: string,
): Promise<boolean> {
  const row = await tx
    .deleteFrom('device_group_member')
    .where('device_group_id', '=', groupId)
    .where('device_id', '=', deviceId)
    .returning('device_id')
    .executeTakeFirst()
  return row !== undefined
}

async function refuseTakenName<Result>(name: string, write: () => Promise<Result>) {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `Another device group is called ${name}.`, {
      cause: error,
    })
  }
}
