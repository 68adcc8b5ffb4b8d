/*
 * The life of a signing key as its times tell it: published, active, retiring, retired. Pure; the rows
 * are signing-key-store.ts's, and what moves a key on is in rotate-, roll-back- and revoke-.
 */
import type { SigningKeyRecord } from './signing-key-store.ts'

/** The times of a key that decide its state. */
export type SigningKeyLife = Pick<
  SigningKeyRecord,
  'kid' | 'active_from' | 'general_from' | 'retired_at' | 'rolled_back_at' | 'revoked_at'
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
  return key.revoked_at === null && (key.retired_at === null || key.retired_at > now)
}

/** Whether the key may sign: published, and not given up. */
export function maySign(key: SigningKeyLife, now: Date): boolean {
  return isPublished(key, now) && key.rolled_back_at === null && key.active_from <= now
}

/** The key that signs for every stream that has no key of its own. */
export function findGeneralKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  return keys
    .filter((key) => maySign(key, now) && key.general_from !== null && key.general_from <= now)
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
      key.rolled_back_at === null &&
      (key.general_from === null || key.general_from > now),
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
    other.general_from !== null &&
    other.general_from <= now &&
    (key.general_from === null || other.general_from < key.general_from)
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
  return (key.general_from?.getTime() ?? 0) > (than.general_from?.getTime() ?? 0)
}
