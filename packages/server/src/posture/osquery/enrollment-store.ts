import { sql, type Kysely, type Transaction } from 'kysely'
import { defineTable, type NewRecord } from '../../schema/define-table.ts'
import type { Device } from '../devices/device-store.ts'
import { findRecord } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'

const devices = defineTable('device')

/** An enrollment secret that is neither revoked nor expired. */
export interface LiveSecret {
  readonly id: string
  readonly personId: string | null
  readonly createdAt: Date
  /** Whether it has been used as often as it may be. */
  readonly isUsedUp: boolean
}

/**
 * The secret with this hash, unless it is revoked or expired. One with a maximum of uses is locked until the
 * transaction ends, so that no two take the last use.
 */
export async function findLiveSecret(
  db: Kysely<Schema>,
  secretHash: Buffer,
  at: Date,
): Promise<LiveSecret | undefined> {
  const select = sql`
    select id, person_id as "personId", created_at as "createdAt", uses_max is not null as "isLimited",
      coalesce(use_count >= uses_max, false) as "isUsedUp"
    from enrollment_secret
    where secret_hash = ${secretHash} and revoked_at is null
      and (expires_at is null or expires_at > ${at})`
  const [found] = (await sql<LiveSecret & { isLimited: boolean }>`${select}`.execute(db)).rows
  if (found?.isLimited !== true) return found
  return (await sql<LiveSecret>`${select} for update`.execute(db)).rows[0]
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
  values: NewRecord<'device'>,
): Promise<Device | undefined> {
  return findRecord(
    tx
      .insertInto('device')
      .values(devices.toInsert(values))
      .onConflict((conflict) => conflict.column('host_identifier').doNothing())
      .returningAll(),
  )
}
