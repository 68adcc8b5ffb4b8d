import { sql, type Kysely } from 'kysely'
import { isRolledOut } from '../../posture/checks/check-scope-store.ts'
import { issuesCountingFor } from '../../posture/issues/issue-store.ts'
import { snoozeEnd } from '../../posture/issues/snooze/snooze-store.ts'
import type { Schema } from '../../schema/schema.ts'
import type { RemediationStrategy } from '../../schema/status-values.ts'
import type { Language } from '../pages/texts/language.ts'
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
  /** An admin has written the text in the place of that of the check. */
  readonly isRationaleCustom: boolean
  readonly isFixCustom: boolean
  readonly blocksDeviceAt: Date | null
  readonly isExempted: boolean
  readonly isSnoozeDisallowed: boolean
  readonly snoozedAt: Date | null
  /** As it counts now; it may be over. */
  readonly snoozedUntil: Date | null
  readonly areExemptionsDisallowed: boolean
  readonly strategy: RemediationStrategy
  readonly resolvedAt: Date | null
  readonly lastRecheckedAt: Date
  /** The device was asked again and has not answered yet. */
  readonly isAsked: boolean
  /** It is one of the person and counts on each of the person's devices. */
  readonly isAboutPerson: boolean
  /** Null for an exemption without an end, and without one. */
  readonly exemptionExpiresAt: Date | null
  /** Of the last request for an exemption. */
  readonly exemptionStatus: 'open' | 'withdrawn' | 'approved' | 'denied' | null
  /** The last request, where the reader has made it. */
  readonly ownRequestId: string | null
  /** Why that was denied, in words for the reader. */
  readonly ownDenial: string | null
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
  /** In which they are shown, where there is a text of it; English without one. */
  readonly language?: Language | undefined
  /** The person who is to read them. */
  readonly readerId?: string | undefined
  /** Only this one. */
  readonly issueId?: string | undefined
}

/** The issues that count for a device, its own and those of its owner; none of checks that only report. */
export async function listIssueFacts(
  db: Kysely<Schema>,
  { deviceId, at, resolvedSince, readerId, issueId }: IssuesWanted,
): Promise<IssueFacts[]> {
  const { rows } = await sql<IssueFacts>`
    select i.id, i.check_id as "checkId", c.slug as "checkSlug", c.name as "checkName", i.title, i.value,
      coalesce(c.custom_rationale_template, c.rationale_template) as "rationaleTemplate",
      coalesce(c.custom_fix_instructions_template, c.fix_instructions_template) as "fixTemplate",
      c.custom_rationale_template is not null as "isRationaleCustom",
      c.custom_fix_instructions_template is not null as "isFixCustom",
      i.blocks_device_at as "blocksDeviceAt",
      i.exempted_at is not null and (i.exemption_expires_at is null or i.exemption_expires_at > ${at})
        as "isExempted",
      c.snooze_disallowed as "isSnoozeDisallowed", i.snoozed_at as "snoozedAt",
      ${snoozeEnd('i')} as "snoozedUntil", c.exemptions_disallowed as "areExemptionsDisallowed",
      c.remediation_strategy as strategy, i.resolved_at as "resolvedAt",
      case when i.follows_round and i.resolved_at is null
        then greatest(i.last_rechecked_at, r.ran_at) else i.last_rechecked_at end as "lastRecheckedAt",
      exists (select from check_refresh f where f.device_id = d.id and f.check_id = i.check_id)
        as "isAsked",
      i.person_id is not null as "isAboutPerson", i.exemption_expires_at as "exemptionExpiresAt",
      q.status as "exemptionStatus",
      case when q.requester_person_id = ${readerId ?? null}::bigint then q.id end as "ownRequestId",
      case when q.requester_person_id = ${readerId ?? null}::bigint then q.denial_explanation end
        as "ownDenial",
      d.name as "deviceName", d.platform as "devicePlatform", coalesce(o.name, '') as "organisationName",
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
    left join lateral (
      select e.id, e.status, e.requester_person_id, e.denial_explanation
      from exemption_request_issue l join exemption_request e on e.id = l.exemption_request_id
      where l.issue_id = i.id order by e.id desc limit 1) q on true
    left join organisation o on true
    where c.paused_at is null and c.remediation_strategy <> 'report_only'
      and ${isRolledOut(sql`i.for_device_id`)}
      and ${issueId === undefined ? sql`true` : sql`i.id = ${issueId}::bigint`}
    order by i.id`.execute(db)
  return rows
}
