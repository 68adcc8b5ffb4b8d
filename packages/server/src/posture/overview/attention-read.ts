/*
 * What of the fleet needs attention now: failing checks, devices that will be blocked, requests that wait.
 * Each statement reads counters, the few rows of an index, or goes once through the devices.
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

interface DayRow extends BlockingDevice {
  readonly number: number
  readonly deviceCount: number
}

/**
 * The devices that will be blocked on each of the days, which follow one another; what is overdue counts as the first.
 */
export async function listBlockingDays(
  db: Kysely<Schema>,
  days: readonly LocalDay[],
  devicesPerDay: number,
): Promise<BlockingDay[]> {
  const { rows } = await sql<DayRow>`
    with due as (
      select id, name, will_block_at, owner_person_id,
        greatest(1, width_bucket(will_block_at, ${days.map(({ beginsAt }) => beginsAt)}::timestamptz[]))
          as number
      from device where will_block_at < ${days.at(-1)?.endsAt ?? null}::timestamptz),
    ranked as (
      select *, count(*) over (partition by number) as count,
        row_number() over (partition by number order by will_block_at, id) as place
      from due)
    select number, ranked.count::int as "deviceCount", ranked.id, ranked.name,
      will_block_at as "willBlockAt", owner_person_id as "ownerPersonId", p.name as "ownerName"
    from ranked left join person p on p.id = owner_person_id
    where place <= ${devicesPerDay} order by number, place`.execute(db)
  return days.map(({ date }, index) => {
    const ofDay = rows.filter(({ number }) => number === index + 1)
    return { date, deviceCount: ofDay[0]?.deviceCount ?? 0, devices: ofDay }
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
