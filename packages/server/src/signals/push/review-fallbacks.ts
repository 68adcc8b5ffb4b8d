import type { StreamId } from '../../schema/branded-ids.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { RETRY_DELAYS_MS } from '../dispatch/retry-schedule.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { getStream } from '../streams/stream-store.ts'
import { beginFallback, endFallback } from './poll-fallback.ts'
import { listStreamsToFallBack, listStreamsToPushAgain } from './poll-fallback-store.ts'

export interface ReviewFallbacksDependencies extends Pick<
  Foundation,
  'db' | 'clock' | 'runChange'
> {
  /** What the world calls the service, without a slash at the end. */
  readonly baseUrl: string
  /** Nothing but failures for this long makes events wait to be polled. */
  readonly fallbackMinutes: number
}

/**
 * Lets the events of streams that cannot be pushed be polled, and pushes those again whose receivers
 * work again. One change per stream. Idempotent; any number of processes may do it.
 */
export async function reviewFallbacks(dependencies: ReviewFallbacksDependencies): Promise<void> {
  const { db, clock, fallbackMinutes } = dependencies
  const failingBefore = new Date(clock.now().getTime() - fallbackMinutes * MINUTE_MS)
  for (const { streamId, failingSince } of await listStreamsToFallBack(db, failingBefore)) {
    const cause = `Pushing has failed since ${failingSince?.toISOString() ?? 'some time'}.`
    await begin(streamId, cause, dependencies)
  }
  for (const { streamId } of await listStreamsToPushAgain(db, RETRY_DELAYS_MS.length + 1)) {
    await end(streamId, dependencies)
  }
}

async function begin(
  streamId: StreamId,
  cause: string,
  dependencies: ReviewFallbacksDependencies,
): Promise<void> {
  await dependencies.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const stream = await getStream(change.tx, { streamId }, { isLocked: true })
    if (stream.deliveryMethod !== 'push' || stream.status !== 'enabled') return
    await beginFallback(change, stream, cause, dependencies.baseUrl)
  })
}

async function end(streamId: StreamId, dependencies: ReviewFallbacksDependencies): Promise<void> {
  await dependencies.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const stream = await getStream(change.tx, { streamId }, { isLocked: true })
    await endFallback(change, stream, 'Pushing works again.')
  })
}
