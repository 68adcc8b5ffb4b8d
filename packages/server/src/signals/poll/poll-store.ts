import { sql, type Kysely, type RawBuilder } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import { msUntil } from '../../platform/db/database-time.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { isUnfinished, isWithin, toDeliveryRange } from '../dispatch/delivery-range-store.ts'
import { lockedById } from '../dispatch/delivery-store.ts'
import { detachToken, wholeToken, type StoredToken } from '../dispatch/detached-token.ts'
import { isPolled } from '../push/poll-fallback.ts'
import { streamTable, type Stream } from '../streams/stream-store.ts'

/** A SET that waits to be acknowledged. */
export interface WaitingSet {
  readonly id: string
  readonly eventId: string
  readonly eventType: string
  readonly body: string
  readonly signingKid: string | null
  readonly token: string | null
}

/** The stream that is polled at a destination; undefined when it is deleted or pushes now. */
export async function findPolledStream(
  db: Kysely<Schema>,
  destinationId: DestinationId,
): Promise<Stream | undefined> {
  const row = await db
    .selectFrom('ssf_stream')
    .selectAll()
    .where('destination_id', '=', destinationId)
    .where((is) =>
      is.or([is('delivery_method', '=', 'poll'), is('fallback_since', 'is not', null)]),
    )
    .executeTakeFirst()
  return row && streamTable.fromRow(row)
}

/** What waits for a poll receiver. */
export interface WaitingSets {
  /** Oldest first. */
  readonly sets: readonly WaitingSet[]
  /** How long until something else may be sent; undefined when nothing waits for its time. */
  readonly nextDueInMs: number | undefined
}

/**
 * What waits for a poll receiver, at most `limit` SETs. Of a stream that is not enabled only what outlives
 * its stop, which it announces. An event that is debounced waits until it is due; one
 * that waits for the next attempt of a push does not.
 */
export async function listWaitingSets(
  db: Kysely<Schema>,
  stream: Pick<Stream, 'destinationId' | 'status' | 'deliveryMethod' | 'fallbackSince'>,
  limit: number,
): Promise<WaitingSets> {
  if (stream.deliveryMethod === 'push') {
    const isAnswered = isPolled(stream) && stream.status === 'enabled'
    const sets = isAnswered ? await listHeldSets(db, stream.destinationId, limit) : []
    return { sets, nextDueInMs: undefined }
  }
  const rows = (await queuedSets(db, stream).limit(limit).execute()).map(toWaitingSet)
  const due = rows.filter((row) => row.attempt_count > 0 || row.due_in_ms <= 0)
  const later = rows.find((row) => !due.includes(row))
  if (due.length > 0 || rows.length < limit) {
    return { sets: due, nextDueInMs: later?.due_in_ms }
  }
  // A page of what is not due yet may leave no room for what is.
  const retried = await queuedSets(db, stream).where('attempt_count', '>', 0).limit(limit).execute()
  return { sets: retried.map(toWaitingSet), nextDueInMs: later?.due_in_ms }
}

function queuedSets(db: Kysely<Schema>, stream: Pick<Stream, 'destinationId' | 'status'>) {
  return db
    .selectFrom('delivery')
    .select([
      'id',
      'event_id as eventId',
      'event_type as eventType',
      'body',
      'signing_kid as signingKid',
      'token',
      'detached_token as detachedToken',
      'attempt_count',
    ])
    .select(msUntil(sql`next_attempt_at`).as('due_in_ms'))
    .where('destination_id', '=', stream.destinationId)
    .where('state', '=', 'queued')
    .$if(stream.status !== 'enabled', (query) => query.where('outlives_stop', '=', true))
    .orderBy('next_attempt_at')
    .orderBy('id')
}

/**
 * What of a push stream waits, at most `limit` SETs by the order in which they were queued. Of every
 * subject the earliest come first, although the attempts to push have put them off: what is listed is
 * joined by what is queued before it of the same subject, and both are cut together.
 */
async function listHeldSets(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  limit: number,
): Promise<WaitingSet[]> {
  const { rows } = await sql<Omit<WaitingSet, 'token'> & StoredToken>`
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
          and ${isUnfinished('e')} and e.id < subject.last_id
        order by e.id
        limit ${limit}
      ) before
    )
    select id, event_id as "eventId", event_type as "eventType", body, signing_kid as "signingKid", token,
      detached_token as "detachedToken"
    from delivery
    where id in (select id from candidate union select id from earlier)
    order by id
    limit ${limit}`.execute(db)
  return rows.map(toWaitingSet)
}

function toWaitingSet<Row extends StoredToken>(row: Row): Row {
  return { ...row, token: wholeToken(row) }
}

/** A SET that was signed over its stored claims, with or without its number. */
export interface SignedSet {
  readonly id: string
  readonly body: string
  readonly kid: string
  readonly token: string
}

/** Keeps the tokens that are about to be sent, so that every later poll gives the same ones. */
export async function storeTokens(db: Kysely<Schema>, sets: readonly SignedSet[]): Promise<void> {
  if (sets.length === 0) return
  const ids = sets.map(({ id }) => id)
  const detached = sets.map(({ token, body }) => detachToken(token, body) ?? null)
  const whole = sets.map(({ token }, index) => (detached[index] === null ? token : null))
  await sql`
    update delivery d set token = signed.token, detached_token = signed.detached_token,
      signing_kid = signed.kid
    from unnest(${ids}::bigint[], ${whole}::text[], ${detached}::text[],
      ${sets.map(({ kid }) => kid)}::text[]) as signed (id, token, detached_token, kid)
    where d.id = signed.id and ${isWithin('d', toDeliveryRange(ids))} and d.id in (${lockedById(sql`
      id = any(${ids}::bigint[]) and ${isWithin('delivery', toDeliveryRange(ids))}
        and state = 'queued'`)})`.execute(db)
}

