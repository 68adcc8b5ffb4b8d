/*
 * API keys: who may call the REST API. Owns keys, their permissions with rationale, rotation and
 * revocation. Does not own what a permission opens: each route declares that.
 */
import { findAdminForShare, hasFullAccess, type Admin } from '../admins/find-admin.ts'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { parseName } from '../../platform/parse-text.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import {
  answersFor,
  describePermissions,
  parseExpiry,
  parsePermissions,
  resolveResponsible,
} from './api-key-members.ts'
import { apiKeyContext, generateKey, hashKey } from './api-key-secret.ts'
import {
  getKeyForUpdate,
  insertKey,
  insertKeyPermissions,
  listKeyPermissions,
  updateKey,
  type ApiKey,
  type GrantedPermission,
} from './api-key-store.ts'

export interface NewApiKey {
  readonly name: string
  /** Email address of the admin who answers for the use of the key. */
  readonly responsibleEmail: string
  readonly permissions: readonly GrantedPermission[]
  readonly expiresAt: Date | null
}

/** A key with its plain text, which is told once. */
export interface IssuedKey {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly permissions: readonly GrantedPermission[]
}

/**
 * Creates a key and its audit entry.
 *
 * @throws AppError `invalid_body` for an unknown permission, a missing rationale, an expiry in the
 *   past or a responsible admin who does not exist or lacks Full Access
 */
export async function createApiKey(
  change: Change,
  sealer: Sealer,
  input: NewApiKey,
): Promise<IssuedKey> {
  const admin = await resolveResponsible(change, input.responsibleEmail)
  const expiresAt = parseExpiry(change, input.expiresAt)
  return issueKey(change, sealer, {
    name: parseName(input.name, 'name'),
    responsible: admin,
    permissions: parsePermissions(input.permissions),
    expiresAt,
    rotatedFromId: null,
  })
}

/**
 * Issues a new key with the name and permissions of `keyId`. The old key keeps working for
 * `overlapSeconds` (0: it is revoked at once).
 *
 * @throws AppError `not_found`; `conflict` when the key is revoked, or nobody with Full Access answers for it
 */
export async function rotateApiKey(
  change: Change,
  sealer: Sealer,
  keyId: string,
  overlapSeconds: number,
): Promise<IssuedKey> {
  const old = await getKeyForUpdate(change.tx, keyId)
  if (old.revokedAt !== null) {
    throw new AppError('conflict', `The API key ${keyId} is revoked; create a new one.`)
  }
  const admin =
    old.responsibleAdminId === null
      ? undefined
      : await findAdminForShare(change.tx, old.responsibleAdminId)
  if (admin === undefined || !hasFullAccess(admin)) {
    throw new AppError('conflict', `No admin with Full Access answers for the API key ${keyId}.`)
  }
  const ends = new Date(change.at.getTime() + overlapSeconds * 1_000)
  const isSooner = old.expiresAt === null || ends < old.expiresAt
  await updateKey(change.tx, old.id, {
    updatedAt: change.at,
    ...(overlapSeconds === 0 ? { revokedAt: change.at } : {}),
    ...(overlapSeconds > 0 && isSooner ? { expiresAt: ends } : {}),
  })
  return issueKey(change, sealer, {
    name: old.name,
    responsible: admin,
    permissions: await listKeyPermissions(change.tx, old.id),
    expiresAt: old.expiresAt,
    rotatedFromId: old.id,
  })
}

/**
 * Ends a key: the next request with it is refused, in every process. Idempotent.
 *
 * @throws AppError `not_found`
 */
export async function revokeApiKey(change: Change, keyId: string): Promise<ApiKey> {
  const key = await getKeyForUpdate(change.tx, keyId)
  if (key.revokedAt !== null) return key
  change.recordAudit({
    action: 'api_key.revoked',
    target: { type: 'api_key', id: key.id },
    description: `revoked the API key ${key.name}`,
  })
  return updateKey(change.tx, key.id, { revokedAt: change.at, updatedAt: change.at })
}

interface KeyDraft {
  readonly name: string
  readonly responsible: Admin
  readonly permissions: readonly GrantedPermission[]
  readonly expiresAt: Date | null
  readonly rotatedFromId: string | null
}

async function issueKey(change: Change, sealer: Sealer, draft: KeyDraft): Promise<IssuedKey> {
  const key = generateKey()
  const secretHash = hashKey(key)
  const row = await insertKey(change.tx, {
    name: draft.name,
    responsibleAdminId: draft.responsible.id,
    secretHash,
    secretSealed: sealer.seal(key, apiKeyContext(secretHash)),
    secretLastFour: key.slice(-4),
    createdAt: change.at,
    updatedAt: change.at,
    expiresAt: draft.expiresAt,
    rotatedFromId: draft.rotatedFromId,
  })
  await insertKeyPermissions(change.tx, row.id, draft.permissions, change.at)
  const isRotation = draft.rotatedFromId !== null
  change.recordAudit({
    action: isRotation ? 'api_key.rotated' : 'api_key.created',
    target: { type: 'api_key', id: row.id },
    description: isRotation
      ? `rotated the API key ${row.name}${answersFor(draft.responsible)}`
      : `created the API key ${row.name} with ${describePermissions(draft.permissions)}${answersFor(draft.responsible)}`,
    after: {
      name: row.name,
      responsible_admin_id: draft.responsible.id,
      expires_at: draft.expiresAt?.toISOString() ?? null,
      rotated_from_id: draft.rotatedFromId,
      permissions: draft.permissions.map(({ permission, rationale }) => ({
        permission,
        rationale,
      })),
    },
  })
  return { id: row.id, name: row.name, key, permissions: draft.permissions }
}
