/*
 * Heartbeats: unsolicited verification events of the streams that want them, so that silence means
 * something to a receiver. SSF 1.0 section 8.1.4. When one is due is in `ssf_stream.heartbeat_due_at`,
 * so that they keep their beat over restarts and any number of processes may send them.
 */
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import type { Change } from '../../../changes/change.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { queueDeliveries } from '../../dispatch/delivery-store.ts'
import { MINUTE_MS } from '../../../platform/clock.ts'
import { toVerificationDelivery } from '../../sets/stream-event-delivery.ts'
import { updateStream, type Stream } from '../../streams/stream-store.ts'
import { claimStreamsDue, findDestinationsWaiting, findNextHeartbeat } from './heartbeat-store.ts'

export type HeartbeatDependencies = Pick<Foundation, 'db' | 'clock' | 'runChange'>

/** Streams that are served in one transaction. */
const BATCH_SIZE = 50
/** Orders heartbeats among themselves, and finds the one that still waits. */
const HEARTBEAT_SUBJECT = 'heartbeat'

/** Sends what is due and answers when the next heartbeat is; undefined when no stream wants any. */
export async function sendDueHeartbeats(
  dependencies: HeartbeatDependencies,
): Promise<Date | undefined> {
  const { db, clock, runChange } = dependencies
  for (;;) {
    const now = clock.now()
    const next = await findNextHeartbeat(db, now)
    if (next === undefined || next > now) return next
    const count = await runChange({ actor: SYSTEM_ACTOR }, sendBatch)
    // Another process holds what is due.
    if (count === 0) return next
  }
}

async function sendBatch(change: Change): Promise<number> {
  const streams = await claimStreamsDue(change.tx, change.at, BATCH_SIZE)
  // A receiver that is down finds one heartbeat, not hundreds.
  const waiting = await findDestinationsWaiting(
    change.tx,
    streams.map((stream) => stream.destinationId),
    HEARTBEAT_SUBJECT,
  )
  const deliveries = streams
    .filter((stream) => stream.status === 'enabled' && !waiting.has(stream.destinationId))
    .map((stream) => toVerificationDelivery(stream, change, {}, HEARTBEAT_SUBJECT))
  await queueDeliveries(change, deliveries)
  for (const stream of streams) {
    await updateStream(change.tx, stream.id, { heartbeatDueAt: findNextBeat(stream, change.at) })
  }
  return streams.length
}

/** The first beat after now that keeps the rhythm: beats that were missed are not made up for. */
function findNextBeat(stream: Stream, now: Date): Date | null {
  if (stream.heartbeatMinutes === null || stream.heartbeatDueAt === null) return null
  const stepMs = stream.heartbeatMinutes * MINUTE_MS
  const dueMs = stream.heartbeatDueAt.getTime()
  const missed = Math.floor((now.getTime() - dueMs) / stepMs)
  return new Date(dueMs + (missed + 1) * stepMs)
}
