import type { StreamId } from '../../schema/branded-ids.ts'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A SET that could not be pushed and waits to be polled. */
export interface HeldSet {
  readonly id: string
  readonly eventId: string
  readonly body: string
  readonly signingKid: string | null
  readonly token: string | null
}

/**
 * What of a push stream waits, at most `limit` SETs by the order in which they were queued. Of every
 * subject the earliest come first, although the attempts to push have put them off: what is listed is
 * joined by what is queued before it of the same subject, and both are cut together.
 */
export async function listHeldSets(
  db: Kysely<Schema>,
  destinationId: string,
  limit: number,
): Promise<HeldSet[]> {
  const { rows } = await sql<{
    id: string
    event_id: string
    body: string
    signing_kid: string | null
    token: string | null
  }>`
    with candidate as materialized (
      select id, subject_key from delivery
      where destination_id = ${destinationId} and state = 'queued'
      order by next_attempt_at, id
      limit ${limit}
    ),
    earlier as (
      select before.id
      from (
        select subject_key, max(id) as last_id from candidate
        where subject_key is not null group by subject_key
      ) subject
      cross join lateral (
        select e.id from delivery e
        where e.destination_id = ${destinationId} and e.subject_key = subject.subject_key
          and e.state = 'queued' and e.id < subject.last_id
        order by e.id
        limit ${limit}
      ) before
    )
    select id, event_id, body, signing_kid, token from delivery
    where id in (select id from candidate union select id from earlier)
    order by id
    limit ${limit}`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    eventId: row.event_id,
    body: row.body,
    signingKid: row.signing_kid,
    token: row.token,
  }))
}

/** Whether deliveries of a destination stay queued when their attempts are used up. */
export async function setKeepsExhausted(
  db: Kysely<Schema>,
  destinationId: string,
  keepsExhausted: boolean,
): Promise<void> {
  await db
    .updateTable('delivery_destination')
    .set({ keeps_exhausted: keepsExhausted })
    .where('id', '=', destinationId)
    .execute()
}

/** As many as are tried at once when pushing works again; the others keep their time. */
const DUE_MAX = 10_000

/** Makes what waits for its next attempt due; what is on its way is left alone. */
export async function makeDueNow(db: Kysely<Schema>, destinationId: string): Promise<void> {
  await sql`
    update delivery set next_attempt_at = now(),
      attempt_count = least(attempt_count, 1)
    where id in (
      select id from delivery
      where destination_id = ${destinationId} and state = 'queued' and next_attempt_at > now()
        and claimed_by is null
      order by next_attempt_at, id
      limit ${DUE_MAX}
      for update skip locked
    )`.execute(db)
}

/** A stream that may have to fall back, or to stop doing so. */
export interface FallbackCandidate {
  readonly streamId: StreamId
  readonly failingSince: Date | null
}

/** Enabled push streams whose receivers have done nothing but fail since before `failingBefore`. */
export async function listStreamsToFallBack(
  db: Kysely<Schema>,
  failingBefore: Date,
): Promise<FallbackCandidate[]> {
  const rows = await db
    .selectFrom('ssf_stream')
    .innerJoin('delivery_destination', 'delivery_destination.id', 'ssf_stream.destination_id')
    .select(['ssf_stream.stream_id', 'delivery_destination.failing_since'])
    .where('ssf_stream.fallback_to_poll', '=', true)
    .where('ssf_stream.fallback_since', 'is', null)
    .where('ssf_stream.delivery_method', '=', 'push')
    .where('ssf_stream.status', '=', 'enabled')
    .where('delivery_destination.failing_since', '<=', failingBefore)
    .orderBy('ssf_stream.id')
    .execute()
  return rows.map((row) => ({ streamId: row.stream_id, failingSince: row.failing_since }))
}

/**
 * Streams in fallback whose receivers work again: something was pushed since it began, nothing has failed
 * after that, and nothing is left whose attempts are used up.
 */
export async function listStreamsToPushAgain(
  db: Kysely<Schema>,
  attemptsMax: number,
): Promise<FallbackCandidate[]> {
  const { rows } = await sql<{ stream_id: StreamId }>`
    select s.stream_id
    from ssf_stream s join delivery_destination d on d.id = s.destination_id
    where s.fallback_to_poll and s.fallback_since is not null and d.failing_since is null
      and d.last_success_at > s.fallback_since
      and not exists (
        select from delivery where destination_id = d.id and state = 'queued'
          and attempt_count >= ${attemptsMax})
    order by s.id`.execute(db)
  return rows.map((row) => ({ streamId: row.stream_id, failingSince: null }))
}
