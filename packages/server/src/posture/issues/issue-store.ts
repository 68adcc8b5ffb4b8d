import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { isRolledOut } from '../checks/check-scope-store.ts'
import type { RemediationStrategy } from '../../schema/status-values.ts'
import type { IssueChanges, NewIssue, OpenIssue, RecheckedIssue } from './issue.ts'

/** Whose issue it is. */
export type IssueSubject =
  | { readonly kind: 'device'; readonly id: string }
  | { readonly kind: 'person'; readonly id: string }

/** The open issues of a device or a person for the given checks, exempted ones included. */
export async function listOpenIssues(
  tx: Transaction<Schema>,
  subject: IssueSubject,
  checkIds: readonly string[],
): Promise<OpenIssue[]> {
  const { rows } = await sql<OpenIssue>`
    select id, check_id as "checkId", issue_value as "issueValue", detected_at as "detectedAt",
      value, blocks_device_at as "blocksDeviceAt", last_rechecked_at as "lastRecheckedAt",
      follows_round as "followsRound"
    from issue
    where ${sql.ref(`${subject.kind}_id`)} = ${subject.id} and resolved_at is null
      and check_id = any(${checkIds}::bigint[])
  `.execute(tx)
  return rows
}

/**
 * Opens, rechecks and resolves issues of one device or person, all at the time `at` of the result, which is that
 * of a round of the device where they are to follow it. The devices that they count for must be locked. Two statements at most, none when nothing changes.
 * Answers the ids of the issues that were opened.
 */
export async function updateSubjectIssues(
  tx: Transaction<Schema>,
  subject: IssueSubject,
  changes: IssueChanges,
  result: IssueTimes,
): Promise<string[]> {
  const { opened, rechecked, resolvedIds } = changes
  if (rechecked.length > 0 || resolvedIds.length > 0) {
    await updateOpenIssues(tx, rechecked, resolvedIds, result)
  }
  return opened.length === 0 ? [] : insertIssues(tx, subject, opened, result)
}

/** The time of a result, and whether the issues that it leaves open follow the rounds of the device from then on. */
interface IssueTimes {
  readonly at: Date
  readonly followsRound: boolean
}

async function updateOpenIssues(
  tx: Transaction<Schema>,
  rechecked: readonly RecheckedIssue[],
  resolvedIds: readonly string[],
  { at, followsRound }: IssueTimes,
): Promise<void> {
  const changes = [
    ...rechecked.map((issue) => ({
      id: issue.id,
      value: issue.value,
      blocks_device_at: issue.blocksDeviceAt,
      is_resolved: false,
    })),
    ...resolvedIds.map((id) => ({ id, value: null, blocks_device_at: null, is_resolved: true })),
  ]
  await sql`
    update issue set
      last_rechecked_at = ${at},
      resolved_at = case when changed.is_resolved then ${at}::timestamptz end,
      value = coalesce(changed.value, issue.value),
      blocks_device_at =
        case when changed.is_resolved then issue.blocks_device_at else changed.blocks_device_at end,
      updated_at = ${at},
      follows_round = ${followsRound}::boolean and not changed.is_resolved
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      as changed(id bigint, value jsonb, blocks_device_at timestamptz, is_resolved boolean)
    where issue.id = changed.id and issue.resolved_at is null
  `.execute(tx)
}

