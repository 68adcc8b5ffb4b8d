import { sql, type Kysely, type Transaction } from 'kysely'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { notify } from '../../platform/db/listener.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'

const keyTable = defineTable('sign_in_key')

/** A key that signs ID tokens. */
export type SignInKey = RecordOf<typeof keyTable>

/** The channel that tells every process of new keys. */
export const SIGN_IN_KEY_CHANNEL = 'heliograph_sign_in_keys'

/** The keys that are published at a time, the oldest first. */
export async function listPublishedKeys(db: Kysely<Schema>, at: Date): Promise<SignInKey[]> {
  const rows = await db
    .selectFrom('sign_in_key')
    .selectAll()
    .where((where) => where.or([where('retired_at', 'is', null), where('retired_at', '>', at)]))
    .orderBy('active_from')
    .execute()
  return rows.map((row) => keyTable.fromRow(row))
}

/** Waits until nobody else makes keys; holds it until the transaction ends. */
export async function lockSignInKeys(tx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(tx, LOCK_KEYS.signInKeys)
}

/** Adds a key and lets the others go out of publication at `othersUntil`. */
export async function insertSignInKey(
  tx: Transaction<Schema>,
  key: Omit<SignInKey, 'publicJwk' | 'retiredAt'> & { readonly publicJwk: object },
  othersUntil: Date,
): Promise<void> {
  await tx
    .updateTable('sign_in_key')
    .set({ retired_at: sql<Date>`least(coalesce(retired_at, ${othersUntil}), ${othersUntil})` })
    .execute()
  await keyTable.insert(tx, { ...key, publicJwk: JSON.stringify(key.publicJwk), retiredAt: null })
  await notify(tx, SIGN_IN_KEY_CHANNEL, key.kid)
}
