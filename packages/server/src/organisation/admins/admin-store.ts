import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { AdminUserTable } from '../../schema/tables/organisation-tables.ts'

export type Admin = Selectable<AdminUserTable>

/** The admin with this email address, whatever its case. */
export async function findAdminByEmail(
  db: Kysely<Schema>,
  email: string,
): Promise<Admin | undefined> {
  return db
    .selectFrom('admin_user')
    .selectAll()
    .where((eb) => eb.fn('lower', ['email']), '=', email.toLowerCase())
    .executeTakeFirst()
}

export async function insertAdmin(
  db: Kysely<Schema>,
  values: Insertable<AdminUserTable>,
): Promise<Admin> {
  return db.insertInto('admin_user').values(values).returningAll().executeTakeFirstOrThrow()
}

/** All admins by ascending id. Their number is small and bounded by the organisation's staff. */
export async function listAllAdmins(db: Kysely<Schema>): Promise<Admin[]> {
  return db.selectFrom('admin_user').selectAll().orderBy('id').execute()
}
