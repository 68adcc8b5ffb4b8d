import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { SECOND_MS } from '../platform/clock.ts'
import type { DueJob } from '../platform/jobs/job.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { dueJob, periodicJob } from '../schema/jobs.ts'
import type { ProcessRole } from '../schema/process-role.ts'
import { sendDueHeartbeats } from './diagnosis/health/heartbeat.ts'
import { listWaitingDestinations } from './dispatch/claim-store.ts'
import type { DeliverySender } from './dispatch/delivery-sender.ts'
import { DELIVERY_CHANNEL, toDestinationId } from './dispatch/delivery-store.ts'
import { BACKFILL_CHANNEL } from './history/backfill-store.ts'
import { backfillStreams } from './history/backfill-streams.ts'
import { RESTATEMENT_CHANNEL } from './history/restatement-store.ts'
import { restateStreams } from './history/restate-streams.ts'
import { pollRoutes } from './poll/poll-routes.ts'
import { pollTokenRoutes } from './poll/poll-token-routes.ts'
import type { SigningPart } from './signing-part.ts'
import {
  adoptInactivityTimeout,
  pauseSilentStreams,
  STREAM_ACTIVITY_CHANNEL,
} from './streams/stream-activity.ts'
import {
  createStreamContext,
  type StreamContext,
  type StreamSettings,
} from './streams/stream-context.ts'
import { streamRoutes } from './streams/stream-routes.ts'

export interface StreamPartDependencies {
  readonly signing: SigningPart
  readonly outbound: Outbound
  /** Sends test events. */
  readonly sender: DeliverySender
}

export interface StreamsPart extends ServicePart {
  readonly context: StreamContext
}

/** The longest sleep: shorter than the time-out, so that no lost notification doubles it. */
const ACTIVITY_POLL_MAX_MS = 5 * SECOND_MS

/** Streams: what admins and integrations do with them, long polls, and what is due of them. */
export function createStreamsPart(
  foundation: Foundation,
  settings: StreamSettings,
  { sender, ...others }: StreamPartDependencies,
): StreamsPart {
  const context = createStreamContext(foundation, settings, others)
  const { waiters } = context
  return {
    name: 'streams',
    roles: ['api'],
    context,
    operations: [
      ...streamRoutes({ ...context, sender }),
      ...pollRoutes(context),
      ...pollTokenRoutes(context),
    ],
    channels: { [DELIVERY_CHANNEL]: (payload) => waiters.wake(toDestinationId(payload)) },
    onReconnect: () => waiters.wakeAll(),
    metrics: [
      {
        name: 'heliograph_long_polls_waiting',
        help: 'Polls that wait for events at this moment',
        read: () => Promise.resolve(waiters.count()),
      },
    ],
    jobs: [
      dueJob('stream heartbeats', () => sendDueHeartbeats(context)),
      dueJob('stream backfill', () => backfillStreams(context), { channel: BACKFILL_CHANNEL }),
      dueJob('stream restatement', () => restateStreams(context), { channel: RESTATEMENT_CHANNEL }),
      createActivityJob(context),
      periodicJob('waiting polls', () => wakeWaitingPolls(context)),
    ],
    endWaiting: () => waiters.close(),
  }
}

/** Pauses streams whose receivers are silent, when their time has come. */
function createActivityJob(context: StreamContext): DueJob<ProcessRole> {
  const { settings } = context
  const timeoutMs = settings.inactivityTimeoutSeconds * SECOND_MS
  let adoption: Promise<void> | undefined
  const run = async () => {
    adoption ??= adoptInactivityTimeout(settings, context).catch((error: unknown) => {
      adoption = undefined
      throw error
    })
    await adoption
    return pauseSilentStreams(context)
  }
  return dueJob('silent streams', run, {
    channel: STREAM_ACTIVITY_CHANNEL,
    pollMs: timeoutMs === 0 ? ACTIVITY_POLL_MAX_MS : Math.min(ACTIVITY_POLL_MAX_MS, timeoutMs),
  })
}

/** Finds what a process that died right after a commit has not told, as the sweep of the engine does for pushes. */
async function wakeWaitingPolls({ db, waiters }: StreamContext): Promise<void> {
  const polled = waiters.destinationIds()
  if (polled.length === 0) return
  // What a fallback lets be polled is of its push destination.
  const waiting = await listWaitingDestinations(db, ['ssf_poll', 'ssf_push'], polled)
  for (const { id, nextDueInMs } of waiting) if (nextDueInMs <= 0) waiters.wake(id)
}
