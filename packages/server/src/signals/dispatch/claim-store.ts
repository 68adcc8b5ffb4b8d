/*
 * The claims of deliveries in the database: who may send what, until when. SQL only; the order and
 * the pace of sending are the pump's.
 */
import { sql, type Kysely } from 'kysely'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DeliveryDestinationTable } from '../../schema/tables/delivery-tables.ts'
import type { DestinationHealth } from './circuit-breaker.ts'
import type { ClaimedDelivery, DestinationKind } from './delivery-channel.ts'

/** What to claim. */
export interface ClaimRequest {
  readonly destinationId: string
  readonly now: Date
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
}

/** A delivery that waits for another worker's claim is looked at again after this time. */
const CLAIMED_ELSEWHERE_PARK_MS = 100

/**
 * A delivery that waits for an earlier one of its subject is looked at again after this time at
 * most, because an administrator may discard or redrive the earlier one.
 */
const PARK_MAX_MS = 5 * MINUTE_MS

interface ClaimedRow {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly subject_key: string | null
  readonly body: string
  readonly signing_kid: string | null
  readonly token: string | null
  readonly attempt_count: number
  readonly outlives_stop: boolean
  readonly created_at: Date
}

/**
 * Claims due deliveries of one destination, oldest due first, and answers them by id. A delivery is
 * eligible when every earlier queued one of its subject is claimed with it or by `ownClaimIds`; the
 * others are put off, so that the next claim does not meet them again. Concurrent claims skip each
 * other's rows. One statement, no transaction needed.
 *
 * Looks at twice as many candidates as it may claim: blocked ones are rare, and whatever is passed
 * over now is first next time.
 */
export async function claimDeliveries(
  db: Kysely<Schema>,
  request: ClaimRequest,
): Promise<ClaimedDelivery[]> {
  const { destinationId, now, claimId, limit } = request
  const claimExpiresAt = new Date(now.getTime() + request.leaseMs)
  const { rows } = await sql<ClaimedRow>`
    with candidate as materialized (
      select id, subject_key, next_attempt_at
      from delivery
      where destination_id = ${destinationId} and state = 'queued' and next_attempt_at <= ${now}
        and (claim_expires_at is null or claim_expires_at <= ${now})
        -- What is in hand here is still on its way when the clock is set forward.
        and not coalesce(claimed_by = any(${request.ownClaimIds}::uuid[]), false)
        ${request.isStopped === true ? sql`and outlives_stop` : sql``}
      order by next_attempt_at, id
      limit ${limit * 2}
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
          case when e.claim_expires_at > ${now}
            then ${new Date(now.getTime() + CLAIMED_ELSEWHERE_PARK_MS)}::timestamptz
            else least(e.next_attempt_at, ${new Date(now.getTime() + PARK_MAX_MS)}::timestamptz)
          end as retry_at
        from delivery e
        where e.destination_id = ${destinationId} and e.subject_key = subject.subject_key
          and e.state = 'queued' and e.id < subject.last_id
          and not (coalesce(e.claimed_by = any(${request.ownClaimIds}::uuid[]), false)
            and e.claim_expires_at > ${now})
          and not exists (select from candidate c where c.id = e.id)
        order by e.id
        limit 1
      ) earlier
    ),
    judged as materialized (
      select c.id, o.retry_at, max(c.next_attempt_at)
        over (partition by coalesce(c.subject_key, c.id::text) order by c.id) as due_at
      from candidate c
      left join obstacle o on o.subject_key = c.subject_key and o.id < c.id
    ),
    parked as (
      update delivery d set next_attempt_at = greatest(j.retry_at, ${now})
      from judged j where d.id = j.id and j.retry_at is not null
    ),
    chosen as materialized (
      select id from judged where retry_at is null order by due_at, id limit ${limit}
    )
    update delivery d
    set claimed_by = ${claimId}::uuid, claim_expires_at = ${claimExpiresAt},
      signing_kid = coalesce(d.signing_kid, ${request.kid}::text)
    from chosen where d.id = chosen.id
    returning d.id, d.event_id, d.event_type, d.subject_key, d.body, d.signing_kid, d.token,
      d.attempt_count, d.outlives_stop, d.created_at`.execute(db)
  return rows
    .map((row) => toClaimedDelivery(row, { destinationId, claimId, claimExpiresAt }))
    .sort((left, right) => Number(BigInt(left.id) - BigInt(right.id)))
}

