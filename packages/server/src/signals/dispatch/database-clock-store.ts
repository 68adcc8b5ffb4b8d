/*
 * The latest time that the database's clock has shown, and every stored time that delivery compares with that
 * clock; those of devices are posture's. SQL only; when the clock counts as set back is database-clock.ts's.
 */
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import { timeInMs } from '../../platform/db/database-time.ts'
import type { Schema } from '../../schema/schema.ts'
import { isUnfinished } from './delivery-range-store.ts'

/** Remembers the present time; answers false when a later one is remembered. */
export async function updateSeenTime(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`
    insert into database_clock as known (seen_at) values (now())
    on conflict (is_single) do update set seen_at = excluded.seen_at
      where known.seen_at <= excluded.seen_at
    returning seen_at`.execute(db)
  return rows.length === 1
}

/**
 * By how many milliseconds the clock is behind the latest time that it has shown; 0 or less when it is not.
 * Others who ask wait for the end of the transaction.
 */
export async function getSeenAheadMs(tx: Transaction<Schema>): Promise<number> {
  await sql`select from database_clock for update`.execute(tx)
  // Not now(): the transaction may have begun long before it got the lock.
  const { rows } = await sql<{ aheadMs: number }>`
    select (extract(epoch from seen_at - clock_timestamp()) * 1000)::float8 as "aheadMs"
    from database_clock`.execute(tx)
  return rows[0]?.aheadMs ?? 0
}

/** Remembers the present time although a later one is remembered. */
export async function resetSeenTime(tx: Transaction<Schema>): Promise<void> {
  await sql`update database_clock set seen_at = clock_timestamp()`.execute(tx)
}

/** Which times to shift, and by how much. */
export interface TimeShift {
  readonly stepMs: number
  /** Claims of the present clock end within this time. */
  readonly leaseMs: number
  /** Times to come are shifted when they are later than this from now. */
  readonly plannedAfterMs: number
  /** Whether past times are shifted as well, or only those that seem to lie ahead. */
  readonly hasPast: boolean
  /** Transactions that have shifted deliveries for the same step: what they wrote is right. */
  readonly earlierShifts: readonly string[]
}

/** The transaction that shifted. */
export interface ShiftedTimes {
  readonly transactionId: string
}

/** What is counted from such a time counts on as before, when the time is shifted. */
const COUNTED_FROM = [
  ['delivery_destination', 'failing_since'],
  ['delivery_destination', 'last_success_at'],
  ['delivery_destination', 'last_failure_at'],
  ['delivery_worker', 'missing_since'],
  ['job_run', 'started_at'],
  ['job_run', 'finished_at'],
  ['ssf_stream', 'fallback_since'],
  ['webhook_pace', 'filled_at'],
] as const

/**
 * Shifts stored times back: due times and pauses to the present at the earliest, so that orders among
 * deliveries stay, and leases only if they are longer than any of the present clock, so that none ends early.
 */
export async function shiftTimes(tx: Transaction<Schema>, shift: TimeShift): Promise<ShiftedTimes> {
  const { leaseMs, plannedAfterMs, stepMs } = shift
  const plannedAfter = timeInMs(plannedAfterMs)
  const leaseEnd = timeInMs(leaseMs)
  await sql`
    update delivery set
      next_attempt_at = case when next_attempt_at > ${plannedAfter}
        then greatest(now(), ${earlier('next_attempt_at', stepMs)}) else next_attempt_at end,
      claim_expires_at = case when claim_expires_at > ${leaseEnd}
        then ${earlier('claim_expires_at', stepMs)} else claim_expires_at end
    where id in (
      select id from delivery
      where state = 'queued' and (next_attempt_at > ${plannedAfter} or claim_expires_at > ${leaseEnd})
        and xmin::text <> all(${shift.earlierShifts}::text[])
      order by id for update)`.execute(tx)
  await bringFollowersForward(tx)
  await sql`
    update delivery_destination set
      retry_not_before = greatest(now(), ${earlier('retry_not_before', stepMs)})
    where retry_not_before > ${plannedAfter}`.execute(tx)
  for (const [table, column] of COUNTED_FROM) {
    const isShifted = shift.hasPast ? sql`is not null` : sql`> now()`
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${earlier(column, stepMs)}
      where ${sql.ref(column)} ${isShifted}`.execute(tx)
  }
  const { rows } = await sql<ShiftedTimes>`
    select pg_current_xact_id()::xid::text as "transactionId"`.execute(tx)
  const [shifted] = rows
  if (shifted === undefined) throw new Error('a transaction has no id')
  return shifted
}

/**
 * Makes what waits behind an earlier delivery of its subject due with that one. A claim between the step and its
 * discovery met deliveries that seemed to be due in hours, and put off what follows them for as long as it may, which
 * is what remains of those that somebody else has locked: this transaction has locked others, and may wait for none.
 */
async function bringFollowersForward(tx: Transaction<Schema>): Promise<void> {
  await sql`
    update delivery set next_attempt_at = greatest(now(), follower.due_at)
    from (
      select f.id, head.next_attempt_at as due_at
      from delivery f
      cross join lateral (
        select h.id, h.next_attempt_at from delivery h
        where h.destination_id = f.destination_id and h.subject_key = f.subject_key
          and ${isUnfinished('h')}
        order by h.id
        limit 1
      ) head
      where f.state = 'queued' and f.claimed_by is null and f.next_attempt_at > now()
        and head.id < f.id and head.next_attempt_at < f.next_attempt_at
      for no key update of f skip locked
    ) follower
    where delivery.id = follower.id`.execute(tx)
}

/** What has happened: where one of these seems to lie ahead, nothing later would be taken as later. */
const HAPPENED = [
  ['api_key', 'last_used_at'],
  ['check_refresh', 'requested_at'],
  ['device_contact', 'last_seen_at'],
  ['device_round', 'ran_at'],
  ['enrollment_secret', 'last_used_at'],
  ['reporting_query_run', 'ran_at'],
  ['reporting_snapshot', 'collected_at'],
  ['ssf_stream', 'last_activity_at'],
  ['ssf_stream', 'verification_requested_at'],
  ['stream_self_test', 'started_at'],
] as const

/**
 * Shifts the times of what has happened back where they seem to lie ahead: to the present at the latest, because
 * what is known of a step is its length less what has passed since the clock was looked at before. Idempotent.
 */
export async function shiftHappenings(tx: Transaction<Schema>, stepMs: number): Promise<void> {
  for (const [table, column] of HAPPENED) {
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = least(now(), ${earlier(column, stepMs)})
      where ${sql.ref(column)} > now()`.execute(tx)
  }
}

function earlier(column: string, stepMs: number): RawBuilder<Date> {
  return sql<Date>`${sql.ref(column)} - ${stepMs}::float8 * interval '1 millisecond'`
}
