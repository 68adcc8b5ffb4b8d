/* What callers of the API may do to keys: nobody gives more than they hold, nor for longer than they hold it. */
import type { Change } from '../../changes/change.ts'
import { AppError, invalidBody } from '../../platform/app-error.ts'
import { getKey, getKeyForUpdate, listKeyPermissions } from './api-key-store.ts'

/** Who gives permissions to keys by the API: it gives none that it does not hold. */
export interface Grantor {
  /** `api_key` for one that may end. */
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly permissions: ReadonlySet<string>
}

/**
 * Refuses a grantor that lacks one of these permissions.
 *
 * @throws AppError `permission_missing`
 */
export function assertHolds({ permissions: held }: Grantor, permissions: readonly string[]): void {
  const missing = permissions.filter((permission) => !held.has(permission))
  if (missing.length === 0) return
  const names = missing.map((name) => `"${name}"`).join(', ')
  throw new AppError(
    'permission_missing',
    `Whoever gives a permission away has to hold it; the caller lacks ${names}.`,
  )
}

/**
 * Refuses a grantor who would change a key that may do what it may not do itself. The key is locked until the
 * transaction ends.
 *
 * @throws AppError `not_found`, `permission_missing`
 */
export async function assertHoldsAllOfKey(
  { tx }: Change,
  grantor: Grantor,
  keyId: string,
): Promise<void> {
  const { id } = await getKeyForUpdate(tx, keyId)
  const granted = await listKeyPermissions(tx, id)
  assertHolds(
    grantor,
    granted.map(({ permission }) => permission),
  )
}

/**
 * Refuses a grantor who would get by the secret of a key what it may not do itself, or what it may not do for so
 * long. The key is locked until the transaction ends.
 *
 * @throws AppError `not_found`, `permission_missing`
 */
export async function assertMayHaveSecretOf(
  change: Change,
  grantor: Grantor,
  keyId: string,
): Promise<void> {
  await assertHoldsAllOfKey(change, grantor, keyId)
  const { expiresAt } = await getKeyForUpdate(change.tx, keyId)
  if (!(await outlives(change, grantor, expiresAt))) return
  throw new AppError('permission_missing', 'A key gets no secret of a key that ends later.')
}

/**
 * Refuses an end of a key that is later than that of the key which asks for it.
 *
 * @throws AppError `invalid_body`
 */
export async function assertEndsInTime(
  change: Change,
  grantor: Grantor,
  expiresAt: Date | null,
): Promise<void> {
  if (!(await outlives(change, grantor, expiresAt))) return
  const message = 'must not be later than the end of the key that asks'
  throw invalidBody([{ path: 'expires_at', message }])
}

/** Whether an end is later than that of the grantor. Admins do not end. */
async function outlives(
  { tx }: Change,
  { kind, id }: Grantor,
  expiresAt: Date | null,
): Promise<boolean> {
  if (kind !== 'api_key') return false
  const own = await getKey(tx, id)
  return isLater(expiresAt, own.expiresAt)
}

/** Whether one end is later than another; null is never. */
export function isLater(one: Date | null, other: Date | null): boolean {
  return other !== null && (one === null || one > other)
}
