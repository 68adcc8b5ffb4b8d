/*
 * Passkeys of admins: how they come and go, and what they open. Owns that a challenge is taken once, that a
 * passkey whose counter does not rise is refused, and that an admin keeps a way to sign in.
 */
import type { Kysely } from 'kysely'
import type { Change, RunChange } from '../../changes/change.ts'
import { conflict, notFound } from '../../platform/app-error.ts'
import { parseName } from '../../platform/parse-text.ts'
import type { Schema } from '../../schema/schema.ts'
import { findAdminById, type Admin } from '../admins/find-admin.ts'
import { assertKeepsWayToSignIn, lockWaysToSignIn } from './keep-way-to-sign-in.ts'
import { refuseSignIn } from './refused-sign-ins.ts'
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  insertUsedChallenge,
  listPasskeys,
  updatePasskeyUse,
  type Passkey,
} from './passkey-store.ts'
import { actorOf, passkeyRefused, startSession, type SigningInBrowser } from './sign-in.ts'
import { CHALLENGE_LIFETIME_MS } from './webauthn-challenge.ts'
import type { AuthenticationResponseJSON, NewPasskey, Proven, WebAuthn } from './webauthn.ts'

/** The purpose of a challenge by which somebody signs in. */
export const SIGN_IN_PURPOSE = 'sign in'
/** More than anybody has devices. */
const PASSKEYS_MAX = 20

export interface PasskeyDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly webAuthn: WebAuthn
}

/**
 * Adds a passkey that a browser has made for an admin who is signed in.
 *
 * @throws AppError `invalid_body` for its name; `conflict` for one that is known, or too many;
 *   `sign_in_failed` for a challenge that was used
 */
export async function addPasskey(
  change: Change,
  admin: { readonly id: string; readonly email: string },
  { result, challengeHash }: Proven<NewPasskey>,
  givenName: string,
): Promise<Passkey> {
  const name = parseName(givenName, 'name')
  await takeChallenge(change, challengeHash)
  if ((await findPasskey(change.tx, result.credentialId)) !== undefined) {
    throw conflict('The passkey is known already.')
  }
  await lockWaysToSignIn(change, admin.id)
  if ((await listPasskeys(change.tx, admin.id)).length >= PASSKEYS_MAX) {
    throw conflict(`You have ${PASSKEYS_MAX} passkeys, which is the most. Remove one first.`)
  }
  const passkey = await insertPasskey(change.tx, { ...result, adminId: admin.id, name })
  change.recordAudit({
    action: 'admin_passkey.created',
    target: { type: 'admin_user', id: admin.id },
    description: `added the passkey ${name} of ${admin.email}`,
    after: { passkey_id: passkey.id, name },
  })
  return passkey
}

/**
 * Removes a passkey of an admin, who keeps another way to sign in.
 *
 * @throws AppError `not_found`; `conflict` for the last way to sign in
 */
export async function removePasskey(
  change: Change,
  admin: { readonly id: string; readonly email: string },
  id: string,
): Promise<Passkey> {
  await lockWaysToSignIn(change, admin.id)
  const passkey = await deletePasskey(change.tx, admin.id, id)
  if (passkey === undefined) throw notFound('passkey', id)
  await assertKeepsWayToSignIn(change, admin.id)
  change.recordAudit({
    action: 'admin_passkey.deleted',
    target: { type: 'admin_user', id: admin.id },
    description: `removed the passkey ${passkey.name} of ${admin.email}`,
    before: { passkey_id: passkey.id, name: passkey.name },
  })
  return passkey
}

/** Somebody who signs in by a passkey. */
export interface PasskeySignIn {
  readonly credential: AuthenticationResponseJSON
  readonly requestId: string
  readonly browser: SigningInBrowser
}

/**
 * Signs the owner of a passkey in and answers the token of the session.
 *
 * @throws AppError `sign_in_failed`
 */
export async function signInByPasskey(
  { db, runChange, webAuthn }: PasskeyDependencies,
  { credential, requestId, browser }: PasskeySignIn,
): Promise<string> {
  const owned = await findOwned(db, credential)
  if (owned === undefined) throw passkeyRefused()
  const origin = { actor: actorOf(owned.admin), requestId, ipAddress: browser.address }
  return refuseSignIn({ runChange, origin, admin: owned.admin, method: 'passkey' }, async () => {
    const proven = await webAuthn.verifyAuthentication(SIGN_IN_PURPOSE, credential, owned)
    return runChange(origin, async (change) => {
      await usePasskey(change, owned.passkey, proven)
      const { admin } = owned
      return startSession(change, { admin, method: 'passkey', isSetupPending: false, browser })
    })
  })
}

/** The passkey of an answer with its owner; undefined when nobody has it. */
export async function findOwned(
  db: Kysely<Schema>,
  { id }: AuthenticationResponseJSON,
): Promise<{ readonly passkey: Passkey; readonly admin: Admin } | undefined> {
  const passkey = await findPasskey(db, Buffer.from(id, 'base64url'))
  const admin = passkey && (await findAdminById(db, passkey.adminId))
  return admin && { passkey, admin }
}

/**
 * Uses what a passkey has proven up.
 *
 * @throws AppError `sign_in_failed` for a challenge that was used, or a counter that did not rise
 */
export async function usePasskey(
  change: Change,
  passkey: Passkey,
  { result: counter, challengeHash }: Proven<number>,
): Promise<void> {
  await takeChallenge(change, challengeHash)
  if (!(await updatePasskeyUse(change.tx, passkey.id, counter))) throw passkeyRefused()
}

async function takeChallenge(change: Change, challengeHash: Buffer): Promise<void> {
  if (!(await insertUsedChallenge(change.tx, challengeHash, CHALLENGE_LIFETIME_MS)))
    throw passkeyRefused()
}
