import type { Kysely } from 'kysely'
import type { NewRecord, RecordChanges, StoredRecord } from '../../schema/define-table.ts'
import { findRecord, listRecords } from '../../platform/db/record-table.ts'
import { AppError } from '../../platform/app-error.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { rowsOf } from '../../schema/row-store.ts'
import type { Schema } from '../../schema/schema.ts'

const admins = rowsOf('admin_user', 'admin')

export type Admin = StoredRecord<'admin_user'>

/** The admin with this email address, whatever its case. */
export async function findAdminByEmail(
  db: Kysely<Schema>,
  email: string,
): Promise<Admin | undefined> {
  return findRecord(
    db
      .selectFrom('admin_user')
      .selectAll()
      .where((eb) => eb.fn('lower', ['email']), '=', toStorableText(email.toLowerCase())),
  )
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
  return admins.find(db, id)
}

export async function insertAdmin(
  db: Kysely<Schema>,
  values: NewRecord<'admin_user'>,
): Promise<Admin> {
  return admins.insert(db, values)
}

/** Every active admin with Full Access by ascending id, each locked until the transaction ends. */
export async function listFullAdminsForUpdate(db: Kysely<Schema>): Promise<Admin[]> {
  return listRecords(
    db
      .selectFrom('admin_user')
      .selectAll()
      .where('access', '=', 'full')
      .where('deactivated_at', 'is', null)
      .orderBy('id')
      .forUpdate(),
  )
}

/** The admin, locked until the transaction ends. */
export async function findAdminForUpdate(
  db: Kysely<Schema>,
  id: string,
): Promise<Admin | undefined> {
  return admins.findForUpdate(db, id)
}

/**
 * The admin as long as nobody changes or removes it before the transaction ends; undefined when it is gone.
 * For whoever gives it a key.
 */
export async function findAdminForShare(
  db: Kysely<Schema>,
  id: string,
): Promise<Admin | undefined> {
  return findRecord(db.selectFrom('admin_user').selectAll().where('id', '=', id).forShare())
}

export async function updateAdmin(
  db: Kysely<Schema>,
  id: string,
  values: RecordChanges<'admin_user'>,
): Promise<Admin> {
  return admins.update(db, id, values)
}

/** Deletes the admin, for whom no key may stand any more. */
export async function deleteAdmin(db: Kysely<Schema>, id: string): Promise<void> {
  await admins.remove(db, id)
}

/** Whether an admin has Full Access and is not deactivated: may answer for keys and see secrets. */
export function hasFullAccess({
  access,
  deactivatedAt: out,
}: Pick<Admin, 'access' | 'deactivatedAt'>): boolean {
  return access === 'full' && out === null
}

/** All admins by ascending id. Their number is small and bounded by the organisation's staff. */
export async function listAllAdmins(db: Kysely<Schema>): Promise<Admin[]> {
  return listRecords(db.selectFrom('admin_user').selectAll().orderBy('id'))
}
