import type { ColumnType, Generated } from 'kysely'

/*
 * The rows of the database, table by table, as `migrations/` define them. `bigint` columns are
 * decimal strings, `timestamptz` columns are Dates, `jsonb` columns are parsed values that are
 * written as JSON text.
 */

type Id = Generated<string>
/** A `bigint` column that counts: read as a decimal string, written as either. */
type BigCount = ColumnType<string, string | number | undefined, string | number>
type Json<T> = ColumnType<T, string, string>
type DefaultJson<T> = ColumnType<T, string | undefined, string>

/** One row as osquery reports it: column name to text. */
export type OsqueryRow = Record<string, string>

export type Platform = 'darwin' | 'windows' | 'linux' | 'ios' | 'android'
export type AuthState = 'Good' | 'Notified' | 'Will Block' | 'Blocked'
export type Compliance = 'compliant' | 'not-compliant'
export type RemediationStrategy =
  'block_immediately' | 'warn_then_block' | 'notify_only' | 'report_only'
export type CheckStatus =
  | 'unknown'
  | 'passing'
  | 'failing'
  | 'errored'
  | 'inapplicable'
  | 'stale'
  | 'pending'
  | 'out_of_scope'
export type InitiatingEntity = 'admin' | 'user' | 'policy' | 'system'

export interface OrganisationTable {
  id: Generated<number>
  name: string
  compliance_threshold: Generated<'blocked' | 'will_block' | 'notified'>
  api_writes_enabled: Generated<boolean>
  ssf_enabled: Generated<boolean>
  created_at: Date
  updated_at: Date
}

export interface AdminUserTable {
  id: Id
  first_name: string
  last_name: string
  email: string
  access: 'full' | 'limited' | 'billing_only'
  restrictions: Generated<string[]>
  created_at: Date
  updated_at: Date
}

export interface ApiKeyTable {
  id: Id
  name: string
  responsible_admin_id: string
  secret_hash: Buffer
  secret_sealed: Buffer
  secret_last_four: string
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  rotated_from_id: string | null
}

export interface ApiKeyPermissionTable {
  api_key_id: string
  permission: string
  rationale: string
  granted_at: Date
}

export interface AuditEntryTable {
  sequence: string
  recorded_at: Date
  actor_type: 'User' | 'ApiKey' | 'System' | 'Person'
  actor_id: string | null
  actor_name: string
  actor_email: string | null
  action: string
  target_type: string | null
  target_id: string | null
  description: string
  before: Json<unknown>
  after: Json<unknown>
  txn: string
  request_id: string | null
  ip_address: string | null
  previous_hash: Buffer
  hash: Buffer
}

/** An email address of a person as an identity provider describes it. */
export interface PersonEmail {
  value: string
  type?: string
  display?: string
  primary?: boolean
}

