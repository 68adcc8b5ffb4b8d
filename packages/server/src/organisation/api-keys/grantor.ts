import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { getKeyForUpdate, listKeyPermissions } from './api-key-store.ts'

/** Who gives permissions to keys by the API: it gives none that it does not hold. */
export interface Grantor {
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
 * Refuses a grantor who would get by the secret of a key what it may not do itself. The key is locked until
 * the transaction ends.
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
