import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { lockAllInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_CLASSES } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'

/** What tells machines apart; null where it is not known. */
export interface Hardware {
  readonly serial: string | null
  readonly hardwareUuid: string | null
}

/** Lets nobody else bring or take away devices with such hardware until the transaction ends. */
export async function lockHardware(
  tx: Transaction<Schema>,
  hardware: readonly Hardware[],
): Promise<void> {
  const keys = hardware
    .flatMap(({ serial, hardwareUuid }) => [
      ...(serial === null ? [] : [`serial ${serial.toLowerCase()}`]),
      ...(hardwareUuid === null ? [] : [`uuid ${hardwareUuid.toLowerCase()}`]),
    ])
    .map((text) => createHash('sha256').update(text).digest().readInt32BE())
  await lockAllInTransaction(tx, LOCK_CLASSES.hardware, keys)
}

/** A device whose flag does not say what is so. */
export interface ChangedDuplicate extends Hardware {
  readonly id: string
  readonly name: string
  readonly isDuplicate: boolean
}

const HAS_TWIN = sql<boolean>`exists (
  select from device twin where twin.id <> device.id
    and (lower(twin.serial) = lower(device.serial)
      or lower(twin.hardware_uuid) = lower(device.hardware_uuid)))`

/**
 * Makes the flag true of every device with some of this hardware, and answers those of which it was not. The devices
 * are locked by ascending id. The hardware is locked.
 */
export async function updateDuplicates(
  tx: Transaction<Schema>,
  hardware: readonly Hardware[],
  at: Date,
): Promise<ChangedDuplicate[]> {
  const known = hardware.map(({ serial, hardwareUuid }) => ({ serial, uuid: hardwareUuid }))
  const { rows } = await sql<ChangedDuplicate>`
    with concerned as materialized (
      select device.id
      from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as known(serial text, uuid text)
      cross join lateral (
        select id from device
        where lower(serial) = lower(known.serial) or lower(hardware_uuid) = lower(known.uuid)
        offset 0) as device),
    changed as materialized (
      select device.id from device
      where device.id in (select id from concerned)
        and ${HAS_TWIN} <> (duplicate_hardware_since is not null)
      order by device.id for no key update)
    update device set duplicate_hardware_since = case when ${HAS_TWIN} then ${at}::timestamptz end
    where device.id in (select id from changed)
      and ${HAS_TWIN} <> (duplicate_hardware_since is not null)
    returning id, name, serial, hardware_uuid as "hardwareUuid", duplicate_hardware_since is not null as "isDuplicate"
  `.execute(tx)
  return rows
}
