/* That an admin keeps a way to sign in, whatever is taken away. */
import type { Change } from '../../changes/change.ts'
import { conflict, notFound } from '../../platform/app-error.ts'
import { findAdminForUpdate } from '../admins/find-admin.ts'
import { hasWayToSignIn } from './sign-in-way-read.ts'

/**
 * Locks an admin before its ways to sign in change: of two who each take one away at once, the second sees what the
 * first has done.
 *
 * @throws AppError `not_found`
 */
export async function lockWaysToSignIn({ tx }: Change, adminId: string): Promise<void> {
  if ((await findAdminForUpdate(tx, adminId)) === undefined) throw notFound('admin', adminId)
}

/** @throws AppError `conflict` when the admin, who is locked, could sign in no more */
export async function assertKeepsWayToSignIn({ tx }: Change, adminId: string): Promise<void> {
  if (await hasWayToSignIn(tx, adminId)) return
  throw conflict('It is the only way in which you can sign in. Add another one first.')
}
