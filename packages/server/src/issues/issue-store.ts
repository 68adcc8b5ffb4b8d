import { sql, type Kysely, type Transaction } from 'kysely'
import type { RemediationStrategy, Schema } from '../platform/db/schema.ts'
import type { IssueChanges, NewIssue, OpenIssue, RecheckedIssue } from './issue.ts'

/** The open issues of a device for the given checks, exempted ones included. */
export async function listOpenIssues(
  tx: Transaction<Schema>,
  deviceId: string,
  checkIds: readonly string[],
): Promise<OpenIssue[]> {
  const { rows } = await sql<OpenIssue>`
    select id, check_id as "checkId", issue_value as "issueValue", detected_at as "detectedAt"
    from issue
    where device_id = ${deviceId} and resolved_at is null and check_id = any(${checkIds}::bigint[])
  `.execute(tx)
  return rows
}

/**
 * Opens, rechecks and resolves issues of one device, all at the time `at` of the result. The device's
 * row must be locked. Two statements at most, none when nothing changes.
 */
export async function updateDeviceIssues(
  tx: Transaction<Schema>,
  deviceId: string,
  changes: IssueChanges,
  at: Date,
): Promise<void> {
  const { opened, rechecked, resolvedIds } = changes
  if (rechecked.length > 0 || resolvedIds.length > 0) {
    await updateOpenIssues(tx, rechecked, resolvedIds, at)
  }
  if (opened.length > 0) await insertIssues(tx, deviceId, opened, at)
}

async function updateOpenIssues(
  tx: Transaction<Schema>,
  rechecked: readonly RecheckedIssue[],
  resolvedIds: readonly string[],
  at: Date,
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
      updated_at = ${at}
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      as changed(id bigint, value jsonb, blocks_device_at timestamptz, is_resolved boolean)
    where issue.id = changed.id and issue.resolved_at is null
  `.execute(tx)
}

async function insertIssues(
  tx: Transaction<Schema>,
  deviceId: string,
  opened: readonly NewIssue[],
  at: Date,
): Promise<void> {
  await tx
    .insertInto('issue')
    .values(
      opened.map((issue) => ({
        check_id: issue.checkId,
        device_id: deviceId,
        person_id: null,
        title: issue.title,
        issue_key: issue.issueKey,
        issue_value: issue.issueValue,
        value: JSON.stringify(issue.value),
        detected_at: at,
        last_rechecked_at: at,
        resolved_at: null,
        blocks_device_at: issue.blocksDeviceAt,
        exempted_at: null,
        exemption_expires_at: null,
        exemption_reason: null,
        updated_at: at,
      })),
    )
    .execute()
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

/** The open issues of devices by ascending id, without those of paused checks, which do not count. */
export async function listStatusIssues(
  db: Kysely<Schema>,
  deviceIds: readonly string[],
): Promise<StatusIssue[]> {
  const { rows } = await sql<StatusIssue>`
    select i.device_id as "deviceId", i.id as "issueId", i.title as "issueTitle",
      i.check_id as "checkId", c.slug as "checkSlug", c.name as "checkName",
      c.remediation_strategy as strategy, i.blocks_device_at as "blocksDeviceAt",
      i.exempted_at as "exemptedAt", i.exemption_expires_at as "exemptionExpiresAt"
    from issue i join posture_check c on c.id = i.check_id
    where i.device_id = any(${deviceIds}::bigint[]) and i.resolved_at is null
      and c.paused_at is null
    order by i.id
  `.execute(db)
  return rows
}
