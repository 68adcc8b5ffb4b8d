import { toNearlyUsedUp } from './count-secret-use.ts'
import type { EnrollmentSecret } from './enrollment-secret-store.ts'

type SecretTerms = Pick<EnrollmentSecret, 'revokedAt' | 'expiresAt' | 'useCount' | 'usesMax'>

export const SECRET_STATES = ['live', 'nearly_used_up', 'used_up', 'expired', 'revoked'] as const

/** What an enrollment secret is good for, in a word. */
export type SecretState = (typeof SECRET_STATES)[number]

/** The state of an enrollment secret at a time. */
export function toSecretState(secret: SecretTerms, at: Date): SecretState {
  const { revokedAt, expiresAt, usesMax } = secret
  const count = Number(secret.useCount)
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && expiresAt <= at) return 'expired'
  if (usesMax === null) return 'live'
  if (count >= Number(usesMax)) return 'used_up'
  return count >= toNearlyUsedUp(Number(usesMax)) ? 'nearly_used_up' : 'live'
}

/** Whether devices can enroll with a secret. */
export function isSecretLive(secret: SecretTerms, at: Date): boolean {
  const state = toSecretState(secret, at)
  return state === 'live' || state === 'nearly_used_up'
}
