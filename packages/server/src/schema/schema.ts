/*
 * The rows of the database, table by table, as `migrations/` define them. `bigint` columns are
 * decimal strings, `timestamptz` columns are Dates, `jsonb` columns are parsed values that are
 * written as JSON text. Written by hand for their closed words and JSON shapes; tables.db.test.ts compares them
 * with the database (docs/adr/0008-libraries.md).
 */
import type {
  CheckCounterTable,
  CheckGroupRuleTable,
  CheckRefreshTable,
  CheckResultTable,
  CheckTagTable,
  CheckTransitionTable,
  CustomCheckDraftTable,
  PersonCheckResultTable,
  PostureCheckTable,
  PostureCheckTagTable,
} from './tables/check-tables.ts'
import type {
  DatabaseClockTable,
  DeliveryAttemptTable,
  DeliveryDestinationTable,
  DeliveryTable,
  DeliveryWorkerTable,
} from './tables/delivery-tables.ts'
import type {
  DeviceAuthenticationGroupTable,
  DeviceContactTable,
  DeviceGroupMemberTable,
  DeviceGroupTable,
  DeviceStatusTransitionTable,
  DeviceTable,
  EnrollmentSecretTable,
  RegistrationRequestTable,
  RemovedHostTable,
} from './tables/device-tables.ts'
import type {
  ExemptionRequestCheckTable,
  ExemptionRequestIssueTable,
  ExemptionRequestTable,
  IssueTable,
} from './tables/issue-tables.ts'
import type {
  LiveQueryCampaignTable,
  LiveQueryCounterTable,
  LiveQueryResultTable,
  LiveQueryTargetTable,
} from './tables/live-query-tables.ts'
import type { IdempotencyRecordTable } from '../platform/db/idempotency-tables.ts'
import type {
  AdminUserTable,
  ApiKeyPermissionTable,
  ApiKeyTable,
  AuditEntryTable,
  JobRunTable,
  OrganisationTable,
} from './tables/organisation-tables.ts'
import type {
  PersonGroupMemberTable,
  PersonGroupTable,
  PersonTable,
} from './tables/person-tables.ts'
import type {
  ReportingQueryRowTable,
  ReportingQueryRunTable,
  ReportingQueryTable,
  ReportingRecordTable,
  ReportingSnapshotTable,
} from './tables/reporting-tables.ts'
import type { AuthLogSessionTable } from './tables/sign-in-tables.ts'
import type {
  JwksFetchTable,
  SigningKeyProofTable,
  SigningKeyTable,
  StreamSigningKeyTable,
} from './tables/signing-key-tables.ts'
import type {
  SsfAccessTokenTable,
  SsfClientAssertionTable,
  SsfClientSecretTable,
  SsfClientTable,
  SsfInactivityPolicyTable,
} from './tables/ssf-client-tables.ts'
import type {
  SsfBackfillTable,
  SsfPollTokenTable,
  SsfPushCredentialTable,
  SsfStreamSequenceTable,
  SsfStreamSubjectTable,
  SsfStreamTable,
  StreamSelfTestTable,
} from './tables/ssf-stream-tables.ts'
import type {
  WebhookEventTable,
  WebhookPaceTable,
  WebhookSecretTable,
  WebhookTable,
} from './tables/webhook-tables.ts'

/** Every table of the database. */
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
  database_clock: DatabaseClockTable
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
  job_run: JobRunTable
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
