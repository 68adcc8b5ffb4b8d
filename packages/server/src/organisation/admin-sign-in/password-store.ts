import { sql, type Kysely } from 'kysely'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { WRONG_CODES_MAX } from './sign-in-way-read.ts'

const passwordTable = defineTable('admin_password')

/** The password of an admin, with the authenticator app whose codes it needs. */
export type AdminPassword = RecordOf<typeof passwordTable>

/** The password of an admin; undefined for one who has none. */
export async function findPassword(
  db: Kysely<Schema>,
  adminId: string,
): Promise<AdminPassword | undefined> {
  return passwordTable.find(db, { adminId })
}

/** Stores a password and its app in place of those that the admin had, if any. */
export async function upsertPassword(
  db: Kysely<Schema>,
  password: Pick<AdminPassword, 'adminId' | 'passwordHash' | 'totpSecretSealed' | 'lastUsedStep'>,
): Promise<void> {
  const row = passwordTable.toInsert(password)
  await db
    .insertInto('admin_password')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('admin_id').doUpdateSet({
        ...row,
        wrong_code_count: 0,
        changed_at: sql<Date>`now()`,
      }),
    )
    .execute()
}

/** Changes the password of an admin and keeps its app; answers whether it had one. */
export async function updatePasswordHash(
  db: Kysely<Schema>,
  adminId: string,
  passwordHash: string,
): Promise<boolean> {
  const row = await db
    .updateTable('admin_password')
    .set({ password_hash: passwordHash, changed_at: sql<Date>`now()` })
    .where('admin_id', '=', adminId)
    .returning('admin_id')
    .executeTakeFirst()
  return row !== undefined
}

/** What a use of a password leaves behind. */
export interface PasswordUse {
  /** The time step of the code. */
  readonly step: number
  /** Other than before where it was made anew with the present parameters. */
  readonly passwordHash: string
}

/**
 * Uses a code up. Answers false when a code of its time step or a later one was taken before, by whichever process,
 * when the password has been changed since it was read, or is closed.
 */
export async function updatePasswordUse(
  db: Kysely<Schema>,
  { adminId, passwordHash: readHash }: Pick<AdminPassword, 'adminId' | 'passwordHash'>,
  { step, passwordHash }: PasswordUse,
): Promise<boolean> {
  const row = await db
    .updateTable('admin_password')
    .set({
      last_used_step: String(step),
      last_used_at: sql<Date>`now()`,
      wrong_code_count: 0,
      password_hash: passwordHash,
    })
    .where('admin_id', '=', adminId)
    .where('password_hash', '=', readHash)
    .where(sql<boolean>`last_used_step < ${step}`)
    .where('wrong_code_count', '<', WRONG_CODES_MAX)
    .returning('admin_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Counts refused codes and answers how many they are in a row; 0 for an admin without a password. */
export async function updateWrongCodes(
  db: Kysely<Schema>,
  adminId: string,
  added: 0 | 1,
): Promise<number> {
  const row = await db
    .updateTable('admin_password')
    .set((eb) => ({ wrong_code_count: eb('wrong_code_count', '+', added) }))
    .where('admin_id', '=', adminId)
    .returning('wrong_code_count')
    .executeTakeFirst()
  return row?.wrong_code_count ?? 0
}

/** Deletes the password of an admin; answers whether it had one. */
export async function deletePassword(db: Kysely<Schema>, adminId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('admin_password')
    .where('admin_id', '=', adminId)
    .returning('admin_id')
    .executeTakeFirst()
  return row !== undefined
}
