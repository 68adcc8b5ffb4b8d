import type { Generated } from 'kysely'
import type { BigCount, DefaultJson, Id, Json, OsqueryRow } from './column-types.ts'
import type { Platform } from './device-tables.ts'
import type { CheckStatus, InitiatingEntity, RemediationStrategy } from '../status-values.ts'

/** What keeps a draft from being published. */
export interface DraftProblem {
  section: 'osquery_sql' | 'notification_templates' | 'details' | 'privacy_center_details'
  field: string
  state: 'missing' | 'bad'
  message: string
}

/** These tables by their names. */
export interface CheckTables {
  check_tag: {
    id: Id
    name: string
    description: Generated<string>
    color: string
  }
  posture_check: {
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
    /** The platforms with a text in `queries`; PostgreSQL writes it. */
    query_platforms: Generated<Platform[]>
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
    rollout_percent: Generated<number>
    paused_at: Date | null
    paused_by: string | null
    created_at: Date
    updated_at: Date
  }
  release_data: {
    id: Generated<number>
    content: Json<object>
    imported_at: Date
    imported_by: string
  }
  posture_check_tag: {
    check_id: string
    tag_id: string
  }
  check_group_rule: {
    id: Id
    check_id: string
    rule: 'targeted' | 'excluded' | 'blocking_allowed' | 'blocking_excluded'
    device_group_id: string | null
    platform: 'darwin' | 'windows' | 'linux' | null
  }
  check_configuration_change: {
    id: Id
    check_id: string
    revision: number
    changed_at: Date
    actor_type: 'User' | 'ApiKey' | 'System' | 'Person'
    actor_id: string | null
    actor_name: string
    before: Json<Record<string, unknown>>
    after: Json<Record<string, unknown>>
    undoes_revision: number | null
    txn: string
  }
  check_result: {
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
  person_check_result: {
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
  check_counter: {
    check_id: string
    stripe: number
    status: CheckStatus
    device_count: BigCount
  }
  check_transition: {
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
  check_refresh: {
    device_id: string
    check_id: string
    requested_at: Date
  }
  custom_check_draft: {
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
}
