/*
 * The claims of deliveries in the database: who may send what, and until when. Every time is the database's,
 * so that workers whose clocks differ agree. SQL only; the order and the pace of sending are the dispatcher's.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { MINUTE_MS } from '../../platform/clock.ts'
import { msUntil, timeInMs } from '../../platform/db/database-time.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { FAILURES_TO_OPEN, isCircuitOpen } from './circuit-breaker.ts'
import type { ClaimedDelivery, DestinationKind } from './delivery-channel.ts'
import {
  EVERY_DELIVERY,
  isUnfinished,
  isWithin,
  toPartitionStart,
  type DeliveryRange,
} from './delivery-range-store.ts'
import { wholeToken, type StoredToken } from './detached-token.ts'
import { LEFT_AFTER_MS } from './stand-in.ts'

/** What to claim. */
export interface ClaimRequest {
  readonly destinationId: DestinationId
  /** A new UUID per claim: an outcome counts only while its row still carries it. */
  readonly claimId: string
  /** Claims of this process and destination that are under way; their subjects may be continued. */
  readonly ownClaimIds: readonly string[]
  readonly leaseMs: number
  readonly limit: number
  /** The key that unsigned deliveries are bound to. */
  readonly kid: string | null
  /** The destination is held or stopped: only what tells of that is claimed. */
  readonly isStopped?: boolean
  /** Where to look, as a schedule has said; everywhere by default. */
  readonly range?: DeliveryRange
  /** Looks past what is blocked, for the first delivery of each subject: when a claim or a look met nothing else. */
  readonly isPastBlocked?: boolean
}

/** What one statement claimed. */
export interface Claimed {
  /** By id. */
  readonly deliveries: readonly ClaimedDelivery[]
  /** Something was claimed, and nothing else of the destination was due that nobody else had. */
  readonly isAll: boolean
  /** Some of what was looked at waits for something earlier of its subject, and was put off. */
  readonly hasParked: boolean
}

/** A delivery that waits for another worker's claim is looked at again after this time. */
const CLAIMED_ELSEWHERE_PARK_MS = 100

/**
 * A delivery that waits for an earlier one of its subject is looked at again after this time at
 * most, because an administrator may discard or redrive the earlier one.
 */
const PARK_MAX_MS = 5 * MINUTE_MS

/** Of what may be claimed, so much is looked at besides, to take the place of what is blocked. */
const LOOKAHEAD_SHARE = 1 / 16

/**
 * How far a claim looks past what is blocked. None of that is locked or written, but read, and its subject is looked
 * up: 8 µs of PostgreSQL for each, where one that is put off costs 50 µs.
 */
const PAST_BLOCKED_MAX = 2_048

/** What a claim answers of a row. */
type ClaimedRow = Omit<ClaimedDelivery, 'destinationId' | 'claimId' | 'leaseEndsMs' | 'token'> &
  StoredToken

/** Of a claim that also puts off what waits for something earlier; without an id when nothing was claimed. */
type JudgedRow = (ClaimedRow | { readonly id: null }) & { readonly hasParked: boolean }

const CLAIMED_COLUMNS = sql`d.id, d.event_id as "eventId", d.event_type as "eventType",
  d.subject_key as "subjectKey", d.body, d.signing_kid as "signingKid", d.token,
  d.detached_token as "detachedToken", d.attempt_count as "attemptCount",
  d.accepted_attempt is not null as "wasAccepted", d.outlives_stop as "outlivesStop", d.created_at as "createdAt",
  d.attempt_count = 0 and d.next_attempt_at <= ${timeInMs(-LEFT_AFTER_MS)} as "wasLeft"`

