import type { ColumnType, Generated } from 'kysely'
import type { Id, Json } from './column-types.ts'

/** Public keys only: a client keeps the private ones. RFC 7517. */
export interface ClientJwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

export interface SsfClientTable {
  id: Id
  client_id: string
  name: string
  scopes: ('ssf.read' | 'ssf.manage')[]
  audience: string | null
  authentication_method: 'client_secret' | 'private_key_jwt'
  jwks: ColumnType<ClientJwks | null, string | null, string | null>
  default_subjects: 'ALL' | 'NONE' | null
  profile: Generated<'interface' | 'strict' | 'caep_interop' | 'okta' | 'sgnl'>
  created_at: Date
  updated_at: Date
  revoked_at: Generated<Date | null>
  last_used_at: Generated<Date | null>
}

export interface SsfClientSecretTable {
  id: Id
  ssf_client_id: string
  secret_hash: Buffer
  last_four: string
  created_at: Date
  expires_at: Date | null
}

export interface SsfAccessTokenTable {
  token_hash: Buffer
  ssf_client_id: string
  scopes: string[]
  payload: Json<Record<string, unknown>>
  issued_at: Date
  expires_at: Date
}

export interface SsfClientAssertionTable {
  assertion_id: string
  payload: Json<Record<string, unknown>>
  expires_at: Date
}

export interface SsfInactivityPolicyTable {
  id: Generated<number>
  timeout_seconds: number
  effective_since: Date
}

/** These tables by their names. */
export interface SsfClientTables {
  ssf_access_token: SsfAccessTokenTable
  ssf_client: SsfClientTable
  ssf_client_assertion: SsfClientAssertionTable
  ssf_client_secret: SsfClientSecretTable
  ssf_inactivity_policy: SsfInactivityPolicyTable
}
