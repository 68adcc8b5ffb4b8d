/*
 * The life of a signing key as its times tell it: published, active, retiring, retired. Pure; the rows
 * are signing-key-store.ts's, and what moves a key on is in rotate-, roll-back- and revoke-.
 */
import type { SigningKeyRecord } from './signing-key-store.ts'

/** The times of a key that decide its state. */
export type SigningKeyLife = Pick<
  SigningKeyRecord,
  'kid' | 'activeFrom' | 'generalFrom' | 'retiredAt' | 'rolledBackAt' | 'revokedAt'
>

/**
 * - `published`: receivers can find it, and it signs nothing yet, or for canaries only;
 * - `active`: it signs for every stream that has no key of its own;
 * - `retiring`: it signs nothing new, and what it signed can still be verified;
 * - `retired`: receivers cannot find it any more.
 */
export type SigningKeyState = 'published' | 'active' | 'retiring' | 'retired'

/** Whether receivers can find the key. */
export function isPublished(key: SigningKeyLife, now: Date): boolean {
  return key.revokedAt === null && (key.retiredAt === null || key.retiredAt > now)
}

/** Whether the key may sign: published, and not given up. */
export function maySign(key: SigningKeyLife, now: Date): boolean {
  return isPublished(key, now) && key.rolledBackAt === null && key.activeFrom <= now
}

/** The key that signs for every stream that has no key of its own. */
export function findGeneralKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  return keys
    .filter((key) => maySign(key, now) && key.generalFrom !== null && key.generalFrom <= now)
    .reduce<Key | undefined>((last, key) => (isLater(key, last) ? key : last), undefined)
}

/** The key of the rotation that is under way: announced, and not in general use. */
export function findPendingKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  return keys.find(
    (key) =>
      isPublished(key, now) &&
      key.rolledBackAt === null &&
      (key.generalFrom === null || key.generalFrom > now),
  )
}

/** The key that was in general use before `kid`, as long as receivers can still find it. */
export function findPreviousKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  kid: string,
  now: Date,
): Key | undefined {
  const key = keys.find((candidate) => candidate.kid === kid)
  if (key === undefined) return undefined
  const isEarlier = (other: Key) =>
    other.generalFrom !== null &&
    other.generalFrom <= now &&
    (key.generalFrom === null || other.generalFrom < key.generalFrom)
  return keys
    .filter((other) => other.kid !== kid && maySign(other, now) && isEarlier(other))
    .reduce<Key | undefined>((last, other) => (isLater(other, last) ? other : last), undefined)
}

/** The state of a key among all. */
export function stateOfKey(
  key: SigningKeyLife,
  keys: readonly SigningKeyLife[],
  now: Date,
): SigningKeyState {
  if (!isPublished(key, now)) return 'retired'
  if (findGeneralKey(keys, now)?.kid === key.kid) return 'active'
  return findPendingKey([key], now) === undefined ? 'retiring' : 'published'
}

function isLater(key: SigningKeyLife, than: SigningKeyLife | undefined): boolean {
  if (than === undefined) return true
  return (key.generalFrom?.getTime() ?? 0) > (than.generalFrom?.getTime() ?? 0)
}
