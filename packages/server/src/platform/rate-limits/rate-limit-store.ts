import { sql, type Kysely } from 'kysely'
import type { Clock } from '../clock.ts'
import { isHinderedWrite } from '../db/database-fault.ts'
import type { RunRetentionBatch } from '../retention/retention-policy.ts'
import { ProcessRateLimiter } from './process-rate-limiter.ts'
import {
  RATE_LIMIT_WINDOW_SECONDS,
  type RateLimitDecision,
  type RateLimiter,
  type TakenPlaces,
} from './rate-limiter.ts'

interface TakeRow {
  readonly is_allowed: boolean
  readonly remaining: number
  readonly reset_epoch_seconds: number
  readonly reset_seconds: number
}

/**
 * A limiter that every process of the service shares: one round trip per request, and never more than
 * the capacity in any window, however many connections ask at once. While nothing can be stored, this process keeps the
 * limit alone. Not to be called inside a transaction, which would hold the bucket until it ends.
 */
export function createRateLimitStore<Schema>(db: Kysely<Schema>, clock: Clock): RateLimiter {
  const alone = new ProcessRateLimiter(clock)
  return {
    take: async (bucket, capacity, windowSeconds = RATE_LIMIT_WINDOW_SECONDS) => {
      try {
        return await takeRateLimit(db, bucket, capacity, { windowSeconds })
      } catch (error) {
        if (!isHinderedWrite(error)) throw error
        return decisionOfPlace(alone.take(bucket, capacity, 1, windowSeconds), capacity, 0)
      }
    },
  }
}

/** What became of one of the requests that places were taken for, counted from 0. */
export function decisionOfPlace(
  taken: TakenPlaces,
  capacity: number,
  index: number,
): RateLimitDecision {
  const isAllowed = index < taken.accepted
  return {
    isAllowed,
    limit: capacity,
    remaining: isAllowed ? taken.remaining + taken.accepted - 1 - index : taken.remaining,
    resetEpochSeconds: taken.reset_epoch_seconds,
    resetSeconds: taken.reset_seconds,
  }
}

interface RateLimitTime {
  readonly windowSeconds?: number | undefined
  /** Replaces the clock of the database. */
  readonly now?: Date
}

/** Takes a place in a bucket by the clock of the database. */
export async function takeRateLimit<Schema>(
  db: Kysely<Schema>,
  bucket: string,
  capacity: number,
  { windowSeconds = RATE_LIMIT_WINDOW_SECONDS, now }: RateLimitTime = {},
): Promise<RateLimitDecision> {
  const { rows } = await sql<TakeRow>`
    select is_allowed, remaining, reset_epoch_seconds, reset_seconds
    from take_rate_limit(${bucket}, ${capacity}, ${windowSeconds}, ${now ?? null})
  `.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('take_rate_limit returned no row')
  return {
    isAllowed: row.is_allowed,
    limit: capacity,
    remaining: row.remaining,
    resetEpochSeconds: row.reset_epoch_seconds,
    resetSeconds: row.reset_seconds,
  }
}

/** Forgets buckets that nobody has used for as long as the policy says. */
export const endStaleRateLimits: RunRetentionBatch = async (tx, { before, limit }) => {
  const { rows } = await sql`
    with stale as (
      select bucket from rate_limit
      where touched_at is null or touched_at <= ${before}
      limit ${limit}
      for update skip locked
    ), slots as (
      delete from rate_limit_slot where bucket in (select bucket from stale)
    )
    delete from rate_limit where bucket in (select bucket from stale) returning bucket
  `.execute(tx)
  return { count: rows.length, place: null, isOver: rows.length < limit }
}
