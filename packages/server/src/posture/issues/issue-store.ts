import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { elementsOf, isAnyId } from '../../platform/db/planned-once.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import { isRolledOut } from '../checks/check-scope-store.ts'
import type { RemediationStrategy } from '../../schema/status-values.ts'
import type { IssueChanges, OpenIssue } from './issue.ts'

/** Whether issues are of devices or of people. */
export type IssueSubjectKind = 'device' | 'person'

/** The open issues of subjects for pairs of a subject and a check, exempted ones included. */
export async function listOpenIssues(
  tx: Transaction<Schema>,
  kind: IssueSubjectKind,
  pairs: readonly { readonly subjectId: string; readonly checkId: string }[],
): Promise<OpenIssue[]> {
  const wanted = JSON.stringify(pairs.map(({ subjectId, checkId }) => [subjectId, checkId]))
  const subject = sql.ref(`issue.${kind}_id`)
  const { rows } = await sql<OpenIssue>`
    select issue.id, ${subject} as "subjectId", issue.check_id as "checkId",
      issue.issue_value as "issueValue", issue.detected_at as "detectedAt", issue.value,
      issue.blocks_device_at as "blocksDeviceAt", issue.last_rechecked_at as "lastRecheckedAt",
      issue.follows_round as "followsRound"
    from jsonb_array_elements(${wanted}::jsonb) as wanted
    join issue on ${subject} = (wanted.value ->> 0)::bigint
      and issue.check_id = (wanted.value ->> 1)::bigint
    where issue.resolved_at is null
  `.execute(tx)
  return rows
}

/** What a result does to the issues of a device or person. */
export interface SubjectIssueChanges extends IssueChanges {
  readonly subjectId: string
  /** Whether the issues that the result leaves open follow the rounds of the device from then on. */
  readonly followsRound: boolean
}

/** An issue that was opened. */
export interface OpenedIssue {
  readonly id: string
  readonly subjectId: string
}

/**
 * Opens, rechecks and resolves issues of devices or people, all at the time `at` of the results. The devices that
 * they count for must be locked. Two statements at most, however many they are, and none when nothing changes.
 * Answers the issues that were opened.
 */
export async function updateSubjectIssues(
  tx: Transaction<Schema>,
  kind: IssueSubjectKind,
  changes: readonly SubjectIssueChanges[],
  at: Date,
): Promise<OpenedIssue[]> {
  await updateOpenIssues(tx, changes, at)
  return insertIssues(tx, kind, changes, at)
}

async function updateOpenIssues(
  tx: Transaction<Schema>,
  changes: readonly SubjectIssueChanges[],
  at: Date,
): Promise<void> {
  const rows = changes.flatMap(({ rechecked, resolvedIds, followsRound }) => [
    ...rechecked.map((issue) => ({
      id: issue.id,
      value: issue.value,
      blocks_device_at: issue.blocksDeviceAt,
      is_resolved: false,
      follows_round: followsRound,
    })),
    ...resolvedIds.map((id) => ({ id, is_resolved: true, follows_round: false })),
  ])
  if (rows.length === 0) return
  await sql`${UNAWAITED}
    update issue set
      last_rechecked_at = ${at},
      resolved_at = case when changed.is_resolved then ${at}::timestamptz end,
      value = coalesce(changed.value, issue.value),
      blocks_device_at =
        case when changed.is_resolved then issue.blocks_device_at else changed.blocks_device_at end,
      updated_at = ${at},
      follows_round = changed.follows_round
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as changed(id bigint, value jsonb, blocks_device_at timestamptz, is_resolved boolean,
        follows_round boolean)
    where issue.id = changed.id and ${isAnyId(sql`changed.id`)} and issue.resolved_at is null
  `.execute(tx)
}

/** An approved request that covers later issues exempts them from their first moment on. */
async function insertIssues(
  tx: Transaction<Schema>,
  kind: IssueSubjectKind,
  changes: readonly SubjectIssueChanges[],
  at: Date,
): Promise<OpenedIssue[]> {
  const rows = changes.flatMap(({ opened, subjectId, followsRound }) =>
    opened.map((issue) => ({
      [`${kind}_id`]: subjectId,
      check_id: issue.checkId,
      title: issue.title,
      issue_key: issue.issueKey,
      issue_value: issue.issueValue,
      value: issue.value,
      blocks_device_at: issue.blocksDeviceAt,
      follows_round: followsRound,
    })),
  )
  if (rows.length === 0) return []
  const inserted = await sql<OpenedIssue>`
    insert into issue (check_id, device_id, person_id, title, issue_key, issue_value, value, detected_at,
      last_rechecked_at, blocks_device_at, exempted_at, exemption_expires_at, exemption_reason,
      updated_at, follows_round)
    select o.check_id, o.device_id, o.person_id, o.title, o.issue_key, o.issue_value, o.value,
      ${at}::timestamptz, ${at}::timestamptz, o.blocks_device_at,
      case when e.id is not null then ${at}::timestamptz end, e.expires_at, e.internal_explanation,
      ${at}::timestamptz, o.follows_round
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as (
        device_id bigint, person_id bigint, check_id bigint, title text, issue_key text,
        issue_value text, value jsonb, blocks_device_at timestamptz, follows_round boolean))
      with ordinality
      as o(device_id, person_id, check_id, title, issue_key, issue_value, value, blocks_device_at,
        follows_round, place)
    left join lateral (
      select r.id, r.expires_at, r.internal_explanation from exemption_request r
      join exemption_request_check k on k.exemption_request_id = r.id and k.check_id = o.check_id
      where r.device_id = o.device_id and r.status = 'approved' and r.covers_future_issues
        and (r.expires_at is null or r.expires_at > ${at})
      order by r.expires_at desc nulls first, r.id
      limit 1) e on true
    where ${isAnyId(sql`o.check_id`)}
    order by o.place
    returning id, coalesce(device_id, person_id) as "subjectId"
  `.execute(tx)
  return inserted.rows
}

/** Resolves the open issues of a person. Answers them. */
export async function resolveIssuesOfPerson(
  tx: Transaction<Schema>,
  personId: string,
  at: Date,
): Promise<string[]> {
  const rows = await tx
    .updateTable('issue')
    .set({ resolved_at: at, updated_at: at })
    .where('person_id', '=', personId)
    .where('resolved_at', 'is', null)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
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

/** Whether any of these people has an open issue. */
export async function haveOpenIssues(
  db: Kysely<Schema>,
  personIds: readonly string[],
): Promise<boolean> {
  const { rows } = await sql`
    select from issue where person_id = any(${personIds}::bigint[]) and resolved_at is null limit 1`.execute(
    db,
  )
  return rows.length > 0
}

/** The open issues that count for devices: their own and those of the people they are registered to. */
export function issuesCountingFor(deviceIds: readonly string[]): RawBuilder<unknown> {
  return sql`(
    select device_id as for_device_id, issue.* from issue
    where device_id = any(${elementsOf(deviceIds, 'bigint')}) and resolved_at is null
    union all
    select device.id, issue.* from device join issue on issue.person_id = device.owner_person_id
    where device.id = any(${elementsOf(deviceIds, 'bigint')}) and device.registered_at is not null
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