/** An approved request that covers later issues exempts them from their first moment on. */
async function insertIssues(
  tx: Transaction<Schema>,
  subject: IssueSubject,
  opened: readonly NewIssue[],
  { at, followsRound }: IssueTimes,
): Promise<string[]> {
  const deviceId = subject.kind === 'device' ? subject.id : null
  const personId = subject.kind === 'person' ? subject.id : null
  const rows = opened.map((issue) => ({
    check_id: issue.checkId,
    title: issue.title,
    issue_key: issue.issueKey,
    issue_value: issue.issueValue,
    value: issue.value,
    blocks_device_at: issue.blocksDeviceAt,
  }))
  const inserted = await sql<{ id: string }>`
    insert into issue (check_id, device_id, person_id, title, issue_key, issue_value, value, detected_at,
      last_rechecked_at, blocks_device_at, exempted_at, exemption_expires_at, exemption_reason,
      updated_at, follows_round)
    select o.check_id, ${deviceId}::bigint, ${personId}::bigint, o.title, o.issue_key, o.issue_value, o.value,
      ${at}::timestamptz, ${at}::timestamptz, o.blocks_device_at,
      case when e.id is not null then ${at}::timestamptz end, e.expires_at, e.internal_explanation,
      ${at}::timestamptz, ${followsRound}::boolean
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as (
        check_id bigint, title text, issue_key text, issue_value text, value jsonb,
        blocks_device_at timestamptz)) with ordinality
      as o(check_id, title, issue_key, issue_value, value, blocks_device_at, place)
    left join lateral (
      select r.id, r.expires_at, r.internal_explanation from exemption_request r
      join exemption_request_check k on k.exemption_request_id = r.id and k.check_id = o.check_id
      where r.device_id = ${deviceId} and r.status = 'approved' and r.covers_future_issues
        and (r.expires_at is null or r.expires_at > ${at})
      order by r.expires_at desc nulls first, r.id
      limit 1) e on true
    order by o.place
    returning id
  `.execute(tx)
  return inserted.rows.map(({ id }) => id)
}

/**
 * Takes the exemption from open issues whose exemption has ended by `at`. The devices must be locked.
 * Whether an issue counts does not depend on it: the end of an exemption is looked at there as well.
 */
export async function endExemptions(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
  at: Date,
): Promise<void> {
  await sql`
    update issue set exempted_at = null, exemption_expires_at = null, exemption_reason = null,
      updated_at = ${at}
    where device_id = any(${deviceIds}::bigint[]) and resolved_at is null
      and exemption_expires_at <= ${at}
  `.execute(tx)
}

/** An open issue of a live check as the evaluation of a device's status reads it. */
export interface StatusIssue {
  readonly deviceId: string
  readonly issueId: string
  readonly issueTitle: string
  readonly checkId: string
  readonly checkSlug: string
  readonly checkName: string
  readonly strategy: RemediationStrategy
  readonly blocksDeviceAt: Date | null
  readonly exemptedAt: Date | null
  /** Null for an exemption without an end. */
  readonly exemptionExpiresAt: Date | null
}

/** What a `StatusIssue` is read from: an issue `i` of {@link issuesCountingFor} and its check `c`. */
export function statusIssueColumns(blockingTime: RawBuilder<Date | null>): RawBuilder<StatusIssue> {
  return sql<StatusIssue>`
    i.for_device_id as "deviceId", i.id as "issueId", i.title as "issueTitle",
    i.check_id as "checkId", c.slug as "checkSlug", c.name as "checkName",
    case when ${isRolledOut(sql`i.for_device_id`)} then c.remediation_strategy else 'report_only' end
      as strategy, ${blockingTime} as "blocksDeviceAt",
    i.exempted_at as "exemptedAt", i.exemption_expires_at as "exemptionExpiresAt"`
}

/** The open issues that count for devices: their own and those of the people they are registered to. */
export function issuesCountingFor(deviceIds: readonly string[]): RawBuilder<unknown> {
  return sql`(
    select device_id as for_device_id, issue.* from issue
    where device_id = any(${deviceIds}::bigint[]) and resolved_at is null
    union all
    select device.id, issue.* from device join issue on issue.person_id = device.owner_person_id
    where device.id = any(${deviceIds}::bigint[]) and device.registered_at is not null
      and issue.resolved_at is null)`
}

/** The open issues that count for devices by ascending id, without those of paused checks. */
export async function listStatusIssues(
  db: Kysely<Schema>,
  deviceIds: readonly string[],
): Promise<StatusIssue[]> {
  const { rows } = await sql<StatusIssue>`
    select ${statusIssueColumns(sql<Date | null>`i.blocks_device_at`)}
    from ${issuesCountingFor(deviceIds)} i
    join posture_check c on c.id = i.check_id
    where c.paused_at is null
    order by i.id
  `.execute(db)
  return rows
}
