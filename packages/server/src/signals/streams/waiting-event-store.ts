/*
 * Events that wait in a stream whose receiver is silent: nobody polls it, or it is paused and nobody enables
 * it. SSF 1.0 section 8.1.2.1 lets a transmitter drop held events, or keep of each subject the last one that
 * still matters. SQL only.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { DAY_MS } from '../../platform/clock.ts'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { retention } from '../../schema/retention.ts'
import type { Schema } from '../../schema/schema.ts'
import { numberAllWaitingSets } from '../history/number-sets.ts'
import type { NumberedStream } from '../history/sequence-store.ts'

export interface WaitingEventSettings {
  readonly waitingEventRetentionDays: number
  readonly deliveryRetentionDays: number
}

const GIVEN_UP = 'The receiver was silent for too long while this waited'

/**
 * Events that have waited for long enough in the streams of silent receivers become dead letters, which can be
 * replayed. The last event about each device waits on, for as long as deliveries are kept, so that a receiver that
 * comes back learns the present. What tells of the stop of a stream stays, and what is on its way.
 */
export function waitingEventRetention(
  db: Kysely<Schema>,
  { waitingEventRetentionDays, deliveryRetentionDays }: WaitingEventSettings,
): RetentionPolicy {
  const lastMs = Math.max(0, deliveryRetentionDays - waitingEventRetentionDays) * DAY_MS
  return retention('waiting events', waitingEventRetentionDays, {
    // Who comes back sees by the numbers that something is missing.
    preparePass: (before) => numberWaitingSets(db, before),
    within: (before) => sql`r.state = 'queued'
      and r.destination_id in (select s.destination_id from ${silentStreams(before)})`,
    when: (before) => sql`not r.outlives_stop
      and (r.claim_expires_at is null or r.claim_expires_at <= now())
      and (r.subject_key is null
        or r.created_at <= ${new Date(before.getTime() - lastMs)}
        or exists (
          select from delivery later
          where later.destination_id = r.destination_id and later.subject_key = r.subject_key
            and later.event_type = r.event_type and later.id > r.id
            and later.state in ('queued', 'delivered')))`,
    end: (keys) => sql`ended as (
      update delivery set state = 'dead', finished_at = now(), last_error = ${GIVEN_UP},
        claimed_by = null, claim_expires_at = null
      where id = any(${keys}) returning 1)`,
  })
}

/** Streams that nothing was heard of since a time: no poll, no delivered push, no change of the stream. */
function silentStreams(since: Date): RawBuilder<unknown> {
  return sql`ssf_stream s join delivery_destination d
    on d.id = s.destination_id
      and greatest(s.created_at, s.updated_at, s.last_activity_at, d.last_success_at) <= ${since}`
}

async function numberWaitingSets(db: Kysely<Schema>, silentSince: Date): Promise<void> {
  const { rows: streams } = await sql<NumberedStream>`
    select s.id as "streamRowId", s.destination_id as "destinationId"
    from ${silentStreams(silentSince)} where s.is_numbered`.execute(db)
  for (const stream of streams) await numberAllWaitingSets(db, stream)
}
