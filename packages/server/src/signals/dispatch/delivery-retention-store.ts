/*
 * The ends of deliveries: finished ones are deleted after their retention, and queued ones die with a
 * receiver that has been failing longer than any schedule lasts. Bounded batches, so that no statement
 * holds locks for long.
 */
import { sql, type Kysely } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../platform/clock.ts'
import { timeInMs } from '../../platform/db/database-time.ts'
import type { Schema } from '../../schema/schema.ts'

/**
 * Longer than the schedules of retries last (52 h, of webhooks 75 h; with jitter 62 h and 91 h). While
 * a circuit is open most deliveries are not attempted at all, so that their schedules would never run
 * out.
 */
export const UNREACHABLE_MAX_MS = 75 * HOUR_MS
const UNREACHABLE_WEBHOOK_MAX_MS = 96 * HOUR_MS

/** Rows that one statement of a retention touches. */
export const BATCH_SIZE = 1_000

/** Deletes deliveries that were finished before the retention began; answers how many. Idempotent. */
export async function deleteOldDeliveries(
  db: Kysely<Schema>,
  { now, retentionDays }: { readonly now: Date; readonly retentionDays: number },
): Promise<number> {
  const before = new Date(now.getTime() - retentionDays * DAY_MS)
  return repeatInBatches(async () => {
    const { numAffectedRows } = await sql`
      delete from delivery where id in (
        select id from delivery
        where finished_at < ${before} and state <> 'queued'
        order by finished_at limit ${BATCH_SIZE} for update skip locked)`.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}

/** Deliveries whose payload is to be deleted: finished before one time, and at or after another. */
export interface PayloadRange {
  readonly before: Date
  /** Null: from the beginning. */
  readonly after: Date | null
}

/**
 * Deletes what finished deliveries carried and what was answered to them; that they were, and when, is
 * kept. Answers how many. Idempotent.
 */
export async function deleteOldPayloads(
  db: Kysely<Schema>,
  { before, after }: PayloadRange,
): Promise<number> {
  const isAfter = after === null ? sql`true` : sql`finished_at >= ${after}`
  return repeatInBatches(async () => {
    const { rows } = await sql`
      with emptied as (
        update delivery set body = '', token = null where id in (
          select id from delivery
          where finished_at < ${before} and ${isAfter} and state <> 'queued'
            and (body <> '' or token is not null)
          order by finished_at limit ${BATCH_SIZE} for update skip locked)
        returning id
      ),
      attempt as (
        update delivery_attempt a
        set request_headers = null, response_headers = null, response_body = null
        from emptied where a.delivery_id = emptied.id
      )
      select id from emptied`.execute(db)
    return rows.length
  })
}

/**
 * Dead-letters the queued deliveries of receivers that have been failing for too long, as far as they
 * have been waiting as long themselves; answers how many. They can be redriven. Destinations that keep
 * what is exhausted are left alone. Idempotent.
 */
export async function deadLetterUnreachable(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ id: string; limitMs: number }>`
    select id, limits.ms as "limitMs" from delivery_destination
    cross join lateral (select case kind when 'webhook' then ${UNREACHABLE_WEBHOOK_MAX_MS}::float8
      else ${UNREACHABLE_MAX_MS}::float8 end as ms) limits
    where state = 'active' and not keeps_exhausted
      and failing_since < now() - limits.ms * interval '1 millisecond'
    order by id`.execute(db)
  let count = 0
  for (const { id, limitMs } of rows) {
    count += await repeatInBatches(async () => {
      const { numAffectedRows } = await sql`
        update delivery set state = 'dead', finished_at = now(),
          last_error = coalesce(last_error, 'The receiver could not be reached for too long')
        where id in (
          select id from delivery
          where destination_id = ${id} and state = 'queued'
            and created_at < ${timeInMs(-limitMs)}
            and (claim_expires_at is null or claim_expires_at <= now())
          order by next_attempt_at, id limit ${BATCH_SIZE} for update skip locked)`.execute(db)
      return Number(numAffectedRows ?? 0n)
    })
  }
  return count
}

/** Removes the destinations that are marked as deleted, with their deliveries. Idempotent. */
export async function deleteMarkedDestinations(db: Kysely<Schema>): Promise<void> {
  const marked = await db
    .selectFrom('delivery_destination')
    .select('id')
    .where('state', '=', 'deleted')
    .execute()
  for (const { id } of marked) {
    await repeatInBatches(async () => {
      const { numAffectedRows } = await sql`
        delete from delivery where id in (
          select id from delivery where destination_id = ${id} limit ${BATCH_SIZE})`.execute(db)
      return Number(numAffectedRows ?? 0n)
    })
    await db.deleteFrom('delivery_destination').where('id', '=', id).execute()
  }
}

/** Repeats a statement until it finds less than a batch; answers how many rows it touched in all. */
export async function repeatInBatches(runBatch: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const count = await runBatch()
    total += count
    if (count < BATCH_SIZE) return total
  }
}
