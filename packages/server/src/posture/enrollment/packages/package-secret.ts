import type { Change } from '../../../changes/change.ts'
import { createEnrollmentSecret } from '../secrets/create-enrollment-secret.ts'
import { findSharedSecretLocked } from '../secrets/enrollment-secret-store.ts'
import { openEnrollmentSecret } from '../secrets/open-enrollment-secret.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'

/** The name of the secret that bundles carry, by which admins find it in the list. */
export const PACKAGE_SECRET_NAME = 'packages'

export interface PackageSecret {
  readonly secret: string
  readonly createdAt: Date
}

/**
 * The enrollment secret of the bundles: a live one without an end and without a person, created at the
 * first call and again after it has been revoked, which thereby replaces it. Only one is made however
 * many ask at once.
 */
export async function ensurePackageSecret(change: Change, sealer: Sealer): Promise<PackageSecret> {
  const known = await findSharedSecretLocked(change.tx, PACKAGE_SECRET_NAME)
  if (known !== undefined) {
    return { secret: openEnrollmentSecret(sealer, known), createdAt: known.created_at }
  }
  const { secret } = await createEnrollmentSecret(change, sealer, {
    name: PACKAGE_SECRET_NAME,
    personId: null,
    expiresAt: null,
  })
  return { secret, createdAt: change.at }
}
