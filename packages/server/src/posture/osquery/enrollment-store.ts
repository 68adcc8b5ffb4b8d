import { sql, type Insertable, type Kysely, type Transaction } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import type { Device } from '../devices/device-store.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DeviceTable } from '../../schema/tables/device-tables.ts'

/** An enrollment secret that may be used. */
export interface LiveSecret {
  readonly id: string
  readonly personId: string | null
  readonly createdAt: Date
}

/** The secret with this hash, unless it is revoked or expired. */
export async function findLiveSecret(
  db: Kysely<Schema>,
  secretHash: Buffer,
  at: Date,
): Promise<LiveSecret | undefined> {
  const { rows } = await sql<LiveSecret>`
    select id, person_id as "personId", created_at as "createdAt" from enrollment_secret
    where secret_hash = ${secretHash} and revoked_at is null
      and (expires_at is null or expires_at > ${at})
  `.execute(db)
  return rows[0]
}

/** Whether {@link findLiveSecret} finds a secret at the moment; locks nothing. */
export async function hasLiveSecret(
  db: Kysely<Schema>,
  secretHash: Buffer,
  at: Date,
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    select id from enrollment_secret
    where secret_hash = ${secretHash} and revoked_at is null
      and (expires_at is null or expires_at > ${at})`.execute(db)
  return rows.length > 0
}

/** Inserts a device; undefined when one with its host identifier exists. */
export async function insertDevice(
  tx: Transaction<Schema>,
  values: Insertable<DeviceTable>,
): Promise<Device | undefined> {
  return tx
    .insertInto('device')
    .values(values)
    .onConflict((conflict) => conflict.column('host_identifier').doNothing())
    .returningAll()
    .executeTakeFirst()
}

/**
 * The device with a host identifier, locked until the transaction ends.
 *
 * @throws AppError `unavailable` when it has just been deleted: the agent tries again
 */
export async function getDeviceByHostIdentifier(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<Device> {
  const device = await tx
    .selectFrom('device')
    .selectAll()
    .where('host_identifier', '=', hostIdentifier)
    .forUpdate()
    .executeTakeFirst()
  if (device !== undefined) return device
  throw new AppError('unavailable', 'The device has just been deleted.')
}
