import type { Id, Json } from './column-types.ts'
import type { DestinationId } from '../branded-ids.ts'

/** These tables by their names. */
export interface SigningKeyTables {
  signing_key: {
    kid: string
    algorithm: 'RS256'
    public_jwk: Json<Record<string, string>>
    private_key_sealed: Buffer
    created_at: Date
    active_from: Date
    retired_at: Date | null
    id: Id
    general_from: Date | null
    rolled_back_at: Date | null
    revoked_at: Date | null
    canaries_verified_at: Date | null
  }
  stream_signing_key: {
    destination_id: DestinationId
    kid: string
    reason: 'canary' | 'rolled_back'
    refused_kid: string | null
    refusal: string | null
    from_at: Date
    until_at: Date | null
  }
  signing_key_proof: {
    destination_id: DestinationId
    kid: string
    first_accepted_at: Date | null
    last_accepted_at: Date | null
    last_refused_at: Date | null
    refusal: string | null
    address: string | null
  }
  jwks_fetch: {
    address: string
    last_fetched_at: Date
  }
}
