import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_CLASSES } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'

/** What tells machines apart; null where it is not known. */
export interface Hardware {
  readonly serial: string | null
  readonly hardwareUuid: string | null
}

/** Lets nobody else bring or take away a device with this hardware until the transaction ends. */
export async function lockHardware(tx: Transaction<Schema>, hardware: Hardware): Promise<void> {
  const keys = [
    ...(hardware.serial === null ? [] : [`serial ${hardware.serial.toLowerCase()}`]),
    ...(hardware.hardwareUuid === null ? [] : [`uuid ${hardware.hardwareUuid.toLowerCase()}`]),
  ].map((text) => createHash('sha256').update(text).digest().readInt32BE())
  // In one order, so that two that share both do not wait for each other.
  for (const key of [...new Set(keys)].sort((a, b) => a - b)) {
    await lockInTransaction(tx, [LOCK_CLASSES.hardware, key])
  }
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
 * Makes the flag true of every device with this hardware, and answers those of which it was not. The
 * hardware is locked.
 */
export async function updateDuplicates(
  tx: Transaction<Schema>,
  hardware: Hardware,
  at: Date,
): Promise<ChangedDuplicate[]> {
  const { serial, hardwareUuid: uuid } = hardware
  const { rows } = await sql<ChangedDuplicate>`
    update device set duplicate_hardware_since = case when ${HAS_TWIN} then ${at}::timestamptz end
    where (lower(serial) = lower(${serial}::text) or lower(hardware_uuid) = lower(${uuid}::text))
      and ${HAS_TWIN} <> (duplicate_hardware_since is not null)
    returning id, name, serial, hardware_uuid as "hardwareUuid", duplicate_hardware_since is not null as "isDuplicate"
  `.execute(tx)
  return rows
}
