/*
 * Saves, changes and deletes views of lists. Owns who may change which: its owner, and for shared ones whoever manages
 * the organisation; and how many there can be.
 */
import type { Change } from '../../changes/change.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { isUniqueViolation } from '../../platform/db/unique-violation.ts'
import {
  countSavedViewsLocked,
  deleteSavedView,
  getSavedView,
  getSavedViewForUpdate,
  insertSavedView,
  updateSavedView,
  type SavedView,
} from './saved-view-store.ts'

/** Views that one admin can have, and that can be shared. */
export const OWN_VIEWS_MAX = 100
export const SHARED_VIEWS_MAX = 300

/** Who asks. */
export interface ViewCaller {
  /** Null for an API key. */
  readonly adminId: string | null
  /** May change what others share. */
  readonly managesOrganisation: boolean
}

/** What a view says; of an edit, absent members stay as they are. */
export interface ViewValues {
  readonly name: string
  readonly list: string
  readonly page: string
  readonly search: string
  readonly columns: readonly string[] | null
  readonly rowOrder: 'asc' | 'desc' | null
  readonly isShared: boolean
}

/** Whether a caller may change a view that it sees. */
export function mayChangeView(
  { ownerId }: Pick<SavedView, 'ownerId'>,
  { adminId, managesOrganisation }: ViewCaller,
): boolean {
  return managesOrganisation || (ownerId !== null && ownerId === adminId)
}

/**
 * Saves a view. That of an API key belongs to the organisation.
 *
 * @throws AppError `conflict` for a name that the owner has for the list, or too many views; `permission_missing` for
 *   a key that does not manage the organisation; `invalid_body` for one of a key that is not shared
 */
export async function createSavedView(
  change: Change,
  caller: ViewCaller,
  values: ViewValues,
): Promise<SavedView> {
  const { adminId } = caller
  if (adminId === null) assertOfOrganisation(caller, values)
  await assertRoom(change, adminId, { addsOwn: adminId !== null, addsShared: values.isShared })
  const { at } = change
  const { id } = await refuseTakenName(values.name, async () =>
    insertSavedView(change.tx, {
      ...values,
      columns: values.columns && [...values.columns],
      ownerId: adminId,
      createdAt: at,
      updatedAt: at,
    }),
  )
  const view = await getSavedView(change.tx, id)
  change.recordAudit({
    action: 'saved_view.created',
    target: { type: 'saved_view', id },
    description: `saved the view ${view.name} of ${view.list}`,
    after: toAuditValues(view),
  })
  return view
}

/**
 * Changes a view.
 *
 * @throws AppError `not_found`; `permission_missing`; `conflict` as when it is created
 */
export async function changeSavedView(
  change: Change,
  id: string,
  caller: ViewCaller,
  edit: Partial<ViewValues>,
): Promise<SavedView> {
  const before = await getForChange(change, id, caller)
  if (edit.isShared === false && (before.ownerId === null || before.ownerId !== caller.adminId)) {
    throw new AppError('permission_missing', 'Only who owns a view can keep it to themselves.')
  }
  const addsShared = edit.isShared === true && !before.isShared
  if (addsShared) await assertRoom(change, before.ownerId, { addsOwn: false, addsShared })
  await refuseTakenName(edit.name ?? before.name, async () =>
    updateSavedView(change.tx, before.id, { ...toUpdate(edit), updatedAt: change.at }),
  )
  const view = await getSavedView(change.tx, before.id)
  change.recordAudit({
    action: 'saved_view.updated',
    target: { type: 'saved_view', id: view.id },
    description: `changed the view ${view.name} of ${view.list}`,
    before: toAuditValues(before),
    after: toAuditValues(view),
  })
  return view
}

/**
 * Deletes a view.
 *
 * @throws AppError `not_found`; `permission_missing`
 */
export async function removeSavedView(
  change: Change,
  id: string,
  caller: ViewCaller,
): Promise<SavedView> {
  const view = await getForChange(change, id, caller)
  await deleteSavedView(change.tx, view.id)
  change.recordAudit({
    action: 'saved_view.deleted',
    target: { type: 'saved_view', id: view.id },
    description: `deleted the view ${view.name} of ${view.list}`,
    before: toAuditValues(view),
  })
  return view
}

async function getForChange(change: Change, id: string, caller: ViewCaller): Promise<SavedView> {
  const view = await getSavedViewForUpdate(change.tx, id, caller.adminId)
  if (mayChangeView(view, caller)) return view
  throw new AppError(
    'permission_missing',
    'A shared view is changed by who owns it and by those who manage the organisation.',
  )
}

function assertOfOrganisation(caller: ViewCaller, { isShared }: ViewValues): void {
  if (!caller.managesOrganisation) {
    const message =
      'This request needs the permission "Manage Organisation", which the key does not hold.'
    throw new AppError('permission_missing', message)
  }
  if (isShared) return
  const message = 'must be true: an API key has no views of its own'
  throw new AppError('invalid_body', `shared ${message}.`, {
    details: [{ path: 'shared', message }],
  })
}

async function assertRoom(
  { tx }: Change,
  ownerId: string | null,
  { addsOwn, addsShared }: { readonly addsOwn: boolean; readonly addsShared: boolean },
): Promise<void> {
  const { own, shared } = await countSavedViewsLocked(tx, ownerId)
  if (addsOwn && own >= OWN_VIEWS_MAX) {
    throw conflict(`You have ${OWN_VIEWS_MAX} views, which is the most. Delete one first.`)
  }
  if (addsShared && shared >= SHARED_VIEWS_MAX) {
    throw conflict(`${SHARED_VIEWS_MAX} views are shared, which is the most. Delete one first.`)
  }
}

async function refuseTakenName<Result>(
  name: string,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict(`There is a view ${name} of this list already.`)
  }
}

function toUpdate({ columns, ...values }: Partial<ViewValues>) {
  return { ...values, ...(columns === undefined ? {} : { columns: columns && [...columns] }) }
}

function toAuditValues({ name, list, page, search, columns, ...view }: SavedView) {
  return { name, list, page, search, columns, row_order: view.rowOrder, is_shared: view.isShared }
}
