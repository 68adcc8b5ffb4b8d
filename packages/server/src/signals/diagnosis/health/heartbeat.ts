/*
 * Heartbeats: unsolicited verification events of the streams that want them, so that silence means
 * something to a receiver. SSF 1.0 section 8.1.4. When one is due is in `ssf_stream.heartbeat_due_at`,
 * so that they keep their beat over restarts and any number of processes may send them.
 */
import { sql, type Kysely } from 'kysely'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import type { Change, RunChange } from '../../../changes/change.ts'
import { enqueueDeliveries, type WakeDelivery } from '../../dispatch/enqueue-deliveries.ts'
import { MINUTE_MS, type Clock } from '../../../platform/clock.ts'
import type { Schema } from '../../../schema/schema.ts'
import { toVerificationDelivery } from '../../sets/verification-delivery.ts'
import { updateStream, type StreamRow } from '../../streams/stream-store.ts'

export interface HeartbeatDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
  readonly wake: WakeDelivery
}

/** Streams that are served in one transaction. */
const BATCH_SIZE = 50
/** Orders heartbeats among themselves, and finds the one that still waits. */
const HEARTBEAT_SUBJECT = 'heartbeat'

/** Sends what is due and answers when the next heartbeat is; undefined when no stream wants any. */
export async function sendDueHeartbeats(
  dependencies: HeartbeatDependencies,
): Promise<Date | undefined> {
  const { db, clock, runChange, wake } = dependencies
  for (;;) {
    const next = await findNextHeartbeat(db)
    if (next === undefined || next > clock.now()) return next
    const count = await runChange({ actor: SYSTEM_ACTOR }, (change) => sendBatch(change, wake))
    // Another process holds what is due.
    if (count === 0) return next
  }
}

async function findNextHeartbeat(db: Kysely<Schema>): Promise<Date | undefined> {
  const row = await db
    .selectFrom('ssf_stream')
    .select('heartbeat_due_at')
    .where('heartbeat_due_at', 'is not', null)
    .orderBy('heartbeat_due_at')
    .limit(1)
    .executeTakeFirst()
  return row?.heartbeat_due_at ?? undefined
}

async function sendBatch(change: Change, wake: WakeDelivery): Promise<number> {
  const streams = await change.tx
    .selectFrom('ssf_stream')
    .selectAll()
    .where('heartbeat_due_at', '<=', change.at)
    .orderBy('heartbeat_due_at')
    .limit(BATCH_SIZE)
    .forUpdate()
    .skipLocked()
    .execute()
  const waiting = await findWaiting(change, streams)
  const deliveries = streams
    .filter((stream) => stream.status === 'enabled' && !waiting.has(stream.destination_id))
    .map((stream) => toVerificationDelivery(stream, change, {}, HEARTBEAT_SUBJECT))
  await enqueueDeliveries(change, deliveries, wake)
  for (const stream of streams) {
    await updateStream(change.tx, stream.id, { heartbeat_due_at: findNextBeat(stream, change.at) })
  }
  return streams.length
}

/** Streams whose last heartbeat has not been delivered: a receiver that is down finds one, not hundreds. */
async function findWaiting(
  change: Change,
  streams: readonly StreamRow[],
): Promise<ReadonlySet<string>> {
  if (streams.length === 0) return new Set()
  const rows = await change.tx
    .selectFrom('delivery')
    .select('destination_id')
    .distinct()
    .where(
      'destination_id',
      '=',
      sql<string>`any(${streams.map((stream) => stream.destination_id)}::bigint[])`,
    )
    .where('subject_key', '=', HEARTBEAT_SUBJECT)
    .where('state', '=', 'queued')
    .execute()
  return new Set(rows.map((row) => row.destination_id))
}

/** The first beat after now that keeps the rhythm: beats that were missed are not made up for. */
function findNextBeat(stream: StreamRow, now: Date): Date | null {
  if (stream.heartbeat_minutes === null || stream.heartbeat_due_at === null) return null
  const stepMs = stream.heartbeat_minutes * MINUTE_MS
  const dueMs = stream.heartbeat_due_at.getTime()
  const missed = Math.floor((now.getTime() - dueMs) / stepMs)
  return new Date(dueMs + (missed + 1) * stepMs)
}
