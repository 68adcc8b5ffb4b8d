import type { Kysely, Selectable } from 'kysely'
import type { Schema, SigningKeyTable } from '../../platform/db/schema.ts'

export type SigningKeyRow = Selectable<SigningKeyTable>

/** All signing keys, the one that became active last first. There are few: one per rotation. */
export async function listSigningKeys(db: Kysely<Schema>): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('signing_key')
    .selectAll()
    .orderBy('active_from', 'desc')
    .orderBy('kid')
    .execute()
}

export async function insertSigningKey(
  db: Kysely<Schema>,
  key: Omit<SigningKeyRow, 'public_jwk' | 'retired_at'> & {
    readonly public_jwk: Readonly<Record<string, string>>
  },
): Promise<void> {
  await db
    .insertInto('signing_key')
    .values({ ...key, public_jwk: JSON.stringify(key.public_jwk), retired_at: null })
    .execute()
}

/** Ends the publication of every key but `exceptKid` at `retiredAt`, unless it ends earlier already. */
export async function retireSigningKeysExcept(
  db: Kysely<Schema>,
  exceptKid: string,
  retiredAt: Date,
): Promise<void> {
  await db
    .updateTable('signing_key')
    .set({ retired_at: retiredAt })
    .where('kid', '!=', exceptKid)
    .where((where) =>
      where.or([where('retired_at', 'is', null), where('retired_at', '>', retiredAt)]),
    )
    .execute()
}
