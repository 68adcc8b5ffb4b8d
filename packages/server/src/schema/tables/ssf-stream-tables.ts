import type { Generated } from 'kysely'
import type { DestinationId, StreamId, StreamRowId } from '../branded-ids.ts'
import type { DefaultJson, Id, Json } from './column-types.ts'

/** What may be shown of the ways in which the service authenticates to a receiver. */
export interface PushAuthenticationFacts {
  oauth?: {
    token_endpoint: string
    client_id: string
    scope: string | null
    auth_method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'
  }
  mtls?: { subject: string; fingerprint_sha256: string; not_after: string }
  has_extra_ca?: boolean
}

/** What a receiver made of one SET of a self-test. */
export interface SelfTestCaseRecord {
  name: string
  sent: string
  expected: string
  verdict:
    'ok' | 'accepted_bad_set' | 'wrong_error_code' | 'refused_good_set' | 'unreachable' | 'not_run'
  advice: string
  jti: string | null
  status: number | null
  error_code: string | null
  response_body: string | null
  duration_ms: number | null
}

/** These tables by their names. */
export interface SsfStreamTables {
  ssf_stream: {
    id: Generated<StreamRowId>
    stream_id: StreamId
    destination_id: DestinationId
    face: 'root' | 'strict'
    issuer: string
    audience: string
    name: string
    description: string | null
    delivery_method: 'push' | 'poll'
    endpoint_url: string | null
    authorization_header_sealed: Buffer | null
    events_requested: string[]
    spec_version: Generated<'1.0' | 'draft' | 'both'>
    subject_form: Generated<'complex' | 'iss_sub' | 'email'>
    profile: Generated<'interface' | 'strict' | 'caep_interop' | 'okta' | 'sgnl'>
    reason_fields: Generated<('reason_admin' | 'reason_user')[]>
    reason_details: Generated<('issue_titles' | 'device_name')[]>
    has_pairwise_identifiers: Generated<boolean>
    pairwise_secret_sealed: Buffer | null
    has_opaque_identifiers: Generated<boolean>
    omits_more_available: Generated<boolean>
    uses_legacy_status_codes: Generated<boolean>
    status: Generated<'enabled' | 'paused' | 'disabled'>
    status_reason: string | null
    push_authentication: Json<PushAuthenticationFacts | null> | null
    fallback_to_poll: Generated<boolean>
    fallback_since: Date | null
    fallback_reason: string | null
    ssf_client_id: Generated<string | null>
    default_subjects: Generated<'ALL' | 'NONE'>
    subject_count: Generated<number>
    verification_requested_at: Generated<Date | null>
    last_activity_at: Generated<Date | null>
    heartbeat_minutes: number | null
    heartbeat_due_at: Date | null
    is_numbered: Generated<boolean>
    damping_seconds: Generated<number>
    created_at: Date
    updated_at: Date
  }
  ssf_stream_sequence: {
    ssf_stream_id: StreamRowId
    last_sequence: Generated<string>
  }
  ssf_stream_subject: {
    id: Id
    ssf_stream_id: StreamRowId
    subject_hash: Buffer
    subject: Json<Record<string, unknown>>
    match_keys: string[]
    is_included: boolean
    is_verified: boolean
    created_at: Date
  }
  ssf_backfill: {
    id: Id
    ssf_stream_id: StreamRowId
    after_device_id: Generated<string>
    queued_count: Generated<number>
    txn: string
    requested_at: Date
  }
  ssf_push_credential: {
    stream_id: StreamRowId
    oauth_client_secret_sealed: Buffer | null
    oauth_previous_secret_sealed: Buffer | null
    oauth_previous_secret_until: Date | null
    client_certificate: string | null
    client_key_sealed: Buffer | null
    extra_ca: string | null
    version: Generated<string>
  }
  ssf_restatement: {
    ssf_stream_id: StreamRowId
    txn: string
    requested_at: Date
    /** Devices that have not answered are told of from then on; null until the first pass begins. */
    last_pass_at: Date | null
    is_last_pass: Generated<boolean>
    /** The present pass has come this far. */
    after_device_id: Generated<string>
    told_count: Generated<number>
    /** Only devices of which this status transition or a later one is; null for every device. */
    since_transition_id: string | null
  }
  ssf_poll_token: {
    id: Id
    ssf_stream_id: StreamRowId
    secret_hash: Buffer
    secret_last_four: string
    created_at: Date
    expires_at: Date | null
    revoked_at: Date | null
    last_used_at: Date | null
  }
  stream_self_test: {
    stream_id: StreamRowId
    started_at: Date
    finished_at: Date | null
    cases: DefaultJson<SelfTestCaseRecord[]>
  }
}
