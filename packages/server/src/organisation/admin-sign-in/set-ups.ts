/*
 * What a one-time link begins: an admin sets a way to sign in up. Owns that of several who have come in by links of
 * one admin, one gets to the end of it; and that nobody becomes the first admin once somebody can sign in.
 */
import type { Change } from '../../changes/change.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import { hasFullAccess, listAllAdmins } from '../admins/find-admin.ts'
import {
  deleteFullSetUpSessions,
  deleteSetUpSessions,
  type LiveSession,
} from './admin-session-store.ts'
import { deleteFirstAdminLinks, deleteLinksOf } from './sign-in-link-store.ts'
import { hasWayToSignIn } from './sign-in-way-read.ts'

/** Waits until nobody else makes, follows or ends a link of the first admin. */
export async function lockFirstAdmins({ tx }: Change): Promise<void> {
  await lockInTransaction(tx, LOCK_KEYS.firstAdmins)
}

/**
 * Ends the links of an admin and the sessions, but one, that such a link began and that have set nothing up. Links
 * first: whoever follows one at the same time has then either failed or begun a session that ends.
 */
export async function endSetUps(
  { tx }: Change,
  which: { readonly adminId: string; readonly exceptId?: string },
): Promise<void> {
  await deleteLinksOf(tx, which.adminId)
  await deleteSetUpSessions(tx, which)
}

/** Ends the links of the first admin, and every session but one in which somebody is about to become it. */
export async function endSetUpsOfFirstAdmins({ tx }: Change, exceptId?: string): Promise<void> {
  await deleteFirstAdminLinks(tx)
  await deleteFullSetUpSessions(tx, exceptId)
}

/**
 * Completes the set-up of the admin of a session, which has a way to sign in now: the other ones of this admin end.
 * When nobody else with Full Access can sign in, this was the first admin, and nobody else becomes it.
 */
export async function completeSetUp(
  change: Change,
  { id, admin }: Pick<LiveSession, 'id' | 'admin'>,
): Promise<void> {
  await endSetUps(change, { adminId: admin.id, exceptId: id })
  if (admin.access !== 'full') return
  await lockFirstAdmins(change)
  if (!(await canAnotherSignIn(change, admin.id))) await endSetUpsOfFirstAdmins(change, id)
}

async function canAnotherSignIn({ tx }: Change, adminId: string): Promise<boolean> {
  const others = (await listAllAdmins(tx)).filter(({ id }) => id !== adminId)
  for (const other of others) {
    if (hasFullAccess(other) && (await hasWayToSignIn(tx, other.id))) return true
  }
  return false
}
