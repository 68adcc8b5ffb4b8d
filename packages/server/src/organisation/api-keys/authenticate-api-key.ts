import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import type { Clock } from '../../platform/clock.ts'
import { isPermission } from '../../schema/permissions.ts'
import type { Principal } from '../../schema/principal.ts'
import type { Schema } from '../../schema/schema.ts'
import { hashKey, isWellFormedKey } from './api-key-secret.ts'
import { findKeyCredential, type KeyCredential } from './api-key-store.ts'

/**
 * The caller that a key stands for; nothing is counted. The database is asked every time, so a revoked key, and one
 * whose admin has lost Full Access, is refused on the next request of every process. The look-up is by SHA-256, which
 * leaks nothing of the key by time.
 *
 * @throws AppError `unauthenticated`
 */
export async function authenticateApiKey(
  db: Kysely<Schema>,
  clock: Clock,
  key: string,
): Promise<Principal> {
  const credential = await findKeyCredential(db, toKeyHash(key))
  return toPrincipal(credential, clock.now())
}

/**
 * What the database knows a key by.
 *
 * @throws AppError `unauthenticated` for a text that is no key
 */
export function toKeyHash(key: string): Buffer {
  if (!isWellFormedKey(key)) throw unknownKey()
  return hashKey(key)
}

/**
 * The caller that a credential stands for at a time.
 *
 * @throws AppError `unauthenticated` when there is none, or it has ended
 */
export function toPrincipal(credential: KeyCredential | undefined, now: Date): Principal {
  if (credential === undefined) throw unknownKey()
  if (credential.revokedAt !== null) throw refusal('The API key has been revoked.')
  if (credential.expiresAt !== null && credential.expiresAt <= now) {
    throw refusal('The API key has expired.')
  }
  if (credential.responsibleAccess !== 'full') {
    throw refusal('No admin with Full Access answers for the API key any more.')
  }
  return {
    kind: 'api_key',
    id: credential.id,
    name: credential.name,
    permissions: new Set(credential.permissions.filter(isPermission)),
  }
}

function unknownKey(): AppError {
  return refusal('The API key is unknown.')
}

function refusal(message: string): AppError {
  return new AppError('unauthenticated', message, { bearerError: 'invalid_token' })
}
