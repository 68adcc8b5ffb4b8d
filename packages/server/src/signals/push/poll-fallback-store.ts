import type { StreamId } from '../../schema/branded-ids.ts'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

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
