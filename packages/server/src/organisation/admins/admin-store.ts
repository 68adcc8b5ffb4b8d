import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
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

/**
 * The admin with this email address, whatever its case.
 *
 * @throws AppError `not_found`
 */
export async function getAdminByEmail(db: Kysely<Schema>, email: string): Promise<Admin> {
  const admin = await findAdminByEmail(db, email)
  if (admin === undefined) {
    throw new AppError('not_found', `There is no admin with the email address ${email}.`)
  }
  return admin
}

/** The admin with this id; undefined when there is none. */
export async function findAdminById(db: Kysely<Schema>, id: string): Promise<Admin | undefined> {
  return db.selectFrom('admin_user').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertAdmin(
  db: Kysely<Schema>,
  values: Insertable<Schema['admin_user']>,
): Promise<Admin> {
  return db.insertInto('admin_user').values(values).returningAll().executeTakeFirstOrThrow()
}

/** Every active admin with Full Access by ascending id, each locked until the transaction ends. */
export async function listFullAdminsForUpdate(db: Kysely<Schema>): Promise<Admin[]> {
  return db
    .selectFrom('admin_user')
    .selectAll()
    .where('access', '=', 'full')
    .where('deactivated_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** The admin, locked until the transaction ends. */
export async function findAdminForUpdate(
  db: Kysely<Schema>,
  id: string,
): Promise<Admin | undefined> {
  return db.selectFrom('admin_user').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/**
 * The admin as long as nobody changes or removes it before the transaction ends; undefined when it is gone.
 * For whoever gives it a key.
 */
export async function findAdminForShare(
  db: Kysely<Schema>,
  id: string,
): Promise<Admin | undefined> {
  return db.selectFrom('admin_user').selectAll().where('id', '=', id).forShare().executeTakeFirst()
}

export async function updateAdmin(
  db: Kysely<Schema>,
  id: string,
  values: Updateable<Schema['admin_user']>,
): Promise<Admin> {
  return db
    .updateTable('admin_user')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes the admin, for whom no key may stand any more. */
export async function deleteAdmin(db: Kysely<Schema>, id: string): Promise<void> {
  await db.deleteFrom('admin_user').where('id', '=', id).execute()
}

/** Whether an admin has Full Access and is not deactivated: may answer for keys and see secrets. */
export function hasFullAccess({
  access,
  deactivated_at: out,
}: Pick<Admin, 'access' | 'deactivated_at'>): boolean {
  return access === 'full' && out === null
}

/** All admins by ascending id. Their number is small and bounded by the organisation's staff. */
export async function listAllAdmins(db: Kysely<Schema>): Promise<Admin[]> {
  return db.selectFrom('admin_user').selectAll().orderBy('id').execute()
}
