/*
 * What has happened to devices by a clock of the database that was set back since. Such times seem to lie ahead:
 * a status would not change before them, and an issue would not block. Does not own when a clock was set back.
 */
import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/**
 * Shifts what seems to have happened ahead of the time back by what the clock lost, and has the devices evaluated
 * again: grace periods last as long as they would have. Ends that somebody has set, such as those of exemptions,
 * stay. Idempotent; locks the devices that it changes.
 */
export async function shiftDeviceTimes(tx: Transaction<Schema>, stepMs: number): Promise<void> {
  const deviceIds = await lockDevicesAhead(tx)
  await sql`
    update issue set
      detected_at = ${earlierIfAhead('issue.detected_at', stepMs)},
      last_rechecked_at = ${earlierIfAhead('issue.last_rechecked_at', stepMs)},
      blocks_device_at = case when issue.blocks_device_at is not null
        then greatest(${earlier('issue.blocks_device_at', stepMs)}, c.begins_blocking_on) end
    from posture_check c
    where c.id = issue.check_id and issue.resolved_at is null and issue.detected_at > now()`.execute(
    tx,
  )
  await sql`
    update device set
      status_changed_at = ${earlierIfAhead('status_changed_at', stepMs)},
      evaluated_at = ${earlierIfAhead('evaluated_at', stepMs)},
      checks_ran_at = ${earlierIfAhead('checks_ran_at', stepMs)},
      reevaluate_at = case when reevaluate_at > now() then now() else reevaluate_at end
    where id = any(${deviceIds}::bigint[])`.execute(tx)
}

/** By ascending id, as every change locks devices; their issues change only under this lock. */
async function lockDevicesAhead(tx: Transaction<Schema>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from device
    where status_changed_at > now() or evaluated_at > now() or checks_ran_at > now()
      or id in (
        select device_id from issue
        where device_id is not null and resolved_at is null and detected_at > now()
        union all
        select owned.id from issue join device owned on owned.owner_person_id = issue.person_id
        where issue.resolved_at is null and issue.detected_at > now())
    order by id
    for update`.execute(tx)
  return rows.map(({ id }) => id)
}

/** What is known of a step is its length less what has passed since the clock was looked at before. */
function earlierIfAhead(column: string, stepMs: number): RawBuilder<Date> {
  return sql<Date>`case when ${sql.ref(column)} > now()
    then least(now(), ${earlier(column, stepMs)}) else ${sql.ref(column)} end`
}

function earlier(column: string, stepMs: number): RawBuilder<Date> {
  return sql<Date>`${sql.ref(column)} - ${stepMs}::float8 * interval '1 millisecond'`
}
