import type { SealContext, Sealer } from '../../../platform/secrets/sealed-box.ts'
import type { EnrollmentSecret } from './enrollment-secret-store.ts'

/** The place of a sealed enrollment secret. */
export function enrollmentSecretContext(secretHash: Buffer): SealContext {
  return { table: 'enrollment_secret', column: 'secret_sealed', id: secretHash.toString('hex') }
}

/** The plain text of an enrollment secret. Throws `UnsealError` when the master key is another one. */
export function openEnrollmentSecret(
  sealer: Sealer,
  secret: Pick<EnrollmentSecret, 'secretHash' | 'secretSealed'>,
): string {
  return sealer.openText(secret.secretSealed, enrollmentSecretContext(secret.secretHash))
}
