/*
 * Writes the outcomes of attempts: one statement for a batch of them, whatever their destinations.
 * An outcome counts only while its delivery still carries the claim under which it was sent.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { boundsFromHere, type TransactionBounds } from '../../platform/db/bound-transaction.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { kidOfToken } from '../signing/token-kid.ts'
import { isCircuitOpen, updateHealth, type HealthReport } from './circuit-breaker.ts'
import type { ClaimedDelivery, DestinationKind } from './delivery-channel.ts'
import { errorOf, type DeliveryOutcome } from './delivery-outcome.ts'
import { isUnfinished, isWithin, toDeliveryRange } from './delivery-range-store.ts'
import { makeDueNow } from './delivery-store.ts'
import { destinationTable } from './destination-store.ts'
import { detachToken } from './detached-token.ts'
import type { RandomShare } from './retry-schedule.ts'

/**
 * Records a batch in one statement: the deliveries move on and their attempts are added. An attempt that was
 * accepted stays in the row of its delivery, the others, and further ones of a delivery that was sent again, are
 * rows of their own; their ids are drawn from the same numbers. Answers the ids of the deliveries whose claim still
 * held; nothing is written of the others, because somebody else is sending them now. The bounds hold for
 * its locks, and for all that follows in its transaction; how long it takes itself is bounded by its connection.
 */
