/*
 * What of the fleet needs attention now: failing checks, devices that will be blocked, requests that wait.
 * Each statement reads a counter, or the few rows of a partial index or of a range.
 */
import { sql, type Kysely } from 'kysely'
import type { LocalDay } from '../../platform/local-days.ts'
import type { Schema } from '../../schema/schema.ts'
import type { RemediationStrategy } from '../../schema/status-values.ts'

/** A check that devices, or people, fail at present. */
export interface FailingCheck {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly targetType: 'devices' | 'people'
  readonly remediationStrategy: RemediationStrategy
  readonly failingCount: number
  readonly passingCount: number
}

/** The checks that most devices fail, by the counters of results; paused ones are left out. */
export async function listFailingChecks(
  db: Kysely<Schema>,
  limit: number,
): Promise<FailingCheck[]> {
  const { rows } = await sql<FailingCheck>`
    select c.id, c.slug, c.name, c.target_type as "targetType",
      c.remediation_strategy as "remediationStrategy",
      counted.failing::int as "failingCount", counted.passing::int as "passingCount"
    from (
      select check_id, sum(device_count) filter (where status = 'failing') as failing,
        coalesce(sum(device_count) filter (where status = 'passing'), 0) as passing
      from check_counter where status in ('failing', 'passing')
      group by check_id) counted
    join posture_check c on c.id = counted.check_id
    where counted.failing > 0 and c.paused_at is null
    order by counted.failing desc, c.id
    limit ${limit}`.execute(db)
  return rows
}

/** A day, and the devices that will be blocked on it. */
export interface BlockingDay {
  /** ISO 8601, without a time. */
  readonly date: string
  readonly deviceCount: number
  /** The first of them by the time. */
  readonly devices: readonly BlockingDevice[]
}

export interface BlockingDevice {
  readonly id: string
  readonly name: string
  readonly willBlockAt: Date
  readonly ownerPersonId: string | null
  readonly ownerName: string | null
}

/** A device of a day; a day without any has a row of its own. */
interface DayRow extends Omit<BlockingDevice, 'id'> {
  readonly number: number
  readonly deviceCount: number
  readonly id: string | null
}

/** The devices that will be blocked on each of the days, which follow one another; what is overdue counts as the first. */
export async function listBlockingDays(
  db: Kysely<Schema>,
  days: readonly LocalDay[],
  devicesPerDay: number,
): Promise<BlockingDay[]> {
  const { rows } = await sql<DayRow>`
    with day as (
      select number::int, case when number = 1 then '-infinity' else begins_at end as begins_at, ends_at
      from unnest(${days.map(({ beginsAt }) => beginsAt)}::timestamptz[],
        ${days.map(({ endsAt }) => endsAt)}::timestamptz[])
        with ordinality as given(begins_at, ends_at, number))
    select day.number, counted.count as "deviceCount", first.id, first.name,
      first.will_block_at as "willBlockAt", first.owner_person_id as "ownerPersonId",
      first.owner_name as "ownerName"
    from day
    cross join lateral (
      select count(*)::int as count from device
      where will_block_at >= day.begins_at and will_block_at < day.ends_at) counted
    left join lateral (
      select d.id, d.name, d.will_block_at, d.owner_person_id, p.name as owner_name
      from device d left join person p on p.id = d.owner_person_id
      where d.will_block_at >= day.begins_at and d.will_block_at < day.ends_at
      order by d.will_block_at, d.id limit ${devicesPerDay}) first on counted.count > 0
    order by day.number, first.will_block_at, first.id`.execute(db)
  return days.map(({ date }, index) => {
    const ofDay = rows.filter(({ number }) => number === index + 1)
    const devices = ofDay.filter((row): row is DayRow & BlockingDevice => row.id !== null)
    return { date, deviceCount: ofDay[0]?.deviceCount ?? 0, devices }
  })
}

/** How many requests wait for a decision, and since when the oldest does. */
export interface WaitingRequests {
  readonly count: number
  readonly oldestRequestedAt: Date | null
}

/** The requests of each kind that wait. */
export interface WaitingRequestsByKind {
  readonly exemption: WaitingRequests
  readonly registration: WaitingRequests
  readonly reenrollment: WaitingRequests
}

/** The requests that wait for an admin. */
export async function readWaitingRequests(db: Kysely<Schema>): Promise<WaitingRequestsByKind> {
  const { rows } = await sql<WaitingRequests & { kind: keyof WaitingRequestsByKind }>`
    select 'exemption' as kind, count(*)::int as count, min(requested_at) as "oldestRequestedAt"
    from exemption_request where status = 'open'
    union all
    select 'registration', count(*)::int, min(requested_at)
    from registration_request where status = 'pending'
    union all
    select 'reenrollment', count(*)::int, min(requested_at)
    from reenrollment_request where status = 'pending'`.execute(db)
  const of = (wanted: keyof WaitingRequestsByKind): WaitingRequests =>
    rows.find(({ kind }) => kind === wanted) ?? { count: 0, oldestRequestedAt: null }
  return {
    exemption: of('exemption'),
    registration: of('registration'),
    reenrollment: of('reenrollment'),
  }
}
