import { sql, type Kysely } from 'kysely'
import { isRolledOut } from '../../posture/checks/check-scope-store.ts'
import { issuesCountingFor } from '../../posture/issues/issue-store.ts'
import type { Schema } from '../../schema/schema.ts'
import type { RemediationStrategy } from '../../schema/status-values.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'

/** An issue of a device with what its person is told about it, as it is stored. */
export interface IssueFacts {
  readonly id: string
  readonly checkId: string
  readonly checkSlug: string
  readonly checkName: string
  readonly title: string
  readonly value: OsqueryRow
  readonly rationaleTemplate: string
  readonly fixTemplate: string
  readonly blocksDeviceAt: Date | null
  readonly isExempted: boolean
  readonly isSnoozeDisallowed: boolean
  readonly areExemptionsDisallowed: boolean
  readonly strategy: RemediationStrategy
  readonly resolvedAt: Date | null
  readonly lastRecheckedAt: Date
  /** The device was asked again and has not answered yet. */
  readonly isAsked: boolean
  /** Of the last request for an exemption. */
  readonly exemptionStatus: 'open' | 'withdrawn' | 'approved' | 'denied' | null
  readonly deviceName: string
  readonly devicePlatform: Platform
  readonly organisationName: string
  readonly ownerName: string | null
}

export interface IssuesWanted {
  readonly deviceId: string
  readonly at: Date
  /** Those that were resolved since are told as well. */
  readonly resolvedSince?: Date | undefined
  /** Only this one. */
  readonly issueId?: string | undefined
}

/** The issues that count for a device, its own and those of its owner; none of checks that only report. */
export async function listIssueFacts(
  db: Kysely<Schema>,
  { deviceId, at, resolvedSince, issueId }: IssuesWanted,
): Promise<IssueFacts[]> {
  const { rows } = await sql<IssueFacts>`
    select i.id, i.check_id as "checkId", c.slug as "checkSlug", c.name as "checkName", i.title, i.value,
      coalesce(c.custom_rationale_template, c.rationale_template) as "rationaleTemplate",
      coalesce(c.custom_fix_instructions_template, c.fix_instructions_template) as "fixTemplate",
      i.blocks_device_at as "blocksDeviceAt",
      i.exempted_at is not null and (i.exemption_expires_at is null or i.exemption_expires_at > ${at})
        as "isExempted",
      c.snooze_disallowed as "isSnoozeDisallowed", c.exemptions_disallowed as "areExemptionsDisallowed",
      c.remediation_strategy as strategy, i.resolved_at as "resolvedAt",
      case when i.follows_round and i.resolved_at is null
        then greatest(i.last_rechecked_at, r.ran_at) else i.last_rechecked_at end as "lastRecheckedAt",
      exists (select from check_refresh f where f.device_id = d.id and f.check_id = i.check_id)
        as "isAsked",
      (select q.status from exemption_request_issue l
        join exemption_request q on q.id = l.exemption_request_id
        where l.issue_id = i.id order by q.id desc limit 1) as "exemptionStatus",
      d.name as "deviceName", d.platform as "devicePlatform", o.name as "organisationName",
      p.name as "ownerName"
    from (
      select * from ${issuesCountingFor([deviceId])} counting
      union all
      select device_id, issue.* from issue
      where device_id = ${deviceId} and resolved_at >= ${resolvedSince ?? null}::timestamptz) i
    join posture_check c on c.id = i.check_id
    join device d on d.id = i.for_device_id
    left join person p on p.id = d.owner_person_id
    left join device_round r on r.device_id = d.id
    cross join organisation o
    where c.paused_at is null and c.remediation_strategy <> 'report_only'
      and ${isRolledOut(sql`i.for_device_id`)}
      and ${issueId === undefined ? sql`true` : sql`i.id = ${issueId}::bigint`}
    order by i.id`.execute(db)
  return rows
}
