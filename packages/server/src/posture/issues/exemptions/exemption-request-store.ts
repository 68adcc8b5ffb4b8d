import { sql, type Transaction } from 'kysely'
import { defineTable, type NewRecord, type RecordChanges } from '../../../schema/define-table.ts'
import type { Schema } from '../../../schema/schema.ts'

const requests = defineTable('exemption_request')

/** Inserts a request with the issues that it is about and their checks; answers its id. */
export async function insertExemptionRequest(
  tx: Transaction<Schema>,
  values: NewRecord<'exemption_request'>,
  issues: readonly { readonly id: string; readonly checkId: string }[],
): Promise<string> {
  const { id } = await tx
    .insertInto('exemption_request')
    .values(requests.toInsert(values))
    .returning('id')
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('exemption_request_issue')
    .values(issues.map((issue) => ({ exemption_request_id: id, issue_id: issue.id })))
    .execute()
  const checkIds = [...new Set(issues.map((issue) => issue.checkId))]
  await tx
    .insertInto('exemption_request_check')
    .values(checkIds.map((checkId) => ({ exemption_request_id: id, check_id: checkId })))
    .execute()
  return id
}

export async function updateExemptionRequest(
  tx: Transaction<Schema>,
  id: string,
  values: RecordChanges<'exemption_request'>,
): Promise<void> {
  await tx
    .updateTable('exemption_request')
    .set(requests.toUpdate(values))
    .where('id', '=', id)
    .execute()
}

/** An issue as a request for its exemption needs it. */
export interface RequestedIssue {
  readonly id: string
  readonly title: string
  readonly checkId: string
  readonly checkName: string
  /** Null for an issue of a person. */
  readonly deviceId: string | null
  readonly isOpen: boolean
  readonly areExemptionsDisallowed: boolean
  /** A request for the same issue that nobody has decided yet. */
  readonly openRequestId: string | null
}

/** The issues with these ids by ascending id; unknown ids are left out. */
export async function listRequestedIssues(
  tx: Transaction<Schema>,
  issueIds: readonly string[],
): Promise<RequestedIssue[]> {
  const { rows } = await sql<RequestedIssue>`
    select i.id, i.title, i.check_id as "checkId", c.name as "checkName",
      i.device_id as "deviceId", i.resolved_at is null as "isOpen",
      c.exemptions_disallowed as "areExemptionsDisallowed",
      (select min(r.id) from exemption_request_issue l
        join exemption_request r on r.id = l.exemption_request_id
        where l.issue_id = i.id and r.status = 'open') as "openRequestId"
    from issue i join posture_check c on c.id = i.check_id
    where i.id = any(${issueIds}::bigint[])
    order by i.id
  `.execute(tx)
  return rows
}

/** The names of the checks of a request that allow no exemptions. */
export async function listDisallowingChecks(
  tx: Transaction<Schema>,
  requestId: string,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('exemption_request_check')
    .innerJoin('posture_check', 'posture_check.id', 'exemption_request_check.check_id')
    .select('posture_check.name')
    .where('exemption_request_check.exemption_request_id', '=', requestId)
    .where('posture_check.exemptions_disallowed', '=', true)
    .orderBy('posture_check.id')
    .execute()
  return rows.map((row) => row.name)
}

/**
 * Makes the exemptions of the open issues that a request is about, and of its checks on the device,
 * follow from all approved requests: the one that lasts longest counts. The device must be locked.
 * Idempotent.
 */
export async function refreshExemptions(
  tx: Transaction<Schema>,
  request: { readonly id: string; readonly deviceId: string },
  at: Date,
): Promise<void> {
  await sql`
    with granted as (
      select i.id, e.id is not null as is_exempted, e.expires_at, e.internal_explanation
      from issue i left join lateral (
        select r.id, r.expires_at, r.internal_explanation from exemption_request r
        where r.device_id = i.device_id and r.status = 'approved'
          and (r.expires_at is null or r.expires_at > ${at})
          and (
            exists (select from exemption_request_issue l
              where l.exemption_request_id = r.id and l.issue_id = i.id)
            or r.covers_future_issues and exists (select from exemption_request_check k
              where k.exemption_request_id = r.id and k.check_id = i.check_id))
        order by r.expires_at desc nulls first, r.id
        limit 1) e on true
      where i.device_id = ${request.deviceId} and i.resolved_at is null and i.check_id in (
        select check_id from exemption_request_check where exemption_request_id = ${request.id}))
    update issue set
      exempted_at = case when g.is_exempted then coalesce(issue.exempted_at, ${at}) end,
      exemption_expires_at = g.expires_at, exemption_reason = g.internal_explanation,
      updated_at = ${at}
    from granted g
    where issue.id = g.id and (
      (issue.exempted_at is not null) <> g.is_exempted
      or issue.exemption_expires_at is distinct from g.expires_at
      or issue.exemption_reason is distinct from g.internal_explanation)
  `.execute(tx)
}
