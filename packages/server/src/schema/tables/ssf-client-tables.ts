import type { ColumnType, Generated } from 'kysely'
import type { Id, Json } from './column-types.ts'

/** Public keys only: a client keeps the private ones. RFC 7517. */
export interface ClientJwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/** These tables by their names. */
export interface SsfClientTables {
  ssf_client: {
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
  ssf_client_secret: {
    id: Id
    ssf_client_id: string
    secret_hash: Buffer
    last_four: string
    created_at: Date
    expires_at: Date | null
  }
  ssf_access_token: {
    token_hash: Buffer
    ssf_client_id: string
    scopes: string[]
    payload: Json<Record<string, unknown>>
    issued_at: Date
    expires_at: Date
  }
  ssf_client_assertion: {
    assertion_id: string
    payload: Json<Record<string, unknown>>
    expires_at: Date
  }
  ssf_inactivity_policy: {
    id: Generated<number>
    timeout_seconds: number
    effective_since: Date
  }
}
