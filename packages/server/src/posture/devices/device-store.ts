import type { Kysely, Transaction } from 'kysely'
import type { StoredRecord } from '../../schema/define-table.ts'
import { AppError } from '../../platform/app-error.ts'
import { notify } from '../../platform/db/listener.ts'
import type { Schema } from '../../schema/schema.ts'
import { rowsOf } from '../../schema/row-store.ts'

const devices = rowsOf('device', 'device')

export type Device = StoredRecord<'device'>

const ID_PATTERN = /^\d{1,18}$/

/**
 * The device, locked until the transaction ends.
 *
 * @throws AppError `not_found`, also for a text that is no id
 */
export async function getDeviceForUpdate(tx: Transaction<Schema>, id: string): Promise<Device> {
  const device = ID_PATTERN.test(id) ? await devices.findForUpdate(tx, id) : undefined
  if (device === undefined) {
    throw new AppError('not_found', `There is no device ${id.slice(0, 50)}.`)
  }
  return device
}

export const updateDevice = devices.update

/** The channel that tells the agent intakes of all processes that they know something outdated. */
export const DEVICE_CHANNEL = 'device'

/**
 * Makes every agent intake forget, at commit, what it knows of a device: its key, its requested
 * reruns, when its checks are due. `all` means every device.
 */
export async function notifyDeviceChanged(db: Kysely<Schema>, deviceId: string): Promise<void> {
  await notify(db, DEVICE_CHANNEL, deviceId)
}

/** The ids of devices after `afterId` in ascending order, `limit` at most. */
export async function listDeviceIds(
  db: Kysely<Schema>,
  afterId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('device')
    .select('id')
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** The ids of the devices that a person owns, in ascending order. */
export async function listDeviceIdsOfOwner(
  db: Kysely<Schema>,
  personId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('device')
    .select('id')
    .where('owner_person_id', '=', personId)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
