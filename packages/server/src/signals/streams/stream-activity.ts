/*
 * Streams whose receivers are silent. A management call that names a stream, and a poll of it, are signs
 * of life; when none has come for the time that the operator set, the stream is paused and its receiver
 * is informed. SSF 1.0 section 8.1.1, `inactivity_timeout`.
 */
import type { Kysely } from 'kysely'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import { HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { setStreamStatus } from './set-stream-status.ts'
import {
  findMostSilent,
  lockSilent,
  putInactivityPolicy,
  updateLastActivity,
} from './stream-activity-store.ts'
import type { Stream } from './stream-store.ts'
import type { SsfSettings, StreamContext } from './stream-context.ts'

/** The NOTIFY channel of streams that may fall silent; the payload is when the first of them would be. */
export const STREAM_ACTIVITY_CHANNEL = 'stream_activity'

type Timeout = Pick<SsfSettings, 'inactivityTimeoutSeconds'>

/** How exactly the last sign of life is known where no timeout asks for more. */
const ACTIVITY_PRECISION_MS = HOUR_MS

/**
 * Notes a sign of life of a receiver; while no timeout is set, once an hour. Events that wait for a silent
 * receiver are not kept for ever.
 */
export async function recordActivity(
  db: Kysely<Schema>,
  stream: Pick<Stream, 'id' | 'lastActivityAt'>,
  at: Date,
  { inactivityTimeoutSeconds }: Timeout,
): Promise<void> {
  const knownMs = stream.lastActivityAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const isKnown = at.getTime() - knownMs < ACTIVITY_PRECISION_MS
  if (inactivityTimeoutSeconds === 0 && isKnown) return
  await updateLastActivity(db, stream.id, at)
}

/** Tells the processes that pause silent streams that there is one more to watch. */
export function announceActivity(change: Change, { inactivityTimeoutSeconds }: Timeout): void {
  if (inactivityTimeoutSeconds === 0) return
  const dueAt = new Date(change.at.getTime() + inactivityTimeoutSeconds * SECOND_MS)
  change.tellDueAfterCommit(STREAM_ACTIVITY_CHANNEL, dueAt)
}

/**
 * Remembers since when the present timeout holds, so that streams which were silent before it was set are
 * given its full time. Idempotent; called by each process when it starts.
 */
export async function adoptInactivityTimeout(
  { inactivityTimeoutSeconds }: Timeout,
  { db, clock }: Pick<StreamContext, 'db' | 'clock'>,
): Promise<void> {
  await putInactivityPolicy(db, inactivityTimeoutSeconds, clock.now())
}

/**
 * Pauses every stream that has been silent for too long, each in a change of its own, and answers when
 * the next one will have been. Any number of processes may call it at the same time.
 */
export async function pauseSilentStreams({
  db,
  clock,
  runChange,
  settings: { inactivityTimeoutSeconds },
}: Pick<StreamContext, 'db' | 'clock' | 'runChange'> & {
  readonly settings: Timeout
}): Promise<Date | undefined> {
  if (inactivityTimeoutSeconds === 0) return undefined
  const reason = `Nothing was heard of the receiver for ${inactivityTimeoutSeconds} seconds`
  for (;;) {
    const silent = await findMostSilent(db, inactivityTimeoutSeconds)
    if (silent === undefined) return undefined
    if (silent.dueAt > clock.now()) return silent.dueAt
    await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      // Looked at again under its lock: the receiver may just have come back.
      const streamId = await lockSilent(change.tx, silent.id, {
        timeoutSeconds: inactivityTimeoutSeconds,
        at: change.at,
      })
      if (streamId === undefined) return
      await setStreamStatus(change, { streamId }, { status: 'paused', reason })
    })
  }
}