/**
 * Claims due deliveries of one destination, oldest due first, and answers them. A delivery is
 * eligible when every earlier queued one of its subject is claimed with it or by `ownClaimIds`; the
 * others are put off, so that the next claim does not meet them again. Concurrent claims skip each
 * other's rows. One statement, no transaction needed.
 *
 * Looks at a few candidates more than it may claim: blocked ones are rare, each candidate is locked and its subject
 * looked up, and whatever is passed over now is first next time.
 *
 * Claims nothing when something waits before `range` by now: it may come before what is in it.
 *
 * Strategy: one statement claims up to 256 rows in due order from the index of their destination, while the
 * claim before it is prepared and sent. Measured on two busy cores (`npm run bench -- --only webhooks`): 1,500
 * deliveries/s of one webhook, 0.17 ms of the process's CPU for each from claim to record.
 */
export async function claimDeliveries(db: Kysely<Schema>, request: ClaimRequest): Promise<Claimed> {
  const { destinationId, range = EVERY_DELIVERY } = request
  // Before the database begins to count: the lease never seems longer here than it is.
  const leaseEndsMs = performance.now() + request.leaseMs
  const { rows } = await sql<JudgedRow>`
    with ${claimSteps(request, andNothingBefore(destinationId, range))}
    select * from parking left join claimed on true`.execute(db)
  return toAllClaimed(rows, request, leaseEndsMs)
}

/**
 * The steps of a claim, up to the rows of `claimed` and to whether any were put off; nothing is claimed where
 * `isAllowed` does not hold.
 */
function claimSteps(request: ClaimRequest, isAllowed: RawBuilder<unknown>): RawBuilder<unknown> {
  const { destinationId, claimId, leaseMs, limit, range = EVERY_DELIVERY } = request
  const isDue = sql`destination_id = ${destinationId} and state = 'queued' and next_attempt_at <= now()
        and ${isWithin('delivery', range)} ${isAllowed}
        and (claim_expires_at is null or claim_expires_at <= now())
        -- What this process still sends is not claimed again when its lease has run out.
        and not coalesce(claimed_by = any(${request.ownClaimIds}::uuid[]), false)
        ${request.isStopped === true ? sql`and outlives_stop` : sql``}`
  const isFree = request.isPastBlocked === true ? andFirstOfSubject(request, isDue) : sql``
  return sql`
    candidate as materialized (
      select id, subject_key, next_attempt_at, ctid as version
      from delivery
      where ${isDue} ${isFree}
      order by next_attempt_at, id
      limit ${limit + Math.ceil(limit * LOOKAHEAD_SHARE)}
      for update skip locked
    ),
    obstacle as materialized (
      select subject.subject_key, earlier.id, earlier.retry_at
      from (
        select subject_key, max(id) as last_id from candidate
        where subject_key is not null group by subject_key
      ) subject
      cross join lateral (
        select e.id,
          case when e.claim_expires_at > now()
            then ${timeInMs(CLAIMED_ELSEWHERE_PARK_MS)}
            else least(e.next_attempt_at, ${timeInMs(PARK_MAX_MS)})
          end as retry_at
        from delivery e
        where e.destination_id = ${destinationId} and e.subject_key = subject.subject_key
          and ${isUnfinished('e')} and e.id < subject.last_id and ${isWithin('e', range)}
          and not ${isContinued(request)}
          and not exists (select from candidate c where c.id = e.id)
        order by e.id
        limit 1
      ) earlier
    ),
    judged as materialized (
      select c.id, case when o.id is not null then ${lookAgainAt(range)} end as retry_at, max(c.next_attempt_at)
        over (partition by coalesce(c.subject_key, c.id::text) order by c.id) as due_at
      from candidate c
      left join obstacle o on o.subject_key = c.subject_key and o.id < c.id
    ),
    parked as (
      update delivery d set next_attempt_at = greatest(j.retry_at, now())
      from judged j where d.id = j.id and j.retry_at is not null
        and d.id = any(array(select id from judged where retry_at is not null)) and ${isWithin('d', range)}
    ),
    chosen as materialized (
      select id from judged where retry_at is null order by due_at, id limit ${limit}
    ),
    claimed as (
      update delivery d
      set claimed_by = ${claimId}::uuid, claim_expires_at = ${timeInMs(leaseMs)},
        signing_kid = coalesce(d.signing_kid, ${request.kid}::text)
      where d.id = any(array(select id from chosen)) and ${isWithin('d', range)}
      returning ${CLAIMED_COLUMNS}
    ),
    parking as (select exists (select from judged where retry_at is not null) as "hasParked")`
}

