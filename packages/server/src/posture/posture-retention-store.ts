/*
 * For how long posture keeps what has happened. The present stays: results, open issues, and the last changes of
 * the status of each device, from which streams learn since when it holds. SQL only.
 */
import { sql } from 'kysely'
import type { RetentionPolicy } from '../platform/retention/retention-policy.ts'
import { fixedRetention, retention } from '../schema/retention.ts'

export interface PostureRetentionSettings {
  readonly checkTransitionRetentionDays: number
  readonly statusTransitionRetentionDays: number
  readonly resolvedIssueRetentionDays: number
  readonly liveQueryResultRetentionDays: number
}

const IS_SUPERSEDED = sql`exists (
    select from device_status_transition later
    where later.device_id = r.device_id and later.id > r.id)
  and (r.from_compliance = r.to_compliance or exists (
    select from device_status_transition later
    where later.device_id = r.device_id and later.id > r.id
      and later.from_compliance <> later.to_compliance))`

const IS_ASKED_ABOUT = sql`exists (
  select from exemption_request_issue named
  join exemption_request request on request.id = named.exemption_request_id
  where named.issue_id = r.id and request.status = 'open')`

/** The policies of posture. */
export function postureRetention(settings: PostureRetentionSettings): RetentionPolicy[] {
  return [
    retention('check transitions', settings.checkTransitionRetentionDays),
    retention('status transitions', settings.statusTransitionRetentionDays, {
      when: IS_SUPERSEDED,
    }),
    fixedRetention('status counts'),
    retention('resolved issues', settings.resolvedIssueRetentionDays, {
      when: sql`r.resolved_at is not null and not ${IS_ASKED_ABOUT}`,
    }),
    retention('live query results', settings.liveQueryResultRetentionDays),
    fixedRetention('device questions'),
    fixedRetention('re-enrollment requests'),
  ]
}
