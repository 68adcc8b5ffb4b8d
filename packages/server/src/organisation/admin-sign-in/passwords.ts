/*
 * Passwords of admins, each with the codes of an authenticator app: how they come, change and go. Owns that an app
 * counts only once it has given a code, that another password ends the other sessions, and that an admin keeps a
 * way to sign in.
 */
import type { Change, ChangeOrigin } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { invalidBody, notFound, type AppError } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import {
  describeToApp,
  findCodeStep,
  newCodeSecret,
  readAppKey,
  type AppEntry,
} from '../../platform/secrets/one-time-code.ts'
import type { PasswordHasher } from '../../platform/secrets/password-hasher.ts'
import type { SealContext } from '../../platform/secrets/sealed-box.ts'
import { getOrganisation } from '../settings/organisation-store.ts'
import { deleteOtherSessions, type LiveSession, type SessionAdmin } from './admin-session-store.ts'
import { assertKeepsWayToSignIn, lockWaysToSignIn } from './keep-way-to-sign-in.ts'
import { insertUsedChallenge } from './passkey-store.ts'
import { parseNewPassword } from './password-rules.ts'
import {
  deletePassword,
  findPassword,
  updatePasswordHash,
  upsertPassword,
} from './password-store.ts'
import { endSetUps } from './set-ups.ts'
import { renewSession } from './step-up.ts'
import { hashChallenge, type Challenges } from './webauthn-challenge.ts'

export interface PasswordDependencies extends Pick<
  Foundation,
  'db' | 'runChange' | 'clock' | 'sealer'
> {
  readonly hasher: PasswordHasher
  readonly challenges: Challenges
}

/** For as long as it takes to find an app, install it and choose a password. */
const SET_UP_LIFETIME_MS = 30 * MINUTE_MS

/** An app that is to be told a new secret. */
export interface AppOffer extends AppEntry {
  /** Sent back with the first code: this service made the key, for this session, and not long ago. */
  readonly proof: string
}

/** Where the secret of an admin's app is sealed. */
export function codeSecretContext(adminId: string): SealContext {
  return { table: 'admin_password', column: 'totp_secret_sealed', id: adminId }
}

/** Offers a new app to whoever is about to set a password up. Nothing is stored. */
export async function offerApp(
  { db, challenges }: Pick<PasswordDependencies, 'db' | 'challenges'>,
  session: LiveSession,
): Promise<AppOffer> {
  const { name } = await getOrganisation(db)
  const names = { issuer: `Heliograph ${name}`, account: session.admin.email }
  const entry = await describeToApp(newCodeSecret(), names)
  const proof = challenges.issue(setUpPurpose(session, entry.key), SET_UP_LIFETIME_MS)
  return { ...entry, proof: proof.toString('base64url') }
}

function setUpPurpose({ id }: Pick<LiveSession, 'id'>, key: string): string {
  return `set a password up ${id} ${key}`
}

/** What somebody chooses who sets a password up. */
export interface PasswordSetUp {
  readonly password: string
  readonly key: string
  readonly proof: string
  /** The code that the app shows. */
  readonly code: string
}

/**
 * Gives an admin a password and an app in place of those before, ends the other sessions of the admin, and answers
 * the new token of this one.
 *
 * @throws AppError `invalid_body` for a password that is too weak, another code, or a key that was not offered to
 *   this session within half an hour, or was taken before
 */
export async function setUpPassword(
  dependencies: PasswordDependencies,
  session: LiveSession,
  { password, key, proof, code }: PasswordSetUp,
  origin: ChangeOrigin,
): Promise<string> {
  const { runChange, clock, sealer, hasher, challenges } = dependencies
  const secret = await readAppKey(key)
  const isOffered = challenges.isFor(setUpPurpose(session, key), proof)
  if (secret === undefined || !isOffered) throw offerEnded()
  const chosen = await parseOwnPassword(dependencies, session.admin, password)
  const step = await findCodeStep(secret, code, clock.now())
  if (step === undefined) {
    const message = 'is not what the app shows now: wait for its next code'
    throw invalidBody([{ path: 'code', message }])
  }
  const passwordHash = await hasher.hash(chosen)
  return runChange(origin, async (change) => {
    await lockWaysToSignIn(change, session.adminId)
    if (!(await insertUsedChallenge(change.tx, hashProof(proof), SET_UP_LIFETIME_MS))) {
      throw offerEnded()
    }
    const { id: adminId } = session.admin
    const isFirst = (await findPassword(change.tx, adminId)) === undefined
    const totpSecretSealed = sealer.seal(secret, codeSecretContext(adminId))
    const lastUsedStep = String(step)
    await upsertPassword(change.tx, { adminId, passwordHash, totpSecretSealed, lastUsedStep })
    recordPassword(change, session.admin, isFirst ? 'created' : 'replaced')
    await endSetUps(change, { adminId, exceptId: session.id })
    await deleteOtherSessions(change.tx, session)
    return renewSession(change, session)
  })
}

/** Of its bytes: the same ones can be written in several ways. */
function hashProof(proof: string): Buffer {
  return hashChallenge(Buffer.from(proof, 'base64url').toString('base64url'))
}

function offerEnded(): AppError {
  const message = 'has ended, or was taken before: begin again'
  return invalidBody([{ path: 'proof', message }])
}

/**
 * Gives an admin another password with the same app, ends the other sessions of the admin, and answers the new
 * token of this one.
 *
 * @throws AppError `invalid_body` for a password that is too weak; `not_found` without a password
 */
export async function changePassword(
  dependencies: PasswordDependencies,
  session: LiveSession,
  password: string,
  origin: ChangeOrigin,
): Promise<string> {
  const chosen = await parseOwnPassword(dependencies, session.admin, password)
  const passwordHash = await dependencies.hasher.hash(chosen)
  return dependencies.runChange(origin, async (change) => {
    await lockWaysToSignIn(change, session.adminId)
    const { id } = session.admin
    if (!(await updatePasswordHash(change.tx, id, passwordHash))) throw noPassword(id)
    recordPassword(change, session.admin, 'changed')
    await deleteOtherSessions(change.tx, session)
    return renewSession(change, session)
  })
}

/**
 * Takes the password and the app of an admin away, who keeps another way to sign in; its other sessions end.
 *
 * @throws AppError `not_found` without a password; `conflict` for the last way to sign in
 */
export async function removePassword(change: Change, session: LiveSession): Promise<void> {
  await lockWaysToSignIn(change, session.adminId)
  const { id } = session.admin
  if (!(await deletePassword(change.tx, id))) throw noPassword(id)
  await assertKeepsWayToSignIn(change, id)
  recordPassword(change, session.admin, 'deleted')
  await deleteOtherSessions(change.tx, session)
}

async function parseOwnPassword(
  { db }: Pick<PasswordDependencies, 'db'>,
  { email }: SessionAdmin,
  password: string,
): Promise<string> {
  const { name: organisationName } = await getOrganisation(db)
  return parseNewPassword(password, { email, organisationName })
}

const PAST_TENSE = {
  created: 'set up the password and the authenticator app of',
  replaced: 'replaced the password and the authenticator app of',
  changed: 'changed the password of',
  deleted: 'removed the password and the authenticator app of',
} as const

function recordPassword(
  change: Change,
  { id, email }: SessionAdmin,
  what: keyof typeof PAST_TENSE,
): void {
  change.recordAudit({
    action: `admin_password.${what}`,
    target: { type: 'admin_user', id },
    description: `${PAST_TENSE[what]} ${email}`,
  })
}

function noPassword(adminId: string): AppError {
  return notFound('password of the admin', adminId)
}
