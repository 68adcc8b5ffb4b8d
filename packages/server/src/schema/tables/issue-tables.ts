import type { Generated } from 'kysely'
import type { Id, Json, OsqueryRow } from './column-types.ts'

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
  follows_round: Generated<boolean>
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

/** These tables by their names. */
export interface IssueTables {
  exemption_request: ExemptionRequestTable
  exemption_request_check: ExemptionRequestCheckTable
  exemption_request_issue: ExemptionRequestIssueTable
  issue: IssueTable
}
