/*
 * The ends of deliveries: finished ones are deleted after their retention, and queued ones die with a
 * receiver that has been failing longer than any schedule lasts. Bounded batches, so that no statement
 * holds locks for long.
 */
import { sql, type Kysely } from 'kysely'
import { HOUR_MS } from '../../platform/clock.ts'
import { timeInMs } from '../../platform/db/database-time.ts'
import type { RetentionBatch, RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { retention } from '../../schema/retention.ts'
import type { Schema } from '../../schema/schema.ts'

/**
 * Longer than the schedules of retries last (52 h, of webhooks 75 h; with jitter 62 h and 91 h). While
 * a circuit is open most deliveries are not attempted at all, so that their schedules would never run
 * out.
 */
export const UNREACHABLE_MAX_MS = 75 * HOUR_MS
const UNREACHABLE_WEBHOOK_MAX_MS = 96 * HOUR_MS

/** Rows that one statement touches. */
const BATCH_SIZE = 1_000

const NOTHING_TO_END: RetentionBatch = { count: 0, place: null, isOver: true }

export interface DeliveryRetentionSettings {
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
}

/**
 * Finished deliveries are deleted with their attempts. What they carried, and what was answered to them, may
 * go before; that they were, and when, is kept.
 */
export function deliveryRetention({
  deliveryRetentionDays: days,
  deliveryPayloadRetentionDays: payloadDays,
}: DeliveryRetentionSettings): RetentionPolicy[] {
  const isFinished = sql`r.state <> 'queued'`
  return [
    retention('deliveries', days, { when: isFinished }),
    retention('delivery payloads', payloadDays, {
      isResumed: true,
      when: sql`${isFinished} and (r.body <> '' or r.token is not null
        or r.detached_token is not null or r.accepted_attempt ? 'response_body')`,
      end: (keys) => sql`
        ended as (
          update delivery set body = '', token = null, detached_token = null,
            accepted_attempt = accepted_attempt - 'response_body'
          where id = any(${keys}) returning id
        ),
        attempt as (
          update delivery_attempt a
          set request_headers = null, response_headers = null, response_body = null
          from ended where a.delivery_id = ended.id
        )`,
      // The deliveries themselves go first.
      ...(payloadDays < days ? {} : { runBatch: async () => NOTHING_TO_END }),
    }),
  ]
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
          select id from delivery where destination_id = ${id} order by id limit ${BATCH_SIZE} for update)`.execute(
        db,
      )
      return Number(numAffectedRows ?? 0n)
    })
    await db.deleteFrom('delivery_destination').where('id', '=', id).execute()
  }
}

/** Repeats a statement until it finds less than a batch; answers how many rows it touched in all. */
async function repeatInBatches(runBatch: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const count = await runBatch()
    total += count
    if (count < BATCH_SIZE) return total
  }
}
