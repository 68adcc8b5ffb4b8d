import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

export type Admin = Selectable<Schema['admin_user']>

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
  values: Insertable<Schema['admin_user']>,
): Promise<Admin> {
  return db.insertInto('admin_user').values(values).returningAll().executeTakeFirstOrThrow()
}

/** All admins by ascending id. Their number is small and bounded by the organisation's staff. */
export async function listAllAdmins(db: Kysely<Schema>): Promise<Admin[]> {
  return db.selectFrom('admin_user').selectAll().orderBy('id').execute()
}

/** The access of an admin, or of the admin who answers for an API key; undefined for other callers. */
export async function findAdminAccess(
  db: Kysely<Schema>,
  principal: { readonly kind: string; readonly id: string },
): Promise<Admin['access'] | undefined> {
  const admin =
    principal.kind === 'admin'
      ? await db
          .selectFrom('admin_user')
          .select('access')
          .where('id', '=', principal.id)
          .executeTakeFirst()
      : await db
          .selectFrom('api_key')
          .innerJoin('admin_user', 'admin_user.id', 'api_key.responsible_admin_id')
          .select('admin_user.access')
          .where('api_key.id', '=', principal.id)
          .executeTakeFirst()
  return admin?.access
}
