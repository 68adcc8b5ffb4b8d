/*
 * The life of a signing key as its times tell it: published, active, retiring, retired. Pure; the rows
 * are signing-key-store.ts's, and what moves a key on is change-signing-key.ts's.
 */
import type { SigningKeyRecord } from './signing-key-store.ts'
import type { StreamKey } from './stream-key-store.ts'

/** The times of a key that decide its state. */
export type SigningKeyLife = Pick<
  SigningKeyRecord,
  'kid' | 'createdAt' | 'activeFrom' | 'generalFrom' | 'retiredAt' | 'rolledBackAt' | 'revokedAt'
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

/**
 * The key that signs for every stream that has no key of its own. While the time of none has come, for a clock that is
 * behind or was set back, it is the first of those that no other one has replaced: signing goes on, and every process
 * publishes it, whatever its clock.
 */
export function findGeneralKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  return findStartedKey(keys, now) ?? findFirstKey(keys)
}

function findStartedKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  const general = keys.filter((key) => maySign(key, now) && isGeneral(key, now))
  return general.reduce<Key | undefined>(
    (last, key) => (last === undefined || startOf(key) > startOf(last) ? key : last),
    undefined,
  )
}

function findFirstKey<Key extends SigningKeyLife>(keys: readonly Key[]): Key | undefined {
  const planned = keys.filter(
    ({ generalFrom, retiredAt, revokedAt, rolledBackAt }) =>
      generalFrom !== null && retiredAt === null && revokedAt === null && rolledBackAt === null,
  )
  return planned.reduce<Key | undefined>(
    (first, key) => (first === undefined || startOf(key) < startOf(first) ? key : first),
    undefined,
  )
}

function isGeneral({ generalFrom }: SigningKeyLife, now: Date): boolean {
  return generalFrom !== null && generalFrom <= now
}

/** Whether the key that a stream has of its own counts now. */
export function isPresent(own: StreamKey | undefined, now: Date): own is StreamKey {
  if (own === undefined || own.fromAt > now) return false
  return own.untilAt === null || own.untilAt > now
}

/** The key that signs for a stream: its own while that counts and may sign, or the general one. */
export function findStreamKey<Key extends SigningKeyLife>(
  own: StreamKey | undefined,
  keys: readonly Key[],
  now: Date,
): Key | undefined {
  const key = isPresent(own, now) ? keys.find(({ kid }) => kid === own.kid) : undefined
  return key !== undefined && maySign(key, now) ? key : findGeneralKey(keys, now)
}

/** The key of the rotation that is under way: announced, and not in general use, also where the clock is behind it. */
export function findPendingKey<Key extends SigningKeyLife>(
  keys: readonly Key[],
  now: Date,
  general = findGeneralKey(keys, now),
): Key | undefined {
  return keys.find((key) => key.kid !== general?.kid && isPending(key, now))
}

/**
 * One that was replaced is not pending, nor one that was made to sign at once, also where the clock was set back to
 * before its time.
 */
function isPending(key: SigningKeyLife, now: Date): boolean {
  return (
    isPublished(key, now) &&
    key.retiredAt === null &&
    key.rolledBackAt === null &&
    key.createdAt.getTime() < startOf(key) &&
    !isGeneral(key, now)
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
    key.generalFrom === null || (other.generalFrom !== null && other.generalFrom < key.generalFrom)
  return findStartedKey(
    keys.filter((other) => other.kid !== kid && isEarlier(other)),
    now,
  )
}

/** The state of a key among all. */
export function stateOfKey(
  key: SigningKeyLife,
  keys: readonly SigningKeyLife[],
  now: Date,
): SigningKeyState {
  if (!isPublished(key, now)) return 'retired'
  if (findGeneralKey(keys, now)?.kid === key.kid) return 'active'
  return isPending(key, now) ? 'published' : 'retiring'
}

function startOf({ generalFrom }: SigningKeyLife): number {
  return generalFrom?.getTime() ?? Infinity
}
