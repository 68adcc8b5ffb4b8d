import { sql, type Kysely } from 'kysely'
import { timeInMs } from '../../platform/db/database-time.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const passkeyTable = defineTable('admin_passkey')

/** A passkey of an admin: a public key, whose other half never leaves the authenticator. */
export type Passkey = RecordOf<typeof passkeyTable>

/** The passkeys of an admin by ascending id. */
export async function listPasskeys(db: Kysely<Schema>, adminId: string): Promise<Passkey[]> {
  return passkeyTable.list(db, { adminId })
}

/** The passkey with this credential id; undefined when there is none. */
export async function findPasskey(
  db: Kysely<Schema>,
  credentialId: Buffer,
): Promise<Passkey | undefined> {
  return passkeyTable.find(db, { credentialId })
}

export async function insertPasskey(
  db: Kysely<Schema>,
  passkey: Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'>,
): Promise<Passkey> {
  return passkeyTable.insert(db, passkey)
}

/**
 * Notes that a passkey was used; answers false when its counter did not rise since, which a copy of it would
 * cause. Authenticators that do not count say 0 each time.
 */
export async function updatePasskeyUse(
  db: Kysely<Schema>,
  id: string,
  counter: number,
): Promise<boolean> {
  const row = await db
    .updateTable('admin_passkey')
    .set({ counter, last_used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where(sql<boolean>`(counter < ${counter} or (counter = 0 and ${counter} = 0))`)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes a passkey of an admin; undefined when it has none with this id. */
export async function deletePasskey(
  db: Kysely<Schema>,
  adminId: string,
  id: string,
): Promise<Passkey | undefined> {
  const row = await db
    .deleteFrom('admin_passkey')
    .where('id', '=', id)
    .where('admin_id', '=', adminId)
    .returningAll()
    .executeTakeFirst()
  return row && passkeyTable.fromRow(row)
}

/** Notes that a challenge of this lifetime is used; answers false when it was before. */
export async function insertUsedChallenge(
  db: Kysely<Schema>,
  challengeHash: Buffer,
  lifetimeMs: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('admin_used_challenge')
    .values({ challenge_hash: challengeHash, expires_at: timeInMs(lifetimeMs) })
    .onConflict((conflict) => conflict.column('challenge_hash').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}
