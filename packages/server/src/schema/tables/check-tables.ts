import type { Generated } from 'kysely'
import type { BigCount, DefaultJson, Id, Json, OsqueryRow } from './column-types.ts'
import type { Platform } from './device-tables.ts'
import type { CheckStatus, InitiatingEntity, RemediationStrategy } from '../status-values.ts'

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
  follows_round: Generated<boolean>
  content_hash: Buffer | null
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

/** These tables by their names. */
export interface CheckTables {
  check_counter: CheckCounterTable
  check_group_rule: CheckGroupRuleTable
  check_refresh: CheckRefreshTable
  check_result: CheckResultTable
  check_tag: CheckTagTable
  check_transition: CheckTransitionTable
  custom_check_draft: CustomCheckDraftTable
  person_check_result: PersonCheckResultTable
  posture_check: PostureCheckTable
  posture_check_tag: PostureCheckTagTable
}