/**
 * When a candidate `c` behind an obstacle `o` is looked at again. Whoever gives the obstacle up, or has it sent at
 * once, writes what follows it: what was written after this statement began to read may follow nothing by now.
 */
function lookAgainAt(range: DeliveryRange): RawBuilder<unknown> {
  return sql`case
        -- No exists: that may be planned as a hash of every delivery.
        when (select s.ctid from delivery s where s.id = c.id and ${isWithin('s', range)}) = c.version
          then o.retry_at
        else least(o.retry_at, ${timeInMs(CLAIMED_ELSEWHERE_PARK_MS)})
      end`
}

/** What this process has claimed and may still send: later deliveries of the subject follow it. */
function isContinued({ ownClaimIds }: ClaimRequest): RawBuilder<unknown> {
  return sql`(coalesce(e.claimed_by = any(${ownClaimIds}::uuid[]), false)
            and e.claim_expires_at > now())`
}

/** Of what is due the oldest that no earlier delivery of their subject blocks. */
function andFirstOfSubject(request: ClaimRequest, isDue: RawBuilder<unknown>): RawBuilder<unknown> {
  const { destinationId, limit, range = EVERY_DELIVERY } = request
  return sql`and id = any(array(
          select due.id
          from (
            select id, subject_key, next_attempt_at from delivery where ${isDue}
            order by next_attempt_at, id limit ${sql.lit(PAST_BLOCKED_MAX)}
          ) due
          left join lateral (
            select e.id from delivery e
            where e.destination_id = ${destinationId} and e.subject_key = due.subject_key
              and ${isUnfinished('e')} and e.id < due.id and ${isWithin('e', range)}
              and not ${isContinued(request)}
            order by e.id
            limit 1
          ) earlier on true
          where earlier.id is null
          order by due.next_attempt_at, due.id
          limit ${limit}))`
}

function toAllClaimed(
  rows: readonly JudgedRow[],
  { destinationId, claimId, limit, isPastBlocked = false }: ClaimRequest,
  leaseEndsMs: number,
): Claimed {
  const deliveries: ClaimedDelivery[] = []
  let hasParked = false
  for (const { hasParked: hasParkedSome, ...row } of rows) {
    hasParked = hasParkedSome
    if (row.id === null) continue
    deliveries.push(toClaimed(row, { destinationId, claimId, leaseEndsMs }))
  }
  deliveries.sort((left, right) => Number(BigInt(left.id) - BigInt(right.id)))
  const hasSeenAll = deliveries.length > 0 && deliveries.length < limit && !isPastBlocked
  return { deliveries, isAll: hasSeenAll && !hasParked, hasParked }
}

function andNothingBefore(
  destinationId: DestinationId,
  { fromId }: DeliveryRange,
): RawBuilder<unknown> {
  if (fromId === 0n) return sql``
  return sql`and ${sql.lit(fromId)} <= (
          select queued_from_id from delivery_destination where id = ${destinationId})`
}

/**
 * Claims a delivery that was queued in the same transaction: nobody else has seen it, and no worker takes
 * it until the lease ends.
 */