/**
 * Marks SETs as received and answers the keys that signed them. Ids that are unknown, finished or
 * another stream's are passed over. Of a stream that falls back to polls only a push says that its receiver works
 * again.
 */
export async function acknowledgeSets(
  db: Kysely<Schema>,
  { destinationId, deliveryMethod }: Pick<Stream, 'destinationId' | 'deliveryMethod'>,
  eventIds: readonly string[],
  now: Date,
): Promise<string[]> {
  if (eventIds.length === 0) return []
  const received = db.with('received', (query) =>
    query
      .updateTable('delivery')
      .set({ state: 'delivered', finished_at: now, claimed_by: null, claim_expires_at: null })
      .where(sql<boolean>`id in (${waitingById(destinationId, eventIds)})`)
      .returning('signing_kid'),
  )
  const noted = received.with('noted', (query) =>
    query
      .updateTable('delivery_destination')
      .set({ last_success_at: now })
      .where('id', '=', destinationId)
      // Once a second, as for pushes: the row would be the hottest of all.
      .where((is) =>
        is.or([
          is('last_success_at', 'is', null),
          is('last_success_at', '<=', new Date(now.getTime() - SECOND_MS)),
        ]),
      )
      .where(sql<boolean>`exists (select from received)`),
  )
  const rows = await (deliveryMethod === 'poll' ? noted : received)
    .selectFrom('received')
    .select('signing_kid')
    .distinct()
    .execute()
  return rows.flatMap(({ signing_kid }) => signing_kid ?? [])
}

/** What a receiver reports about a SET that it did not take. */
export interface ReportedError {
  readonly eventId: string
  readonly error: string
  /** The SET is not to be sent again. */
  readonly isFinal: boolean
  /** The SET is sent again as if nothing had been reported, however often. */
  readonly isExcused: boolean
}

/**
 * Stores what a receiver reports. A final report ends the SET undelivered; another one counts as a
 * failed attempt unless it is excused, and the SET is sent again until `attemptsMax` is reached.
 */
export async function recordReportedErrors(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  reports: readonly ReportedError[],
  { now, attemptsMax }: { readonly now: Date; readonly attemptsMax: number },
): Promise<void> {
  if (reports.length === 0) return
  await sql`
    update delivery d
    set attempt_count = d.attempt_count + report.failures, last_error = report.error,
      state = case when report.is_final or d.attempt_count + report.failures >= ${attemptsMax}
        then 'dead' else 'queued' end,
      finished_at = case when report.is_final or d.attempt_count + report.failures >= ${attemptsMax}
        then ${now}::timestamptz end
    from unnest(${reports.map(({ eventId }) => eventId)}::text[],
      ${reports.map(({ error }) => error)}::text[],
      ${reports.map(({ isFinal }) => isFinal)}::boolean[],
      ${reports.map(({ isExcused }) => (isExcused ? 0 : 1))}::integer[])
      as report (event_id, error, is_final, failures)
    where d.event_id = report.event_id and d.id in (${waitingById(
      destinationId,
      reports.map(({ eventId }) => eventId),
    )})`.execute(db)
}

/** The keys that SETs which wait are bound to; ids that are unknown, finished or another stream's are passed over. */
export async function listSigningKids(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  eventIds: readonly string[],
): Promise<{ readonly eventId: string; readonly kid: string }[]> {
  return db
    .selectFrom('delivery')
    .select(['event_id as eventId', 'signing_kid as kid'])
    .where('event_id', '=', sql<string>`any(${eventIds}::text[])`)
    .where('destination_id', '=', destinationId)
    .where('state', '=', 'queued')
    .where('signing_kid', 'is not', null)
    .$narrowType<{ kid: string }>()
    .execute()
}

/** Has SETs that wait signed with other keys; the error that led to it counts as a failed attempt. */
export async function rebindSets(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  sets: readonly { readonly eventId: string; readonly kid: string; readonly error: string }[],
): Promise<void> {
  if (sets.length === 0) return
  const eventIds = sets.map(({ eventId }) => eventId)
  await sql`
    update delivery d
    set signing_kid = anew.kid, token = null, detached_token = null,
      attempt_count = d.attempt_count + 1, last_error = anew.error
    from unnest(${eventIds}::text[],
      ${sets.map(({ kid }) => kid)}::text[],
      ${sets.map(({ error }) => error)}::text[]) as anew (event_id, kid, error)
    where d.event_id = anew.event_id
      and d.id in (${waitingById(destinationId, eventIds)})`.execute(db)
}

/** What waits of these events, locked by id; a worker that records its own claims may still hold them crosswise. */
function waitingById(
  destinationId: DestinationId,
  eventIds: readonly string[],
): RawBuilder<unknown> {
  return lockedById(sql`
    event_id = any(${eventIds}::text[]) and destination_id = ${destinationId} and state = 'queued'`)
}