export async function recordOutcomes(
  db: Kysely<Schema>,
  outcomes: readonly DeliveryOutcome[],
  bounds: TransactionBounds,
): Promise<Set<string>> {
  const record = outcomes.every(staysInRow) ? recordAccepted : recordAny
  const statement = record(outcomes, bounds)
  const { rows } = await statement.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Nothing but acceptances, as most batches are: PostgreSQL reads a third of the members, and builds less anew. */
function recordAccepted(
  outcomes: readonly DeliveryOutcome[],
  bounds: TransactionBounds,
): RawBuilder<{ id: string }> {
  const rows = outcomes.map(toAcceptedRow)
  return sql`
    with wait as materialized (${boundsFromHere(bounds)}),
    outcome as materialized (
      select delivery_id, claim_id, finished_at, token, detached_token,
        ('{"id":' || nextval('delivery_attempt_id_seq') || ',' || attempt)::jsonb as attempt
      from rows from (unnest(${toArray(rows, 'deliveryId')}::bigint[], ${toArray(rows, 'claimId')}::uuid[],
          ${toArray(rows, 'finishedAt')}::timestamptz[], ${toArray(rows, 'token')}::text[],
          ${toArray(rows, 'detachedToken')}::text[]),
          string_to_table(${rows.map(({ attempt }) => attempt).join('\n')}::text, chr(10)))
        as o (delivery_id, claim_id, finished_at, token, detached_token, attempt), wait
    )
    update delivery d
    set state = 'delivered', attempt_count = d.attempt_count + 1, claimed_by = null,
      claim_expires_at = null, last_error = null,
      token = case when o.detached_token is null then coalesce(o.token, d.token) end,
      detached_token = case when o.token is null then coalesce(o.detached_token, d.detached_token) end,
      accepted_attempt = o.attempt, finished_at = o.finished_at
    from outcome o
    where ${isHeld(outcomes)}
    returning d.id`
}

/** What is written of an acceptance: of the attempt all but its id, which the database draws, and the bracket. */
interface AcceptedRow {
  readonly deliveryId: string
  readonly claimId: string
  readonly finishedAt: string
  readonly token: string | undefined
  readonly detachedToken: string | undefined
  readonly attempt: string
}

/** An array as PostgreSQL reads it; ids, times and tokens need no quotes. */
function toArray(
  rows: readonly AcceptedRow[],
  member: Exclude<keyof AcceptedRow, 'attempt'>,
): string {
  return `{${rows.map((row) => row[member] ?? 'null').join(',')}}`
}

/** Outcomes of every kind. */
function recordAny(
  outcomes: readonly DeliveryOutcome[],
  bounds: TransactionBounds,
): RawBuilder<{ id: string }> {
  return sql`
    with wait as materialized (${boundsFromHere(bounds)}),
    outcome as materialized (
      select o.*, now() + retry_delay_ms * interval '1 millisecond' as next_attempt_at,
        nextval('delivery_attempt_id_seq') as attempt_id
      from json_to_recordset(${JSON.stringify(outcomes.map(toRow))}::json) as o (
        delivery_id bigint, claim_id uuid, state text, retry_delay_ms float8,
        finished_at timestamptz, token text, detached_token text, started_at timestamptz, timings jsonb, outcome text,
        status_code integer, error_code text, error text, request_headers jsonb,
        response_headers jsonb,
        response_body text, remote_address text, resign_kid text), wait
    ),
    held as (
      update delivery d
      set state = o.state, attempt_count = d.attempt_count + 1, claimed_by = null,
        claim_expires_at = null, next_attempt_at = coalesce(o.next_attempt_at, d.next_attempt_at),
        last_error = o.error,
        token = case when o.resign_kid is not null or o.detached_token is not null then null
          else coalesce(o.token, d.token) end,
        detached_token = case when o.resign_kid is not null or o.token is not null then null
          else coalesce(o.detached_token, d.detached_token) end,
        accepted_attempt = case when o.outcome = 'accepted' and d.accepted_attempt is null
          then jsonb_strip_nulls(jsonb_build_object('id', o.attempt_id,
            'number', d.attempt_count + 1, 'started_at', o.started_at, 'timings', o.timings,
            'status_code', o.status_code, 'response_body', o.response_body,
            'remote_address', o.remote_address))
          else d.accepted_attempt end,
        signing_kid = coalesce(o.resign_kid, d.signing_kid),
        finished_at = case when o.state = 'queued' then null else o.finished_at end
      from outcome o
      where ${isHeld(outcomes)}
      returning d.id, d.attempt_count,
        coalesce((d.accepted_attempt ->> 'id')::bigint, 0) as accepted_id
    ),
    attempt as (
      insert into delivery_attempt (id, delivery_id, number, started_at, timings, outcome,
        status_code, error_code, error, request_headers, response_headers, response_body,
        remote_address, next_attempt_at)
      overriding system value
      select o.attempt_id, o.delivery_id, h.attempt_count, o.started_at, o.timings, o.outcome, o.status_code,
        o.error_code, o.error, o.request_headers, o.response_headers, o.response_body,
        o.remote_address, o.next_attempt_at
      from outcome o join held h on h.id = o.delivery_id and h.accepted_id <> o.attempt_id
    )
    select id from held`
}

/** The deliveries `d` whose claims still hold, each beside its outcome `o`. */
function isHeld(outcomes: readonly DeliveryOutcome[]): RawBuilder<unknown> {
  const ids = outcomes.map(({ delivery }) => delivery.id)
  return sql`d.id = o.delivery_id and d.id = any(${ids}::bigint[]) and ${isWithin('d', toDeliveryRange(ids))}
        and d.claimed_by = o.claim_id and d.state = 'queued'`
}

/** Whether the attempt needs no row of its own. */
function staysInRow({ delivery, verdict }: DeliveryOutcome): boolean {
  return verdict.kind === 'accepted' && !delivery.wasAccepted
}

/** What is null is left out: of what was accepted most is, and PostgreSQL reads every member. */
function toRow(outcome: DeliveryOutcome) {
  const { delivery, verdict } = outcome
  const { errorCode, error } = errorOf(verdict)
  return {
    delivery_id: delivery.id,
    claim_id: delivery.claimId,
    state: outcome.state,
    retry_delay_ms: outcome.retryDelayMs ?? undefined,
    finished_at: outcome.finishedAt,
    ...toStoredToken(outcome),
    started_at: outcome.startedAt,
    timings: outcome.timings,
    outcome: verdict.kind === 'gone' ? ('rejected' as const) : verdict.kind,
    status_code: outcome.statusCode ?? undefined,
    error_code: errorCode ?? undefined,
    error: error ?? undefined,
    request_headers: outcome.requestHeaders ?? undefined,
    response_headers: outcome.responseHeaders ?? undefined,
    response_body: outcome.responseBody ?? undefined,
    remote_address: outcome.remoteAddress ?? undefined,
    resign_kid: outcome.resignKid,
  }
}

function toAcceptedRow(outcome: DeliveryOutcome): AcceptedRow {
  const { delivery, startedAt, finishedAt, timings } = outcome
  const { token, detached_token: detachedToken } = toStoredToken(outcome)
  const attempt = {
    number: delivery.attemptCount + 1,
    started_at: startedAt.toISOString(),
    timings,
    status_code: outcome.statusCode ?? undefined,
    response_body: outcome.responseBody ?? undefined,
    remote_address: outcome.remoteAddress ?? undefined,
  }
  return {
    deliveryId: delivery.id,
    claimId: delivery.claimId,
    finishedAt: finishedAt.toISOString(),
    token,
    detachedToken,
    attempt: JSON.stringify(attempt).slice(1),
  }
}

/** How the token is stored; a token that is stored already need not travel again. */
function toStoredToken({ delivery, token }: DeliveryOutcome): {
  token?: string
  detached_token?: string
} {
  if (token === null || token === delivery.token) return {}
  const isOfItsKey = kidOfToken(token) === delivery.signingKid
  const detachedToken = isOfItsKey ? detachToken(token, delivery.body) : undefined
  return detachedToken === undefined ? { token } : { detached_token: detachedToken }
}

/**
 * Puts the unclaimed deliveries that follow a retried one of their subject off to its next attempt,
 * so that the search for due deliveries does not meet them before. Claimed ones are for their
 * claimant to release. In the transaction of `recordOutcomes`, for both to count from the same moment. What somebody
 * else has locked is left to a claim to put off: this transaction has locked others, and may wait for none.
 */
export async function deferFollowers(
  db: Kysely<Schema>,
  retried: readonly DeliveryOutcome[],
): Promise<void> {
  const heads = retried.filter(({ delivery }) => delivery.subjectKey !== null)
  if (heads.length === 0) return
  await sql`
    update delivery d
    set next_attempt_at = greatest(d.next_attempt_at, now() + follower.delay_ms * interval '1 millisecond')
    from (
      select f.id, head.delay_ms
      from unnest(${heads.map(({ delivery }) => delivery.id)}::bigint[],
          ${heads.map(({ delivery }) => delivery.destinationId)}::bigint[],
          ${heads.map(({ delivery }) => delivery.subjectKey)}::text[],
          ${heads.map(({ retryDelayMs }) => retryDelayMs ?? 0)}::float8[])
        as head (id, destination_id, subject_key, delay_ms)
      join delivery f on f.destination_id = head.destination_id and f.subject_key = head.subject_key
        and f.id > head.id and ${isUnfinished('f')} and f.claimed_by is null
      for no key update of f skip locked
    ) follower
    where d.id = follower.id`.execute(db)
}

/** Counts an attempt of which nothing else can be recorded, unless somebody else has the delivery by now. */
export async function countAttempt(
  db: Kysely<Schema>,
  { id, claimId, attemptCount }: Pick<ClaimedDelivery, 'id' | 'claimId' | 'attemptCount'>,
): Promise<void> {
  await db
    .updateTable('delivery')
    .set({ attempt_count: attemptCount + 1 })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('attempt_count', '=', attemptCount)
    .where((is) => is.or([is('claimed_by', 'is', null), is('claimed_by', '=', claimId)]))
    .execute()
}

/** As many as are tried again at once when a receiver comes back; the others keep their time. */
const HASTENED_MAX = 1_000

/**
 * Applies what the outcomes say about a receiver, and answers the kind of the destination when it fails since then, or
 * no longer. Locks the destination: call it after what changes deliveries.
 */
export async function recordHealth(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  report: HealthReport,
  random: RandomShare,
): Promise<DestinationKind | undefined> {
  const row = await db
    .selectFrom('delivery_destination')
    .select([
      'kind',
      'retry_not_before as retryNotBefore',
      'consecutive_failures as consecutiveFailures',
      'failing_since as failingSince',
      'last_success_at as lastSuccessAt',
    ])
    .select(sql<Date>`now()`.as('now'))
    .where('id', '=', destinationId)
    // Not FOR UPDATE: that would wait for every open change which refers to the destination.
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { kind, now, ...before } = row
  const after = updateHealth(before, report, now, random)
  const { lastFailure } = report
  // The last failure is kept after the receiver works again.
  const failure = lastFailure === null ? {} : { lastFailure, lastFailureAt: now }
  await destinationTable.updateAll(db, { id: destinationId }, { ...after, ...failure })
  if (isCircuitOpen(before) && after.consecutiveFailures === 0) {
    await makeDueNow(db, destinationId, { max: HASTENED_MAX })
  }
  return (before.failingSince === null) === (after.failingSince === null) ? undefined : kind
}
