import { sql, type Kysely } from 'kysely'
import { issuesCountingFor } from '../../posture/issues/issue-store.ts'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'

/** An open issue that counts for a device, with what its check says to people. */
export interface PersonIssueRow {
  readonly id: string
  readonly checkId: string
  readonly title: string
  readonly rationale: string
  readonly steps: string
  readonly value: OsqueryRow
  readonly issueValue: string | null
  readonly blocksAt: Date | null
  readonly lastCheckedAt: Date
  readonly isExempted: boolean
  readonly isSnoozeAllowed: boolean
  readonly isExemptionAllowed: boolean
  readonly exemption: 'open' | 'approved' | 'denied' | null
  /** Whether the check has been asked to run again and has not answered. */
  readonly isAsked: boolean
}

/** The open issues of a device and of its owner at a time, the next deadline first. */
export async function listIssuesForPerson(
  db: Kysely<Schema>,
  deviceId: string,
  at: Date,
): Promise<PersonIssueRow[]> {
  const { rows } = await sql<PersonIssueRow>`
    select i.id, i.check_id as "checkId", i.title, i.value, i.issue_value as "issueValue",
      coalesce(c.custom_rationale_template, c.rationale_template) as rationale,
      coalesce(c.custom_fix_instructions_template, c.fix_instructions_template) as steps,
      i.blocks_device_at as "blocksAt", i.last_rechecked_at as "lastCheckedAt",
      (i.exempted_at is not null and (i.exemption_expires_at is null or i.exemption_expires_at > ${at}))
        as "isExempted",
      not c.snooze_disallowed as "isSnoozeAllowed",
      not c.exemptions_disallowed as "isExemptionAllowed",
      (select case r.status when 'withdrawn' then null else r.status end
        from exemption_request r join exemption_request_issue k on k.exemption_request_id = r.id
        where k.issue_id = i.id order by r.id desc limit 1) as exemption,
      exists (select from check_refresh f
        where f.device_id = ${deviceId} and f.check_id = i.check_id) as "isAsked"
    from ${issuesCountingFor([deviceId])} i join posture_check c on c.id = i.check_id
    where c.paused_at is null and c.remediation_strategy <> 'report_only'
    order by i.blocks_device_at nulls last, i.id
    limit 100`.execute(db)
  return rows
}

/** A device as the page of an attempt shows it. */
export async function findShownDevice(db: Kysely<Schema>, id: string) {
  return db
    .selectFrom('device as d')
    .leftJoin('device_contact as c', 'c.device_id', 'd.id')
    .select([
      'd.id',
      'd.name',
      'd.platform',
      'd.auth_state as authState',
      'd.will_block_at as willBlockAt',
      'd.former_owner_person_id as formerOwnerId',
      'd.registration_ended_at as registrationEndedAt',
      'c.last_seen_at as seenAt',
    ])
    .where('d.id', '=', id)
    .executeTakeFirst()
}
