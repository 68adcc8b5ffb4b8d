import type { SealedColumn } from '../platform/secrets/sealed-column-store.ts'

/**
 * Every column that holds secrets sealed under the master key. A change of the master key seals these anew, so
 * that a column which is missing here would be lost with the former key; a test holds the list against the
 * schema.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'admin_identity_provider', key: 'id', column: 'client_secret_sealed' },
  { table: 'admin_password', key: 'admin_id', column: 'totp_secret_sealed' },
  { table: 'api_key', key: 'id', column: 'secret_sealed' },
  { table: 'audit_checkpoint_key', key: 'id', column: 'private_key_sealed' },
  { table: 'enrollment_secret', key: 'id', column: 'secret_sealed' },
  { table: 'idempotency_record', key: 'scope_hash', column: 'answer_sealed' },
  { table: 'sign_in_application', key: 'id', column: 'client_secret_sealed' },
  { table: 'sign_in_key', key: 'kid', column: 'private_key_sealed' },
  { table: 'sign_in_provider_state', key: 'key_hash', column: 'payload_sealed' },
  { table: 'sign_in_upstream_provider', key: 'id', column: 'client_secret_sealed' },
  { table: 'signing_key', key: 'kid', column: 'private_key_sealed' },
  { table: 'ssf_push_credential', key: 'stream_id', column: 'oauth_client_secret_sealed' },
  { table: 'ssf_push_credential', key: 'stream_id', column: 'oauth_previous_secret_sealed' },
  { table: 'ssf_push_credential', key: 'stream_id', column: 'client_key_sealed' },
  { table: 'ssf_stream', key: 'id', column: 'authorization_header_sealed' },
  { table: 'ssf_stream', key: 'id', column: 'pairwise_secret_sealed' },
  { table: 'webhook', key: 'id', column: 'headers_sealed' },
  { table: 'webhook_secret', key: 'id', column: 'secret_sealed' },
]

/** Columns of bytes that hold no secret: public keys, and digests, from which nothing can be opened. */
export const OPEN_COLUMNS: ReadonlySet<string> = new Set([
  'admin_passkey.credential_id',
  'admin_passkey.public_key',
  'admin_session.previous_token_hash',
  'admin_session.token_hash',
  'admin_sign_in_link.token_hash',
  'admin_used_challenge.challenge_hash',
  'api_key.secret_hash',
  'audit_chain.cut_head',
  'audit_chain.frontier',
  'audit_chain.head',
  'audit_checkpoint_key.public_key',
  'audit_entry.hash',
  'audit_entry.previous_hash',
  'audit_link.hash',
  'audit_subtree.hash',
  'check_result.content_hash',
  'device.node_key_hash',
  'enrollment_secret.secret_hash',
  'idempotency_record.fingerprint',
  'idempotency_record.scope_hash',
  'reporting_snapshot.content_hash',
  'sign_in_attempt.secret_hash',
  'sign_in_granted_session.cookie_hash',
  'sign_in_probe_lease.cookie_hash',
  'sign_in_probe_lease.token_hash',
  'sign_in_provider_state.grant_hash',
  'sign_in_provider_state.key_hash',
  'sign_in_provider_state.uid_hash',
  'sign_in_refused_request.fingerprint',
  'ssf_access_token.token_hash',
  'ssf_client_secret.secret_hash',
  'ssf_poll_token.secret_hash',
  'ssf_stream_subject.subject_hash',
])
