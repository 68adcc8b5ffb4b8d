import type { Generated } from 'kysely'
import type { Id, Json, OsqueryRow } from './column-types.ts'

/** These tables by their names. */
export interface IssueTables {
  /** What issues of a check have said, kept by a trigger. */
  issue_wording: {
    check_id: string
    title: string
    issue_key: string | null
  }
  issue: {
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
    /** When the person put it off last. */
    snoozed_at: Date | null
    /** Until when; see `posture/issues/snooze/snooze-store.ts` for what cuts it short. */
    snoozed_until: Date | null
    updated_at: Date
    follows_round: Generated<boolean>
  }
  exemption_request: {
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
  exemption_request_issue: {
    exemption_request_id: string
    issue_id: string
  }
  exemption_request_check: {
    exemption_request_id: string
    check_id: string
  }
}
