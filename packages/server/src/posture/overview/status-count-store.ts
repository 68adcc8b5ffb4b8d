/*
 * How many devices are in each status, now and at earlier times. SQL only. Counts of earlier times are rows
 * that a job adds; when it does so for the first time, the time before is made of the transitions.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** Devices by status. */
export interface StatusCounts {
  readonly good: number
  readonly notified: number
  readonly willBlock: number
  readonly blocked: number
}

/** Devices by status at a time. */
export interface StatusCountsAt extends StatusCounts {
  readonly at: Date
}

const COUNTED = sql`
  count(*) filter (where auth_state = 'Good')::int as good,
  count(*) filter (where auth_state = 'Notified')::int as notified,
  count(*) filter (where auth_state = 'Will Block')::int as "willBlock",
  count(*) filter (where auth_state = 'Blocked')::int as blocked`

/** The devices of this moment by status. */
export async function countStatuses(db: Kysely<Schema>): Promise<StatusCounts> {
  const { rows } = await sql<StatusCounts>`select ${COUNTED} from device`.execute(db)
  return rows[0] ?? { good: 0, notified: 0, willBlock: 0, blocked: 0 }
}

/** Adds the counts of a time; those that are known of it stay. */
export async function insertStatusCounts(
  db: Kysely<Schema>,
  { at, good, notified, willBlock, blocked }: StatusCountsAt,
): Promise<void> {
  await db
    .insertInto('device_status_count')
    .values({ counted_at: at, good, notified, will_block: willBlock, blocked })
    .onConflict((conflict) => conflict.column('counted_at').doNothing())
    .execute()
}

/** Whether the counts of any time are known. */
export async function hasStatusCounts(db: Kysely<Schema>): Promise<boolean> {
  const row = await db
    .selectFrom('device_status_count')
    .select('counted_at')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Adds the counts of every full hour from `since`, or from the first device, to `at`: those of this moment less
 * what happened afterwards. A device begins as Blocked; those that are deleted by now are missing.
 */
export async function insertCountsOfTransitions(
  db: Kysely<Schema>,
  since: Date,
  at: Date,
): Promise<void> {
  await sql`
    with present as (select ${COUNTED} from device),
    happened as (
      select date_trunc('hour', occurred_at, 'UTC') as hour,
        count(*) filter (where from_state = 'Good') - count(*) filter (where to_state = 'Good') as good,
        count(*) filter (where from_state = 'Notified') - count(*) filter (where to_state = 'Notified')
          as notified,
        count(*) filter (where from_state = 'Will Block') - count(*) filter (where to_state = 'Will Block')
          as will_block,
        count(*) filter (where from_state = 'Blocked') - count(*) filter (where to_state = 'Blocked')
          as blocked
      from device_status_transition where occurred_at >= ${since} group by 1
      union all
      select date_trunc('hour', created_at, 'UTC'), 0, 0, 0, -count(*)
      from device where created_at >= ${since} group by 1
      union all
      select hour, 0, 0, 0, 0 from generate_series(
        date_trunc('hour', greatest(${since}::timestamptz, (select min(created_at) from device)), 'UTC')
          + interval '1 hour', ${at}, interval '1 hour') as hour),
    by_hour as (
      select hour, sum(good) as good, sum(notified) as notified, sum(will_block) as will_block,
        sum(blocked) as blocked
      from happened group by hour),
    -- What happened in the hour that begins with a point, and in later ones, was not yet so at the point.
    undone as (
      select hour, sum(good) over later as good, sum(notified) over later as notified,
        sum(will_block) over later as will_block, sum(blocked) over later as blocked
      from by_hour window later as (order by hour desc))
    insert into device_status_count (counted_at, good, notified, will_block, blocked)
    select hour, greatest(present.good + undone.good, 0), greatest(present.notified + undone.notified, 0),
      greatest(present."willBlock" + undone.will_block, 0), greatest(present.blocked + undone.blocked, 0)
    from undone, present
    where hour > (select min(created_at) from device) and hour >= ${since}
    on conflict (counted_at) do nothing`.execute(db)
}

/** The times of a course: from `from` on, every `stepSeconds`, up to `to`. */
export interface CourseTimes {
  readonly from: Date
  readonly to: Date
  readonly stepSeconds: number
}

/** The counts at each of the times, as they were last known; nothing for times before the first counts. */
export async function listStatusCounts(
  db: Kysely<Schema>,
  { from, to, stepSeconds }: CourseTimes,
): Promise<StatusCountsAt[]> {
  const { rows } = await sql<StatusCountsAt>`
    select point as at, known.good, known.notified, known.will_block as "willBlock", known.blocked
    from generate_series(${from}::timestamptz, ${to}::timestamptz,
      make_interval(secs => ${stepSeconds})) as point
    cross join lateral (
      select * from device_status_count where counted_at <= point order by counted_at desc limit 1
    ) as known
    order by point`.execute(db)
  return rows
}
