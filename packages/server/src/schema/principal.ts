import type { AccessLevel } from './access-levels.ts'
import type { Permission } from './permissions.ts'

/** The kinds of credential that requests carry; audit entries name them as the actor's type. */
export type PrincipalKind = 'api_key' | 'admin' | 'ssf_client' | 'poll_token'

/** The session of an admin in the console. */
export interface PrincipalSession {
  readonly id: string
  readonly email: string
  readonly accessLevel: AccessLevel
  /** What an admin with limited access may not do; empty for the others. */
  readonly restrictions: readonly string[]
  /** When the admin last proved to be there; null once that is too long ago to open what asks for it. */
  readonly steppedUpAt: Date | null
}

/** The authenticated caller of a request. `id` is the record id of the credential, or of the admin, as a string. */
export interface Principal {
  readonly kind: PrincipalKind
  readonly id: string
  readonly name: string
  readonly permissions: ReadonlySet<Permission>
  /** Of an admin. */
  readonly session?: PrincipalSession
}
