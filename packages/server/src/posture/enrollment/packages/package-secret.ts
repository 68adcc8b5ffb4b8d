import type { Change } from '../../../changes/change.ts'
import { createEnrollmentSecret } from '../secrets/create-enrollment-secret.ts'
import {
  findSharedSecretLocked,
  type EnrollmentSecret,
} from '../secrets/enrollment-secret-store.ts'
import { isSecretLive } from '../secrets/secret-state.ts'
import { openEnrollmentSecret } from '../secrets/open-enrollment-secret.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'

/** The name of the secret that bundles carry, by which admins find it in the list. */
export const PACKAGE_SECRET_NAME = 'packages'

export interface PackageSecret {
  readonly secret: string
  readonly createdAt: Date
}

/**
 * The enrollment secret of the bundles: the newest of their name that is bound to nobody, which admins make
 * with the end and the maximum of uses that they want. Once it is revoked, expired or used up, another one
 * with the same terms replaces it; the first one has no end. Only one is made however many ask at once.
 */
export async function ensurePackageSecret(change: Change, sealer: Sealer): Promise<PackageSecret> {
  const known = await findSharedSecretLocked(change.tx, PACKAGE_SECRET_NAME)
  if (known !== undefined && isSecretLive(known, change.at)) {
    return { secret: openEnrollmentSecret(sealer, known), createdAt: known.createdAt }
  }
  const { secret } = await createEnrollmentSecret(change, sealer, {
    name: PACKAGE_SECRET_NAME,
    personId: null,
    expiresAt: null,
    ...(known === undefined ? {} : toTerms(known, change.at)),
  })
  return { secret, createdAt: change.at }
}

/** The terms of a secret for one that begins now. */
function toTerms(secret: EnrollmentSecret, at: Date) {
  const { createdAt, expiresAt, usesMax, alarmUsesPerHour } = secret
  const lifeMs = expiresAt === null ? null : expiresAt.getTime() - createdAt.getTime()
  return {
    expiresAt: lifeMs === null ? null : new Date(at.getTime() + lifeMs),
    usesMax: usesMax === null ? null : Number(usesMax),
    alarmUsesPerHour: alarmUsesPerHour === null ? null : Number(alarmUsesPerHour),
  }
}
