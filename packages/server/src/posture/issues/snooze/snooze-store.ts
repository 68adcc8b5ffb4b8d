import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { SHOWN_BEFORE_BLOCKING_DAYS, type SnoozableIssue } from './snooze-rule.ts'

/**
 * Until when an issue is put off, as it counts now: a day before its device blocks at the latest, also where that
 * moment has come closer since, and not at all where its check allows it no more or the issue is resolved. Null where
 * nobody has put it off; it may be over.
 *
 * @param issue the name of its table in the statement
 */
export function snoozeEnd(issue: string): RawBuilder<Date | null> {
  const column = (name: string) => sql.ref(`${issue}.${name}`)
  return sql<Date | null>`case
    when ${column('snoozed_until')} is not null and ${column('resolved_at')} is null
      and not (select k.snooze_disallowed from posture_check k where k.id = ${column('check_id')})
    then least(${column('snoozed_until')},
      ${column('blocks_device_at')} - make_interval(days => ${sql.lit(SHOWN_BEFORE_BLOCKING_DAYS)})) end`
}

/** An issue that somebody puts off, with its check. */
export interface LockedIssue extends SnoozableIssue {
  readonly id: string
  readonly title: string
  readonly snoozedUntil: Date | null
}

/** The issue, so that nobody else puts it off meanwhile. */
export async function findIssueForSnooze(
  tx: Transaction<Schema>,
  id: string,
  at: Date,
): Promise<LockedIssue | undefined> {
  const { rows } = await sql<LockedIssue>`
    select i.id, i.title, i.blocks_device_at as "blocksDeviceAt", i.snoozed_at as "snoozedAt",
      ${snoozeEnd('i')} as "snoozedUntil", i.resolved_at as "resolvedAt",
      i.exempted_at is not null and (i.exemption_expires_at is null or i.exemption_expires_at > ${at})
        as "isExempted",
      (select c.snooze_disallowed from posture_check c where c.id = i.check_id) as "isSnoozeDisallowed"
    from issue i where i.id = ${id}
    for no key update`.execute(tx)
  return rows[0]
}

/** Writes until when an issue is put off. When it was put off stays where it is only ended. */
export async function updateSnooze(
  tx: Transaction<Schema>,
  id: string,
  values: { readonly snoozedAt?: Date; readonly snoozedUntil: Date; readonly at: Date },
): Promise<void> {
  const { snoozedAt, snoozedUntil, at } = values
  await tx
    .updateTable('issue')
    .set({
      ...(snoozedAt === undefined ? {} : { snoozed_at: snoozedAt }),
      snoozed_until: snoozedUntil,
      updated_at: at,
    })
    .where('id', '=', id)
    .execute()
}
