import { AppError } from '../../platform/app-error.ts'
import type { RefusalCode } from '../../platform/error-codes.ts'
import type { SurfaceUrls } from '../../signals/streams/surface-urls.ts'

/** What a challenge says beside where to get a token. RFC 6750 section 3. */
export interface ChallengeDetails {
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope'
  readonly scope?: string
}

/** The refusal of a request for its credential, with what the challenge says. */
export class BearerRefusal extends AppError {
  readonly challenge: ChallengeDetails

  constructor(code: RefusalCode, message: string, challenge: ChallengeDetails) {
    super(code, message)
    this.name = 'BearerRefusal'
    this.challenge = challenge
  }
}

/** No credential was sent, or none that could be a token: the challenge names no error. */
export function noToken(): BearerRefusal {
  const message =
    'The request carries no access token. Send `Authorization: Bearer <access token>`.'
  return new BearerRefusal('unauthenticated', message, {})
}

/** The token is malformed, unknown, expired or revoked. */
export function invalidToken(): BearerRefusal {
  const message = 'The access token is unknown, expired or revoked.'
  const challenge = { error: 'invalid_token' } as const
  return new BearerRefusal('unauthenticated', message, challenge)
}

/** A token in the query would stay in logs and histories. RFC 6750 section 5.3. */
export function tokenInQuery(): BearerRefusal {
  const message = 'Access tokens belong in the `Authorization` header and nowhere else.'
  const challenge = { error: 'invalid_request' } as const
  return new BearerRefusal('invalid_parameter', message, challenge)
}

/** The token is good, but not for this. */
export function insufficientScope(scope: string): BearerRefusal {
  const message = `This request needs an access token with the scope ${scope}.`
  const challenge = { error: 'insufficient_scope', scope } as const
  return new BearerRefusal('scope_missing', message, challenge)
}

/** The `WWW-Authenticate` header of a refusal. RFC 6750 section 3, RFC 9728 section 5.1. */
export function toChallenge(
  { error, scope }: ChallengeDetails,
  { issuer, protectedResourceMetadata }: SurfaceUrls,
): string {
  const parameters: readonly (readonly [name: string, value: string | undefined])[] = [
    ['realm', issuer],
    ['error', error],
    ['scope', scope],
    ['resource_metadata', protectedResourceMetadata],
  ]
  const texts = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value}"`],
  )
  return `Bearer ${texts.join(', ')}`
}
