/*
 * The pace of webhooks: a bucket of tokens per destination, which all processes take from. It holds
 * the tokens of a tenth of a second, one at least: in any second a receiver gets that much more than
 * its pace at most. Filled by the database's clock.
 */
import { sql, type Kysely } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import { boundsFromHere } from '../../platform/db/bound-transaction.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { FIRST_WAIT } from '../dispatch/lock-waits.ts'

/** What was taken. */
export interface TakenTokens {
  readonly granted: number
  /** How long until the next token is there; 0 when some were granted. */
  readonly waitMs: number
}

const CAPACITY = sql`greatest(1, ceil(per_second / 10.0))`

/** Gives a destination a pace, or takes it away with null. */
export async function setPace(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  perSecond: number | null,
): Promise<void> {
  if (perSecond === null) {
    await db.deleteFrom('webhook_pace').where('destination_id', '=', destinationId).execute()
    return
  }
  const pace = { per_second: perSecond, tokens: 1, filled_at: sql<Date>`now()` }
  await db
    .insertInto('webhook_pace')
    .values({ destination_id: destinationId, ...pace })
    .onConflict((conflict) =>
      conflict.column('destination_id').doUpdateSet({ per_second: perSecond }),
    )
    .execute()
}

/** Takes up to `wanted` tokens; all of them where the destination has no pace. */
export async function takeTokens(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  wanted: number,
): Promise<TakenTokens> {
  const { rows } = await sql<{ granted: number; tokens: number; per_second: number }>`
    with wait as materialized (${boundsFromHere(FIRST_WAIT)}),
    filled as materialized (
      select destination_id, least(${CAPACITY}, tokens + per_second
        * greatest(extract(epoch from now() - filled_at), 0)) as tokens
      from webhook_pace, wait where destination_id = ${destinationId} for update of webhook_pace
    )
    update webhook_pace p
    set tokens = f.tokens - least(${wanted}::int, floor(f.tokens)),
      filled_at = greatest(p.filled_at, now())
    from filled f where p.destination_id = f.destination_id
    returning least(${wanted}::int, floor(f.tokens))::int as granted, p.tokens::float8 as tokens,
      p.per_second`.execute(db)
  const [row] = rows
  if (row === undefined) return { granted: wanted, waitMs: 0 }
  if (row.granted > 0) return { granted: row.granted, waitMs: 0 }
  return { granted: 0, waitMs: Math.ceil(((1 - row.tokens) / row.per_second) * SECOND_MS) }
}

/** Puts tokens back that were not needed. */
export async function giveBackTokens(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  count: number,
): Promise<void> {
  await sql`
    with wait as materialized (${boundsFromHere(FIRST_WAIT)})
    update webhook_pace set tokens = least(${CAPACITY}, tokens + ${count}::int)
    from wait where destination_id = ${destinationId}`.execute(db)
}
