import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { SECOND_MS } from '../platform/clock.ts'
import type { DueJob } from '../platform/jobs/job.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { dueJob } from '../schema/jobs.ts'
import type { ProcessRole } from '../schema/process-role.ts'
import { sendDueHeartbeats } from './diagnosis/health/heartbeat.ts'
import type { DeliverySender } from './dispatch/delivery-sender.ts'
import { DELIVERY_CHANNEL, toDestinationId } from './dispatch/delivery-store.ts'
import { BACKFILL_CHANNEL } from './history/backfill-store.ts'
import { backfillStreams } from './history/backfill-streams.ts'
import { RESTATEMENT_CHANNEL } from './history/restatement-store.ts'
import { restateStreams } from './history/restate-streams.ts'
import { findReplayDays } from './history/replay-days.ts'
import { pollRoutes } from './poll/poll-routes.ts'
import { pollTokenRoutes } from './poll/poll-token-routes.ts'
import { PollWaiters } from './poll/poll-waiters.ts'
import type { SigningPart } from './signing-part.ts'
import {
  adoptInactivityTimeout,
  pauseSilentStreams,
  STREAM_ACTIVITY_CHANNEL,
} from './streams/stream-activity.ts'
import { streamRoutes } from './streams/stream-routes.ts'

export interface StreamSettings {
  readonly baseUrl: string
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
  readonly longPollsMax: number
  readonly ssfInactivityTimeoutSeconds: number
  readonly streamsMax: number
}

export interface StreamPartDependencies {
  readonly signing: SigningPart
  readonly outbound: Outbound
  /** Sends test events. */
  readonly sender: DeliverySender
}

export interface StreamsPart extends ServicePart {
  readonly waiters: PollWaiters
}

/** The longest sleep: shorter than the time-out, so that no lost notification doubles it. */
const ACTIVITY_POLL_MAX_MS = 5 * SECOND_MS

/** Streams: what admins and integrations do with them, long polls, and what is due of them. */
export function createStreamsPart(
  foundation: Foundation,
  settings: StreamSettings,
  dependencies: StreamPartDependencies,
): StreamsPart {
  const { db, clock, runChange, sealer } = foundation
  const { signing, outbound, sender } = dependencies
  const { keyRing, refusedKeys } = signing
  const { client, policy: targetPolicy } = outbound
  const { baseUrl, streamsMax } = settings
  const waiters = new PollWaiters(settings.longPollsMax)
  return {
    name: 'streams',
    roles: ['api'],
    waiters,
    operations: [
      ...streamRoutes({
        ...foundation,
        keyRing,
        client,
        sender,
        targetPolicy,
        baseUrl,
        streamsMax,
        retentionDays: findReplayDays(settings),
      }),
      ...pollRoutes({ db, clock, keyRing, waiters, refusedKeys }),
      ...pollTokenRoutes({ db, clock, runChange }),
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
      dueJob('stream heartbeats', () => sendDueHeartbeats({ db, clock, runChange })),
      dueJob('stream backfill', () => backfillStreams({ db, runChange, sealer }), {
        channel: BACKFILL_CHANNEL,
      }),
      dueJob('stream restatement', () => restateStreams({ db, clock, runChange, sealer }), {
        channel: RESTATEMENT_CHANNEL,
      }),
      createActivityJob(foundation, settings),
    ],
    endWaiting: () => waiters.close(),
  }
}

/** Pauses streams whose receivers are silent, when their time has come. */
function createActivityJob(
  { db, clock, runChange }: Foundation,
  { ssfInactivityTimeoutSeconds: inactivityTimeoutSeconds }: StreamSettings,
): DueJob<ProcessRole> {
  const settings = { inactivityTimeoutSeconds }
  const timeoutMs = inactivityTimeoutSeconds * SECOND_MS
  let adoption: Promise<void> | undefined
  const run = async () => {
    adoption ??= adoptInactivityTimeout(settings, { db, clock }).catch((error: unknown) => {
      adoption = undefined
      throw error
    })
    await adoption
    return pauseSilentStreams({ db, clock, runChange, settings })
  }
  return dueJob('silent streams', run, {
    channel: STREAM_ACTIVITY_CHANNEL,
    pollMs: timeoutMs === 0 ? ACTIVITY_POLL_MAX_MS : Math.min(ACTIVITY_POLL_MAX_MS, timeoutMs),
  })
}
