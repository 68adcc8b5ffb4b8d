import { toNearlyUsedUp } from './count-secret-use.ts'
import type { EnrollmentSecret } from './enrollment-secret-store.ts'

type SecretTerms = Pick<EnrollmentSecret, 'revoked_at' | 'expires_at' | 'use_count' | 'uses_max'>

export const SECRET_STATES = ['live', 'nearly_used_up', 'used_up', 'expired', 'revoked'] as const

/** What an enrollment secret is good for, in a word. */
export type SecretState = (typeof SECRET_STATES)[number]

/** The state of an enrollment secret at a time. */
export function toSecretState(secret: SecretTerms, at: Date): SecretState {
  const { revoked_at: revokedAt, expires_at: expiresAt, uses_max: usesMax } = secret
  const count = Number(secret.use_count)
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