export async function claimQueuedDelivery(
  db: Kysely<Schema>,
  deliveryId: string,
  claim: Pick<ClaimRequest, 'destinationId' | 'claimId' | 'leaseMs' | 'kid'>,
): Promise<ClaimedDelivery> {
  const { destinationId, claimId, leaseMs, kid } = claim
  const leaseEndsMs = performance.now() + leaseMs
  const { rows } = await sql<ClaimedRow>`
    update delivery d
    set claimed_by = ${claimId}::uuid, claim_expires_at = ${timeInMs(leaseMs)},
      signing_kid = coalesce(d.signing_kid, ${kid}::text)
    where d.id = ${deliveryId}
    returning ${CLAIMED_COLUMNS}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`the delivery ${deliveryId} is not queued`)
  return toClaimed(row, { destinationId, claimId, leaseEndsMs })
}

function toClaimed(
  { detachedToken, ...row }: ClaimedRow,
  claim: Pick<ClaimedDelivery, 'destinationId' | 'claimId' | 'leaseEndsMs'>,
): ClaimedDelivery {
  return { ...row, ...claim, token: wholeToken({ ...row, detachedToken }) }
}

/** What a dispatcher must know of its destination before it claims. */
export interface DestinationSchedule {
  readonly kind: DestinationKind
  readonly state: Schema['delivery_destination']['state']
  readonly consecutiveFailures: number
  /** How long nothing may be sent; 0 or less when the destination is not paused. */
  readonly pausedForMs: number
  /**
   * When the next delivery that nobody has claimed is due, 0 or less for now; null when nothing waits. Of a
   * destination that is held or stopped, the next one that outlives that.
   */
  readonly nextDueInMs: number | null
  /** It may get no more than so many a second (`DeliveryPace`). */
  readonly isPaced: boolean
  /** Where everything that waits is, up to where it was looked for. */
  readonly range: DeliveryRange
}

/** Nothing stands in the way of a claim of all that is due. */
export function isUsual(schedule: DestinationSchedule): boolean {
  const { state, pausedForMs, isPaced } = schedule
  return state === 'active' && pausedForMs <= 0 && !isPaced && !isCircuitOpen(schedule)
}

/** A destination `d` as a schedule says it, but for what is due. */
const SCHEDULE_COLUMNS = sql`d.kind, d.state, d.consecutive_failures as "consecutiveFailures",
      coalesce(${msUntil(sql`d.retry_not_before`)}, 0) as "pausedForMs",
      d.queued_from_id::text as "queuedFromId",
      exists (select from webhook_pace p where p.destination_id = d.id) as "isPaced"`

type ScheduleRow = Omit<DestinationSchedule, 'range'> & { readonly queuedFromId: string }

/**
 * The schedule of one destination; undefined when it does not exist. One index probe within `range`, which may be
 * outdated: where something waits before it, the schedule is read again with the right one.
 */
export async function findDestinationSchedule(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  range: DeliveryRange = EVERY_DELIVERY,
): Promise<DestinationSchedule | undefined> {
  const { rows } = await sql<ScheduleRow>`
    select ${SCHEDULE_COLUMNS}, ${msUntil(sql`due.next_due_at`)} as "nextDueInMs"
    from delivery_destination d ${nextDue(isWithin('w', range))}
    where d.id = ${destinationId}`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const schedule = toSchedule(row, range)
  const isOutdated = schedule.range.fromId < range.fromId
  return isOutdated ? findDestinationSchedule(db, destinationId, schedule.range) : schedule
}

function toSchedule(row: ScheduleRow, { toId }: DeliveryRange): DestinationSchedule {
  const { kind, state, consecutiveFailures, pausedForMs, nextDueInMs, isPaced } = row
  const range = { fromId: toPartitionStart(BigInt(row.queuedFromId)), toId }
  return { kind, state, consecutiveFailures, pausedForMs, nextDueInMs, isPaced, range }
}

/**
 * Looks at the schedule and claims by the same statement, as {@link claimDeliveries} does, where nothing stands in the
 * way: the destination is of this kind, active and not paused, its circuit is closed, it has no pace, and nothing waits
 * before the range. `mayClaim` says whether that was so; otherwise nothing was claimed. `schedule` is undefined when
 * the destination does not exist; what is due next is said of what was not claimed, unless the claim is full.
 */
export async function claimBySchedule(
  db: Kysely<Schema>,
  kind: DestinationKind,
  request: ClaimRequest,
): Promise<{
  readonly schedule: DestinationSchedule | undefined
  readonly mayClaim: boolean
  readonly claimed: Claimed
}> {
  const { destinationId, range = EVERY_DELIVERY } = request
  const leaseEndsMs = performance.now() + request.leaseMs
  const isAllowed = sql`and (select "mayClaim" from destination)`
  const { rows } = await sql<JudgedRow & { schedule: ScheduleRow & { mayClaim: boolean } }>`
    with destination as materialized (
      select ${SCHEDULE_COLUMNS}, d.id, (d.kind = ${kind} and d.state = 'active'
        and coalesce(d.retry_not_before <= now(), true)
        and d.consecutive_failures < ${sql.lit(FAILURES_TO_OPEN)}
        and not exists (select from webhook_pace p where p.destination_id = d.id)
        and d.queued_from_id >= ${sql.lit(range.fromId)}) as "mayClaim"
      from delivery_destination d where d.id = ${destinationId}
    ),
    ${claimSteps(request, isAllowed)}
    select row_to_json(looked) as schedule, parking.*, claimed.*
    from parking cross join (
      select d.*, ${msUntil(sql`due.next_due_at`)} as "nextDueInMs"
      from destination d ${nextDue(sql`${isWithin('w', range)}
        and (select count(*) from claimed) < ${request.limit}
        and w.id <> all(array(select id from claimed))`)}
    ) looked left join claimed on false
    union all
    select null, parking.*, claimed.* from parking cross join claimed`.execute(db)
  const row = rows.find(({ schedule }) => (schedule as unknown) !== null)
  const claimed = toAllClaimed(rows, request, leaseEndsMs)
  if (row === undefined) return { schedule: undefined, mayClaim: false, claimed }
  const { mayClaim } = row.schedule
  const schedule = toSchedule(row.schedule, range)
  if (schedule.range.fromId >= range.fromId) return { schedule, mayClaim, claimed }
  const right = await findDestinationSchedule(db, destinationId, schedule.range)
  return { schedule: right, mayClaim, claimed }
}

/**
 * The destinations of the given kinds with work that is or will be due, or those `among` them. One index probe per
 * destination, so that it takes as long with a million queued deliveries as with none.
 */
export async function listWaitingDestinations(
  db: Kysely<Schema>,
  kinds: readonly DestinationKind[],
  among?: readonly DestinationId[],
): Promise<{ readonly id: DestinationId; readonly nextDueInMs: number }[]> {
  const isAmong = among === undefined ? sql`` : sql`and d.id = any(${among}::bigint[])`
  const { rows } = await sql<{ id: DestinationId; nextDueInMs: number }>`
    select d.id, ${msUntil(sql`due.next_due_at`)} as "nextDueInMs"
    from delivery_destination d ${nextDue(sql`w.id >= d.queued_from_id`)}
    where d.kind = any(${kinds}::text[]) ${isAmong} and due.next_due_at is not null
    order by due.next_due_at`.execute(db)
  return rows
}

const UNCLAIMED = sql`w.destination_id = d.id and w.state = 'queued'
      and (w.claim_expires_at is null or w.claim_expires_at <= now())`

/** Two probes of which one is made: each has an index of its own. */
function nextDue(isInRange: RawBuilder<unknown>): RawBuilder<unknown> {
  const isSearched = sql`${UNCLAIMED} and ${isInRange}`
  return sql`left join lateral (
    (select w.next_attempt_at as next_due_at from delivery w
    where d.state = 'active' and ${isSearched}
    order by w.next_attempt_at, w.id
    limit 1)
    union all
    (select w.next_attempt_at from delivery w
    where d.state in ('held', 'stopped') and ${isSearched} and w.outlives_stop
    order by w.next_attempt_at, w.id
    limit 1)
  ) due on true`
}
