/*
 * Which streams are due for a heartbeat, and which still have one waiting. SQL only; what is sent is in
 * heartbeat.ts.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { DestinationId } from '../../../schema/branded-ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import { streamTable, type Stream } from '../../streams/stream-store.ts'

/** When the next heartbeat of any stream is due, seen from `now`; undefined when no stream wants one. */
export async function findNextHeartbeat(db: Kysely<Schema>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ dueAt: Date | null }>`
    select min(case when ${isTooFarAhead(now)} then ${now} else heartbeat_due_at end) as "dueAt"
    from ssf_stream where heartbeat_due_at is not null`.execute(db)
  return rows[0]?.dueAt ?? undefined
}

/**
 * The beat was planned by a clock that has been set back since: silence would last for as long as that lost. The clocks
 * of two processes differ by far less than the minute that is added.
 */
function isTooFarAhead(now: Date): RawBuilder<boolean> {
  return sql`heartbeat_due_at > ${now}::timestamptz + (heartbeat_minutes + 1) * interval '1 minute'`
}

/** Locks streams that are due at `now`, the longest due first; waits for none. */
export async function claimStreamsDue(
  db: Kysely<Schema>,
  now: Date,
  limit: number,
): Promise<Stream[]> {
  const rows = await db
    .selectFrom('ssf_stream')
    .selectAll()
    .where((is) => is.or([is('heartbeat_due_at', '<=', now), isTooFarAhead(now)]))
    .orderBy('heartbeat_due_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map(streamTable.fromRow)
}

/** The destinations among these at which an event about the subject waits. */
export async function findDestinationsWaiting(
  db: Kysely<Schema>,
  destinationIds: readonly DestinationId[],
  subjectKey: string,
): Promise<ReadonlySet<DestinationId>> {
  if (destinationIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('delivery')
    .select('destination_id')
    .distinct()
    .where('destination_id', '=', sql<DestinationId>`any(${destinationIds}::bigint[])`)
    .where('subject_key', '=', subjectKey)
    .where('state', '=', 'queued')
    .execute()
  return new Set(rows.map((row) => row.destination_id))
}
