/*
 * One-time links: how an admin signs in who has no other way yet, or none any more. A link is good once, for 24
 * hours, and is stored as a digest only.
 */
import type { Kysely } from 'kysely'
import type { Change, RunChange } from '../../changes/change.ts'
import type { Schema } from '../../schema/schema.ts'
import { conflict, invalidBody, type AppError } from '../../platform/app-error.ts'
import type { Actor } from '../../changes/audit/audit-entry.ts'
import { createAdmin } from '../admins/create-admin.ts'
import { findAdminByEmail, findAdminById, type Admin } from '../admins/find-admin.ts'
import { endSetUps, endSetUpsOfFirstAdmins, lockFirstAdmins } from './set-ups.ts'
import {
  deleteLink,
  findLink,
  insertLink,
  type SignInLink,
  type SignInLinkKind,
} from './sign-in-link-store.ts'
import {
  describeAdmin,
  actorOf,
  digestOf,
  signInFailed,
  startSession,
  type SigningInBrowser,
} from './sign-in.ts'
import { canSomebodySignIn } from './sign-in-way-read.ts'
import { hashSignInToken, newSignInToken } from './sign-in-token.ts'

/** A new link with its token, which is told once. */
export interface IssuedLink {
  readonly token: string
  readonly expiresAt: Date
}

/**
 * Makes a link for an admin; the links that it had before end, with the sessions in which they were followed.
 *
 * @throws AppError `conflict` for an admin who is deactivated
 */
export async function issueLink(
  change: Change,
  admin: Admin,
  kind: SignInLinkKind,
): Promise<IssuedLink> {
  if (admin.deactivatedAt !== null) throw conflict(`${admin.email} is deactivated.`)
  await endSetUps(change, { adminId: admin.id })
  const token = newSignInToken()
  const link = await insertLink(change.tx, { adminId: admin.id, kind, tokenHash: digestOf(token) })
  change.recordAudit({
    action: 'admin_sign_in_link.created',
    target: { type: 'admin_user', id: admin.id },
    description: `made a one-time link for ${describeAdmin(admin)}`,
    after: { kind, expires_at: link.expiresAt.toISOString() },
  })
  return { token, expiresAt: link.expiresAt }
}

/**
 * Makes the link of the first admin, unless an admin with Full Access can sign in: undefined then. Those before end,
 * with the sessions in which they were followed.
 */
export async function issueFirstAdminLink(change: Change): Promise<IssuedLink | undefined> {
  await lockFirstAdmins(change)
  if (await canSomebodySignIn(change.tx)) return undefined
  await endSetUpsOfFirstAdmins(change)
  const token = newSignInToken()
  const link = await insertLink(change.tx, {
    adminId: null,
    kind: 'first_admin',
    tokenHash: digestOf(token),
  })
  change.recordAudit({
    action: 'admin_sign_in_link.created',
    target: null,
    description: 'made the one-time link of the first admin: nobody with Full Access can sign in',
    after: { kind: 'first_admin', expires_at: link.expiresAt.toISOString() },
  })
  return { token, expiresAt: link.expiresAt }
}

/** Who follows the link of the first admin. */
export interface FirstAdmin {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
}

/** A link that somebody follows. */
export interface LinkExchange {
  readonly token: string
  /** Whom the link of the first admin makes. */
  readonly firstAdmin: FirstAdmin | undefined
  readonly requestId: string
  readonly browser: SigningInBrowser
}

/**
 * Uses a link up and answers the token of the session that it begins. But in the demo, the session opens nothing
 * before the admin has a way to sign in.
 *
 * @throws AppError `sign_in_failed` for a link that is unknown, used or expired; `invalid_body` when it is that
 *   of the first admin and nobody is named, `conflict` when that address is taken
 */
export async function exchangeLink(
  { db, runChange }: { readonly db: Kysely<Schema>; readonly runChange: RunChange },
  { token, firstAdmin, requestId, browser }: LinkExchange,
): Promise<string> {
  const { link, admin: owner } = await getLink(db, token)
  const known = owner ?? (await findNamesake(db, firstAdmin))
  const actor = known === undefined ? toActor(requireNames(firstAdmin)) : actorOf(known)
  const origin = { actor, requestId, ipAddress: browser.address }
  return runChange(origin, async (change) => {
    if (!(await deleteLink(change.tx, link.id))) throw unusable()
    if (link.adminId === null) await assertNobodyCanSignIn(change)
    const isDemo = link.kind === 'demo'
    return startSession(change, {
      admin: known ?? (await createAdmin(change, { ...requireNames(firstAdmin), access: 'full' })),
      method: isDemo ? 'demo' : 'link',
      isSetupPending: !isDemo,
      browser,
    })
  })
}

/** Asked again where nobody else can become one meanwhile. */
async function assertNobodyCanSignIn(change: Change): Promise<void> {
  await lockFirstAdmins(change)
  if (await canSomebodySignIn(change.tx)) throw unusable()
}

/** An admin with Full Access who has no way to sign in yet, and takes the link of the first admin. */
async function findNamesake(
  db: Kysely<Schema>,
  firstAdmin: FirstAdmin | undefined,
): Promise<Admin | undefined> {
  const found = firstAdmin && (await findAdminByEmail(db, firstAdmin.email))
  return found?.access === 'full' ? found : undefined
}

function requireNames(firstAdmin: FirstAdmin | undefined): FirstAdmin {
  if (firstAdmin !== undefined) return firstAdmin
  const message = 'is needed: the link makes the first admin'
  throw invalidBody(['email', 'first_name', 'last_name'].map((path) => ({ path, message })))
}

/** Somebody who becomes an admin by what it does. */
function toActor({ email, firstName, lastName }: FirstAdmin): Actor {
  return { type: 'User', id: null, name: `${firstName} ${lastName}`, email }
}

/**
 * A link with whom it signs in: undefined for the first admin, who does not exist yet.
 *
 * @throws AppError `sign_in_failed` for a link that is unknown, used or expired
 */
export async function getLink(
  db: Kysely<Schema>,
  token: string,
): Promise<{ readonly link: SignInLink; readonly admin: Admin | undefined }> {
  const hash = hashSignInToken(token)
  const link = hash === undefined ? undefined : await findLink(db, hash)
  if (link === undefined) throw unusable()
  // Once somebody can sign in, nobody becomes the first admin any more.
  if (link.adminId === null) {
    if (await canSomebodySignIn(db)) throw unusable()
    return { link, admin: undefined }
  }
  const admin = await findAdminById(db, link.adminId)
  if (admin === undefined || admin.deactivatedAt !== null) throw unusable()
  return { link, admin }
}

function unusable(): AppError {
  return signInFailed('The link is unknown, was used before or has expired. Ask for a new one.')
}
