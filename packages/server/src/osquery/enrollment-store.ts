import { sql, type Insertable, type Kysely, type Transaction } from 'kysely'
import type { Device } from '../devices/device-store.ts'
import type { DeviceTable, Schema } from '../platform/db/schema.ts'

/** An enrollment secret that may be used. */
export interface LiveSecret {
  readonly id: string
  readonly personId: string | null
}

/** The secret with this hash, unless it is revoked or expired. */
export async function findLiveSecret(
  db: Kysely<Schema>,
  secretHash: Buffer,
  at: Date,
): Promise<LiveSecret | undefined> {
  const { rows } = await sql<LiveSecret>`
    select id, person_id as "personId" from enrollment_secret
    where secret_hash = ${secretHash} and revoked_at is null
      and (expires_at is null or expires_at > ${at})
  `.execute(db)
  return rows[0]
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

/** The device with a host identifier, locked until the transaction ends. */
export async function getDeviceByHostIdentifier(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<Device> {
  return tx
    .selectFrom('device')
    .selectAll()
    .where('host_identifier', '=', hostIdentifier)
    .forUpdate()
    .executeTakeFirstOrThrow()
}
