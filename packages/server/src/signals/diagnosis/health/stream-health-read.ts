/*
 * How a stream is doing, from stored rows: what waits, how long deliveries took, what went wrong last.
 * Every statement is answered by an index of the stream's own rows and looks at a bounded number of them.
 */
import { sql, type Kysely } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts'
import type { DestinationId } from '../../../schema/branded-ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import { destinationTable } from '../../dispatch/destination-store.ts'

/** More rows than this are not looked at: counts say "at least", percentiles are of the latest. */
const HEALTH_ROWS_MAX = 10_000

/** Everything about the deliveries of one destination, and what is stored of its receiver. */
export async function readDestinationHealth(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  now: Date,
) {
  const receiver = await destinationTable.find(db, { id: destinationId })
  if (receiver === undefined) throw new Error(`there is no destination ${destinationId}`)
  return {
    queue: await readQueue(db, destinationId),
    lastHour: await readTimes(db, destinationId, new Date(now.getTime() - HOUR_MS)),
    lastDay: await readTimes(db, destinationId, new Date(now.getTime() - DAY_MS)),
    deadLetters: await countDead(db, destinationId),
    receiver,
  }
}

/**
 * What waits to be delivered, in the order in which it is due; of a longer queue, the first rows stand for the
 * oldest.
 */
async function readQueue(db: Kysely<Schema>, destinationId: DestinationId) {
  const { rows } = await sql<{ count: string; oldest: Date | null; next: Date | null }>`
    select count(*) as count, min(created_at) as oldest, min(next_attempt_at) as next
    from (
      select created_at, next_attempt_at from delivery
      where destination_id = ${destinationId} and state = 'queued'
      order by next_attempt_at, id
      limit ${HEALTH_ROWS_MAX + 1}
    ) waiting`.execute(db)
  const [row] = rows
  return {
    ...toCount(row?.count),
    oldestQueuedAt: row?.oldest ?? null,
    nextAttemptAt: row?.next ?? null,
  }
}

/** How long deliveries took from their change to the recorded success. */
async function readTimes(db: Kysely<Schema>, destinationId: DestinationId, since: Date) {
  const { rows } = await sql<{ count: string; p50: number | null; p99: number | null }>`
    select count(*) as count,
      percentile_disc(0.5) within group (order by duration_ms) as p50,
      percentile_disc(0.99) within group (order by duration_ms) as p99
    from (
      select (extract(epoch from finished_at - created_at) * 1000)::float8 as duration_ms
      from delivery
      where destination_id = ${destinationId} and state = 'delivered' and finished_at > ${since}
      order by finished_at desc
      limit ${HEALTH_ROWS_MAX + 1}
    ) delivered`.execute(db)
  const [row] = rows
  return { ...toCount(row?.count), p50Ms: toWhole(row?.p50), p99Ms: toWhole(row?.p99) }
}

async function countDead(db: Kysely<Schema>, destinationId: DestinationId) {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from (
      select from delivery where destination_id = ${destinationId} and state = 'dead'
      limit ${HEALTH_ROWS_MAX + 1}
    ) dead`.execute(db)
  return toCount(rows[0]?.count)
}

function toCount(found = '0') {
  return {
    count: Math.min(Number(found), HEALTH_ROWS_MAX),
    isExact: Number(found) <= HEALTH_ROWS_MAX,
  }
}

function toWhole(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.max(0, Math.round(ms))
}
