/*
 * The rows of saved views. Owns who sees which: admins their own and the shared ones, everybody else the shared ones.
 */
import { sql, type Kysely, type Transaction } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { findRecord, toRecord } from '../../platform/db/record-table.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { parseId } from '../../platform/ids.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import type { StoredRecord } from '../../schema/define-table.ts'
import { rowsOf } from '../../schema/row-store.ts'
import type { Schema } from '../../schema/schema.ts'

const views = rowsOf('saved_view', 'saved view')

/** A view, with the name of the admin whom it belongs to; null where it is the organisation's. */
export type SavedView = StoredRecord<'saved_view'> & { readonly ownerName: string | null }

const selectViews = (db: Kysely<Schema>) =>
  db
    .selectFrom('saved_view')
    .leftJoin('admin_user', 'admin_user.id', 'saved_view.owner_id')
    .selectAll('saved_view')
    .select(
      sql<string | null>`admin_user.first_name || ' ' || admin_user.last_name`.as('owner_name'),
    )

/** What an admin sees; null for who is none. */
const selectVisible = (db: Kysely<Schema>, adminId: string | null) =>
  selectViews(db).where((eb) =>
    eb.or([eb('saved_view.is_shared', '=', true), eb('saved_view.owner_id', '=', adminId)]),
  )

/** A page of the views that an admin sees, of one list where it is given. */
export async function listSavedViews(
  db: Kysely<Schema>,
  { adminId, list }: { readonly adminId: string | null; readonly list: string | undefined },
  window: PageWindow,
): Promise<SavedView[]> {
  const visible = selectVisible(db, adminId)
  const found = list === undefined ? visible : visible.where('saved_view.list', '=', list)
  const rows = await readPage(found, 'saved_view.id', window)
  return rows.map(toRecord)
}

/**
 * A view that an admin sees, locked until the transaction ends.
 *
 * @throws AppError `not_found`, also for one that somebody else keeps to themselves
 */
export async function getSavedViewForUpdate(
  tx: Transaction<Schema>,
  id: string,
  adminId: string | null,
): Promise<SavedView> {
  const view = await findRecord(
    selectVisible(tx, adminId)
      .where('saved_view.id', '=', parseId(id, 'saved view'))
      .forUpdate('saved_view'),
  )
  if (view === undefined) throw notFound('saved view', id)
  return view
}

/** The view as it is after a change, with its owner. */
export async function getSavedView(db: Kysely<Schema>, id: string): Promise<SavedView> {
  const view = await findRecord(selectViews(db).where('saved_view.id', '=', id))
  if (view === undefined) throw notFound('saved view', id)
  return view
}

/** How many views an owner has and how many are shared; neither grows by others until the transaction ends. */
export async function countSavedViewsLocked(
  tx: Transaction<Schema>,
  ownerId: string | null,
): Promise<{ readonly own: number; readonly shared: number }> {
  await lockInTransaction(tx, LOCK_KEYS.savedViews)
  const { own, shared } = await tx
    .selectFrom('saved_view')
    .select(({ fn, eb }) => [
      fn.countAll<string>().filterWhere('owner_id', '=', ownerId).as('own'),
      fn.countAll<string>().filterWhere(eb.ref('is_shared')).as('shared'),
    ])
    .executeTakeFirstOrThrow()
  return { own: Number(own), shared: Number(shared) }
}

export const insertSavedView = views.insert
export const updateSavedView = views.update
export const deleteSavedView = views.remove

/** Deletes what an admin keeps to themselves. */
export async function deleteOwnSavedViews(tx: Transaction<Schema>, adminId: string): Promise<void> {
  await tx
    .deleteFrom('saved_view')
    .where('owner_id', '=', adminId)
    .where('is_shared', '=', false)
    .execute()
}