export interface PersonTable {
  id: Id
  name: string
  email: string
  usernames: Generated<string[]>
  last_authenticated_at: Date | null
  deprovisioned_at: Date | null
  user_name: string | null
  external_id: string | null
  display_name: string | null
  formatted_name: string | null
  given_name: string | null
  family_name: string | null
  emails: Json<PersonEmail[] | null> | null
  provisioning_ended_at: Date | null
  first_device_trusted_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface PersonGroupTable {
  id: Id
  name: string
  external_id: string | null
  revision: BigCount
  created_at: Date
  updated_at: Date
}

export interface PersonGroupMemberTable {
  person_group_id: string
  person_id: string
  added_at: Date
}

export interface EnrollmentSecretTable {
  id: Id
  name: string
  secret_hash: Buffer
  secret_sealed: Buffer
  person_id: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  use_count: BigCount
}

export interface DeviceTable {
  id: Id
  host_identifier: string
  hardware_uuid: string | null
  serial: string | null
  name: string
  platform: Platform
  form_factor: Generated<'computer' | 'tablet' | 'phone'>
  operating_system: Generated<string>
  hardware_model: Generated<string>
  osquery_version: string | null
  note: string | null
  owner_person_id: string | null
  registered_at: Date | null
  last_authenticated_at: Date | null
  authentication_mode: Generated<
    'only_registered_owner' | 'only_registered_owner_or_group_members' | 'anyone'
  >
  enrollment_secret_id: string | null
  enrolled_at: Date | null
  node_key_hash: Buffer | null
  agent_disabled_at: Date | null
  auth_state: Generated<AuthState>
  will_block_at: Date | null
  compliance: Generated<Compliance>
  evaluated_at: Date | null
  status_changed_at: Date | null
  reevaluate_at: Date | null
  checks_ran_at: Date | null
  deletion_requested_at: Date | null
  deletion_requested_by: string | null
  deletion_due_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface DeviceAuthenticationGroupTable {
  device_id: string
  person_group_id: string
}

export interface RemovedHostTable {
  host_identifier: string
  device_name: string
  removed_at: Date
}

export interface DeviceContactTable {
  device_id: string
  last_seen_at: Date
  ip_address: string | null
}

export interface DeviceStatusTransitionTable {
  id: Id
  device_id: string
  occurred_at: Date
  from_state: AuthState
  to_state: AuthState
  from_compliance: Compliance
  to_compliance: Compliance
  initiating_entity: InitiatingEntity
  actor_name: string
  reason: string
  txn: string
}

export interface DeviceGroupTable {
  id: Id
  name: string
  description: Generated<string>
  members_count: Generated<number>
  created_at: Date
  updated_at: Date
}

export interface DeviceGroupMemberTable {
  device_group_id: string
  device_id: string
  added_at: Date
}

export interface CheckTagTable {
  id: Id
  name: string
  description: Generated<string>
  color: string
}

export interface PostureCheckTable {
  id: Id
  slug: string
  name: string
  description: string
  issue_title: string
  type: 'osquery' | 'custom' | 'external'
  is_built_in: boolean
  target_type: Generated<'devices' | 'people'>
  platforms: string[]
  topics: Generated<string[]>
  queries: DefaultJson<Partial<Record<Platform, string>>>
  revision: Generated<number>
  primary_key_column: string | null
  rationale_template: Generated<string>
  fix_instructions_template: Generated<string>
  privacy_info: Generated<string>
  remediation_strategy: RemediationStrategy
  grace_period_days: Generated<number>
  shelf_life_seconds: Generated<number>
  begins_blocking_on: Date | null
  snooze_disallowed: Generated<boolean>
  exemptions_disallowed: Generated<boolean>
  options: DefaultJson<Record<string, unknown>>
  custom_rationale_template: string | null
  custom_fix_instructions_template: string | null
  configuration_revision: Generated<number>
  paused_at: Date | null
  paused_by: string | null
  created_at: Date
  updated_at: Date
}

export interface PostureCheckTagTable {
  check_id: string
  tag_id: string
}

export interface CheckGroupRuleTable {
  id: Id
  check_id: string
  rule: 'targeted' | 'excluded' | 'blocking_allowed' | 'blocking_excluded'
  device_group_id: string | null
  platform: 'darwin' | 'windows' | 'linux' | null
}

export interface CheckResultTable {
  id: Id
  device_id: string
  check_id: string
  status: CheckStatus
  revision: number
  ran_at: Date | null
  status_changed_at: Date
  failing_since: Date | null
  rows: DefaultJson<OsqueryRow[]>
  error_message: string | null
  updated_at: Date
}

export interface PersonCheckResultTable {
  id: Id
  person_id: string
  check_id: string
  status: Exclude<CheckStatus, 'pending' | 'stale' | 'out_of_scope'>
  ran_at: Date
  status_changed_at: Date
  failing_since: Date | null
  rows: DefaultJson<OsqueryRow[]>
  error_message: string | null
  updated_at: Date
}

export interface CheckCounterTable {
  check_id: string
  stripe: number
  status: CheckStatus
  device_count: BigCount
}

export interface CheckTransitionTable {
  id: Id
  device_id: string
  check_id: string
  occurred_at: Date
  from_status: CheckStatus
  to_status: CheckStatus
  revision: number
  initiating_entity: InitiatingEntity
  actor_name: string
  reason: string
  rows: Json<OsqueryRow[] | null> | null
  txn: string
}

export interface CheckRefreshTable {
  device_id: string
  check_id: string
  requested_at: Date
}

export interface IssueTable {
  id: Id
  check_id: string
  device_id: string | null
  person_id: string | null
  title: string
  issue_key: string | null
  issue_value: string | null
  value: Json<OsqueryRow>
  detected_at: Date
  last_rechecked_at: Date
  resolved_at: Date | null
  blocks_device_at: Date | null
  exempted_at: Date | null
  exemption_expires_at: Date | null
  exemption_reason: string | null
  updated_at: Date
}

export interface ExemptionRequestTable {
  id: Id
  device_id: string
  requester_person_id: string | null
  requester_message: string
  status: Generated<'open' | 'withdrawn' | 'approved' | 'denied'>
  covers_future_issues: Generated<boolean>
  expires_at: Date | null
  internal_explanation: string | null
  denial_explanation: string | null
  requested_at: Date
  decided_at: Date | null
  decided_by: string | null
  updated_at: Date
}

export interface ExemptionRequestIssueTable {
  exemption_request_id: string
  issue_id: string
}

export interface ExemptionRequestCheckTable {
  exemption_request_id: string
  check_id: string
}

export interface RegistrationRequestTable {
  id: Id
  device_id: string
  requester_person_id: string | null
  requester_message: string
  status: Generated<'pending' | 'approved' | 'denied'>
  internal_approval_note: string | null
  internal_denial_note: string | null
  end_user_denial_note: string | null
  requested_at: Date
  decided_at: Date | null
  decided_by: string | null
  updated_at: Date
}

/** What keeps a draft from being published. */
export interface DraftProblem {
  section: 'osquery_sql' | 'notification_templates' | 'details' | 'privacy_center_details'
  field: string
  state: 'missing' | 'bad'
  message: string
}

export interface CustomCheckDraftTable {
  id: Id
  name: string
  slug: string
  description: Generated<string>
  issue_title: Generated<string>
  check_type: Generated<'osquery' | 'external'>
  target_type: Generated<'devices' | 'people'>
  osquery_sql: Generated<string>
  platforms: Generated<string[]>
  requires_primary_key: Generated<boolean>
  primary_key_column: Generated<string>
  rationale_template: Generated<string>
  fix_instructions_template: Generated<string>
  privacy_info: Generated<string>
  template_data_examples: DefaultJson<Record<string, unknown>>
  privacy_center_example_data: DefaultJson<Record<string, unknown>>
  problems: DefaultJson<DraftProblem[]>
  custom_check_id: string | null
  published_at: Date | null
  has_unpublished_changes: Generated<boolean>
  created_at: Date
  updated_at: Date
}

/** An issue that was shown during a sign-in. */
export interface DisplayedIssue {
  id: string
  title: string
  blocking_status: 'blocked' | 'will_block'
}

/** One step of a sign-in. */
export interface AuthLogEvent {
  timestamp: string
  event_type: string
  event_description: string
}

export interface AuthLogSessionTable {
  id: Id
  started_at: Date
  finished_at: Date | null
  person_id: string | null
  person_name: string
  person_email: string
  device_id: string | null
  result: 'Success' | 'Fail' | null
  initial_status: Generated<'all_good' | 'will_block' | 'blocked' | 'unknown'>
  ip_address: string | null
  agent_version: string | null
  country: string | null
  city: string | null
  browser_name: string | null
  browser_version: string | null
  browser_user_agent: string | null
  issues_displayed: DefaultJson<DisplayedIssue[]>
  events: DefaultJson<AuthLogEvent[]>
  app_instance_id: string | null
  app_name: string | null
  txn: string | null
  timeout_seconds: Generated<number>
  /** When a sign-in under way counts as abandoned; null once it has ended. */
  expires_at: Generated<Date | null>
  updated_at: Date
}

export interface LiveQueryCampaignTable {
  id: Id
  name: string
  sql: string
  tables_used: string[]
  targeted_device_ids: Generated<string[]>
  target_all_devices: Generated<boolean>
  target_macs: Generated<boolean>
  target_windows_devices: Generated<boolean>
  target_linux_devices: Generated<boolean>
  published: boolean
  revision: Generated<number>
  asked_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface LiveQueryTargetTable {
  campaign_id: string
  device_id: string
  revision: number
  state: 'waiting' | 'successful' | 'errored'
}

export interface LiveQueryResultTable {
  id: Id
  campaign_id: string
  device_id: string
  revision: number
  rows: Json<OsqueryRow[]>
  row_count: number
  error_message: string | null
  warning_message: string | null
  answered_at: Date
}

export interface LiveQueryCounterTable {
  campaign_id: string
  stripe: number
  waiting: Generated<number>
  successful: Generated<number>
  errored: Generated<number>
}

export interface ReportingRecordTable {
  id: Id
  table_name: string
  device_id: string
  columns: Json<OsqueryRow>
  collected_at: Date
}

export interface ReportingSnapshotTable {
  device_id: string
  table_name: string
  unix_time: BigCount
  epoch: BigCount
  counter: BigCount
  content_hash: Buffer
  collected_at: Date
}

export interface ReportingQueryRunTable {
  id: Id
  query_id: string
  ran_at: Date
  row_count: number
}

export interface ReportingQueryRowTable {
  run_id: string
  ordinal: number
  columns: Json<Record<string, JsonColumn>>
}

/** A value of a result row. */
export type JsonColumn = string | number | boolean | null

export interface ReportingQueryTable {
  id: Id
  name: string
  sql: string
  created_at: Date
  updated_at: Date
}

export interface SigningKeyTable {
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

export interface StreamSigningKeyTable {
  destination_id: string
  kid: string
  reason: 'canary' | 'rolled_back'
  refused_kid: string | null
  refusal: string | null
  from_at: Date
  until_at: Date | null
}

export interface SigningKeyProofTable {
  destination_id: string
  kid: string
  first_accepted_at: Date | null
  last_accepted_at: Date | null
  last_refused_at: Date | null
  refusal: string | null
  address: string | null
}

export interface JwksFetchTable {
  address: string
  last_fetched_at: Date
}

export interface DeliveryDestinationTable {
  id: Id
  kind: 'ssf_push' | 'ssf_poll' | 'webhook'
  state: 'active' | 'held' | 'stopped' | 'deleted'
  retry_not_before: Date | null
  consecutive_failures: Generated<number>
  failing_since: Date | null
  last_success_at: Date | null
  last_failure_at: Date | null
  last_failure: string | null
  keeps_exhausted: Generated<boolean>
}

export interface DeliveryWorkerTable {
  id: number
  started_at: Date
  missing_since: Date | null
}

export interface DeliveryTable {
  id: Id
  destination_id: string
  event_id: string
  event_type: string
  subject_key: string | null
  body: string
  signing_kid: string | null
  token: string | null
  state: 'queued' | 'delivered' | 'dead' | 'discarded'
  attempt_count: Generated<number>
  next_attempt_at: Date
  claimed_by: string | null
  claim_expires_at: Date | null
  last_error: string | null
  txn: string
  created_at: Date
  finished_at: Date | null
  outlives_stop: Generated<boolean>
  /** The number of the SET in its stream. */
  sequence: Generated<string | null>
}

/** Milliseconds that an attempt spent in each phase; absent phases were not reached or not needed. */
export interface AttemptTimings {
  dns?: number
  connect?: number
  tls?: number
  first_byte?: number
  total: number
}

export interface DeliveryAttemptTable {
  id: Id
  delivery_id: string
  number: number
  started_at: Date
  timings: Json<AttemptTimings>
  outcome: 'accepted' | 'rejected' | 'retry'
  status_code: number | null
  error_code: string | null
  error: string | null
  request_headers: Json<Record<string, string> | null> | null
  response_headers: Json<Record<string, string> | null> | null
  response_body: string | null
  remote_address: string | null
  next_attempt_at: Date | null
}

export interface SsfStreamTable {
  id: Id
  stream_id: string
  destination_id: string
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

export interface SsfStreamSequenceTable {
  ssf_stream_id: string
  last_sequence: string
}

export interface SsfBackfillTable {
  id: Id
  ssf_stream_id: string
  after_device_id: Generated<string>
  queued_count: Generated<number>
  txn: string
  requested_at: Date
}

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

export interface SsfPushCredentialTable {
  stream_id: string
  oauth_client_secret_sealed: Buffer | null
  oauth_previous_secret_sealed: Buffer | null
  oauth_previous_secret_until: Date | null
  client_certificate: string | null
  client_key_sealed: Buffer | null
  extra_ca: string | null
  version: Generated<string>
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

export interface StreamSelfTestTable {
  stream_id: string
  started_at: Date
  finished_at: Date | null
  cases: DefaultJson<SelfTestCaseRecord[]>
}

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

export interface SsfStreamSubjectTable {
  id: Id
  ssf_stream_id: string
  subject_hash: Buffer
  subject: Json<Record<string, unknown>>
  match_keys: string[]
  is_included: boolean
  is_verified: boolean
  created_at: Date
}

export interface SsfInactivityPolicyTable {
  id: Generated<number>
  timeout_seconds: number
  effective_since: Date
}

export interface SsfPollTokenTable {
  id: Id
  ssf_stream_id: string
  secret_hash: Buffer
  secret_last_four: string
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export interface IdempotencyRecordTable {
  scope_hash: Buffer
  fingerprint: Buffer
  request_id: string
  status: number | null
  answer_sealed: Buffer | null
  created_at: Date
  expires_at: Date
}

/** Every table of the database. */
export interface WebhookTable {
  id: Id
  destination_id: string
  identifier: string
  name: string
  description: string | null
  url: string
  events: string[]
  enabled: Generated<boolean>
  disabled_reason: 'admin' | 'failing' | 'gone' | null
  disabled_at: Date | null
  signing: 'standard' | 'ed25519' | 'hex'
  header_names: Generated<string[]>
  headers_sealed: Buffer | null
  failure_warned_days: Generated<number>
  created_at: Date
  updated_at: Date
}

export interface WebhookSecretTable {
  id: string
  webhook_id: string
  secret_sealed: Buffer
  public_key: string | null
  created_at: Date
  ends_at: Date | null
}

export interface WebhookPaceTable {
  destination_id: string
  per_second: number
  tokens: number
  filled_at: Date
}

export interface WebhookEventTable {
  id: Id
  event_id: string
  event_type: string
  object_type: string | null
  object_id: string | null
  occurred_at: Date
  body: string | null
  txn: string
  created_at: Date
}

export interface Schema {
  admin_user: AdminUserTable
  api_key: ApiKeyTable
  api_key_permission: ApiKeyPermissionTable
  audit_entry: AuditEntryTable
  auth_log_session: AuthLogSessionTable
  check_counter: CheckCounterTable
  check_group_rule: CheckGroupRuleTable
  check_refresh: CheckRefreshTable
  check_result: CheckResultTable
  check_tag: CheckTagTable
  check_transition: CheckTransitionTable
  custom_check_draft: CustomCheckDraftTable
  delivery: DeliveryTable
  delivery_attempt: DeliveryAttemptTable
  delivery_destination: DeliveryDestinationTable
  delivery_worker: DeliveryWorkerTable
  device: DeviceTable
  device_authentication_group: DeviceAuthenticationGroupTable
  device_contact: DeviceContactTable
  device_group: DeviceGroupTable
  device_group_member: DeviceGroupMemberTable
  device_status_transition: DeviceStatusTransitionTable
  enrollment_secret: EnrollmentSecretTable
  exemption_request: ExemptionRequestTable
  exemption_request_check: ExemptionRequestCheckTable
  exemption_request_issue: ExemptionRequestIssueTable
  idempotency_record: IdempotencyRecordTable
  issue: IssueTable
  jwks_fetch: JwksFetchTable
  live_query_campaign: LiveQueryCampaignTable
  live_query_counter: LiveQueryCounterTable
  live_query_result: LiveQueryResultTable
  live_query_target: LiveQueryTargetTable
  organisation: OrganisationTable
  person: PersonTable
  person_check_result: PersonCheckResultTable
  person_group: PersonGroupTable
  person_group_member: PersonGroupMemberTable
  posture_check: PostureCheckTable
  posture_check_tag: PostureCheckTagTable
  registration_request: RegistrationRequestTable
  removed_host: RemovedHostTable
  reporting_query: ReportingQueryTable
  reporting_query_row: ReportingQueryRowTable
  reporting_query_run: ReportingQueryRunTable
  reporting_record: ReportingRecordTable
  reporting_snapshot: ReportingSnapshotTable
  signing_key: SigningKeyTable
  signing_key_proof: SigningKeyProofTable
  ssf_access_token: SsfAccessTokenTable
  ssf_client: SsfClientTable
  ssf_client_assertion: SsfClientAssertionTable
  ssf_client_secret: SsfClientSecretTable
  ssf_inactivity_policy: SsfInactivityPolicyTable
  ssf_poll_token: SsfPollTokenTable
  ssf_push_credential: SsfPushCredentialTable
  ssf_backfill: SsfBackfillTable
  ssf_stream: SsfStreamTable
  ssf_stream_sequence: SsfStreamSequenceTable
  ssf_stream_subject: SsfStreamSubjectTable
  stream_self_test: StreamSelfTestTable
  stream_signing_key: StreamSigningKeyTable
  webhook: WebhookTable
  webhook_event: WebhookEventTable
  webhook_pace: WebhookPaceTable
  webhook_secret: WebhookSecretTable
}
