import type { Permission } from './permissions.ts'

/** The kinds of credential that requests carry; audit entries name them as the actor's type. */
export type PrincipalKind = 'api_key' | 'admin' | 'ssf_client' | 'poll_token'

/** The authenticated caller of a request. `id` is the record id of the credential as a string. */
export interface Principal {
  readonly kind: PrincipalKind
  readonly id: string
  readonly name: string
  readonly permissions: ReadonlySet<Permission>
}
