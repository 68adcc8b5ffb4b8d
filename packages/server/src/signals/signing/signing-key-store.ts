import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { defineTable, type RecordOf, type RecordChanges } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'

const keyTable = defineTable('signing_key')

export type SigningKeyRecord = RecordOf<typeof keyTable>

/** Nobody else makes, rotates or revokes signing keys until the transaction ends. */
export async function lockSigningKeys(db: Kysely<Schema>): Promise<void> {
  await lockInTransaction(db, LOCK_KEYS.signingKeys)
}

/** All signing keys, the one that became active last first. There are few: one per rotation. */
export async function listSigningKeys(db: Kysely<Schema>): Promise<SigningKeyRecord[]> {
  const rows = await db
    .selectFrom('signing_key')
    .selectAll()
    .orderBy('active_from', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(keyTable.fromRow)
}

/** A page of the signing keys, oldest first. */
export async function listSigningKeyPage(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<SigningKeyRecord[]> {
  const rows = await readPage(db.selectFrom('signing_key').selectAll(), 'id', window)
  return rows.map(keyTable.fromRow)
}

/** @throws AppError `not_found`. */
export async function getSigningKey(db: Kysely<Schema>, kid: string): Promise<SigningKeyRecord> {
  const key = await keyTable.find(db, { kid })
  if (key === undefined) throw new AppError('not_found', 'There is no such signing key.')
  return key
}

/** What is stored of a new key. */
export interface NewSigningKey extends Pick<
  SigningKeyRecord,
  'kid' | 'algorithm' | 'privateKeySealed' | 'createdAt' | 'activeFrom' | 'generalFrom'
> {
  readonly publicJwk: Readonly<Record<string, string>>
}

export async function insertSigningKey(
  db: Kysely<Schema>,
  key: NewSigningKey,
): Promise<SigningKeyRecord> {
  const publicJwk = JSON.stringify(key.publicJwk)
  return keyTable.insert(db, { ...key, publicJwk, retiredAt: null })
}

/** Changes the times of a key. */
export async function updateSigningKey(
  db: Kysely<Schema>,
  kid: string,
  values: Pick<
    RecordChanges<'signing_key'>,
    'activeFrom' | 'generalFrom' | 'retiredAt' | 'rolledBackAt' | 'revokedAt' | 'canariesVerifiedAt'
  >,
): Promise<SigningKeyRecord> {
  return keyTable.update(db, { kid }, values)
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