function toClaimedDelivery(
  row: ClaimedRow,
  claim: Pick<ClaimedDelivery, 'destinationId' | 'claimId' | 'claimExpiresAt'>,
): ClaimedDelivery {
  return {
    ...claim,
    id: row.id,
    eventId: row.event_id,
    eventType: row.event_type,
    subjectKey: row.subject_key,
    body: row.body,
    signingKid: row.signing_kid,
    token: row.token,
    attemptCount: row.attempt_count,
    outlivesStop: row.outlives_stop,
    createdAt: row.created_at,
  }
}

/** A delivery to give back, not attempted. */
export interface ReleasedClaim {
  readonly id: string
  readonly claimId: string
}

/** Gives claimed deliveries back, due not before `notBefore`. Rows whose claim has passed on stay as they are. */
export async function releaseClaims(
  db: Kysely<Schema>,
  claims: readonly ReleasedClaim[],
  notBefore: Date,
): Promise<void> {
  if (claims.length === 0) return
  await sql`
    update delivery d
    set claimed_by = null, claim_expires_at = null,
      next_attempt_at = greatest(d.next_attempt_at, ${notBefore})
    from unnest(${claims.map(({ id }) => id)}::bigint[],
      ${claims.map(({ claimId }) => claimId)}::uuid[]) as released (id, claim_id)
    where d.id = released.id and d.claimed_by = released.claim_id and d.state = 'queued'`.execute(
    db,
  )
}

/**
 * Gives back every claim. For the start of a process that is the only one to deliver: what is claimed
 * then was claimed by a process that died, and would wait for the end of its lease.
 */
export async function releaseEveryClaim(db: Kysely<Schema>): Promise<void> {
  await db
    .updateTable('delivery')
    .set({ claimed_by: null, claim_expires_at: null })
    .where('state', '=', 'queued')
    .where('claimed_by', 'is not', null)
    .execute()
}

/** A destination as its pump needs to know it. */
export interface DestinationOutlook extends DestinationHealth {
  readonly kind: DestinationKind
  readonly state: DeliveryDestinationTable['state']
  /**
   * When the next delivery that nobody has claimed is due; null when nothing waits. Of a destination that
   * is held or stopped, the next one that outlives that.
   */
  readonly nextDueAt: Date | null
}

interface OutlookRow {
  readonly id: string
  readonly kind: DestinationKind
  readonly state: DeliveryDestinationTable['state']
  readonly retry_not_before: Date | null
  readonly consecutive_failures: number
  readonly failing_since: Date | null
  readonly last_success_at: Date | null
  readonly next_due_at: Date | null
}

/** The outlook of one destination; undefined when it does not exist. One index probe. */
export async function findDestinationOutlook(
  db: Kysely<Schema>,
  destinationId: string,
  now: Date,
): Promise<DestinationOutlook | undefined> {
  const { rows } = await sql<OutlookRow>`
    select d.id, d.kind, d.state, d.retry_not_before, d.consecutive_failures, d.failing_since,
      d.last_success_at, due.next_due_at
    from delivery_destination d ${nextDue(now)}
    where d.id = ${destinationId}`.execute(db)
  const [row] = rows
  return row === undefined ? undefined : toOutlook(row)
}

/**
 * The destinations of the given kinds with work that is or will be due. One index probe per
 * destination, so that it takes as long with a million queued deliveries as with none.
 */
export async function listWaitingDestinations(
  db: Kysely<Schema>,
  kinds: readonly DestinationKind[],
  now: Date,
): Promise<{ id: string; nextDueAt: Date }[]> {
  const { rows } = await sql<{ id: string; next_due_at: Date }>`
    select d.id, due.next_due_at
    from delivery_destination d ${nextDue(now)}
    where d.kind = any(${kinds}::text[]) and due.next_due_at is not null
    order by due.next_due_at`.execute(db)
  return rows.map((row) => ({ id: row.id, nextDueAt: row.next_due_at }))
}

/** Two probes of which one is made: each has an index of its own. */
function nextDue(now: Date) {
  const unclaimed = sql`w.destination_id = d.id and w.state = 'queued'
      and (w.claim_expires_at is null or w.claim_expires_at <= ${now})`
  return sql`left join lateral (
    (select w.next_attempt_at as next_due_at from delivery w
    where d.state = 'active' and ${unclaimed}
    order by w.next_attempt_at, w.id
    limit 1)
    union all
    (select w.next_attempt_at from delivery w
    where d.state in ('held', 'stopped') and ${unclaimed} and w.outlives_stop
    order by w.next_attempt_at, w.id
    limit 1)
  ) due on true`
}

function toOutlook(row: OutlookRow): DestinationOutlook {
  return {
    kind: row.kind,
    state: row.state,
    retryNotBefore: row.retry_not_before,
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    lastSuccessAt: row.last_success_at,
    nextDueAt: row.next_due_at,
  }
}
