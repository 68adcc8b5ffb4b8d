import type { FastifyInstance } from 'fastify'
import type { KeyUsageRecorder } from '../../organisation/api-keys/key-usage-recorder.ts'
import type { Config } from '../config/load-config.ts'
import type { WakeDelivery } from '../../signals/dispatch/enqueue-deliveries.ts'
import type { FeatureSwitches } from '../../organisation/settings/feature-switches.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Listener } from '../../platform/db/listener.ts'
import { toUnavailable } from '../../platform/db/unavailable.ts'
import { startDueJob, type DueJob } from '../../platform/jobs/due-job.ts'
import type { Services } from '../services.ts'
import type { PollWaiters } from '../../signals/poll/poll-waiters.ts'
import {
  adoptInactivityTimeout,
  pauseSilentStreams,
  STREAM_ACTIVITY_CHANNEL,
} from '../../signals/streams/stream-activity.ts'
import { deliveryEndpoints } from '../../surfaces/standard-ssf/delivery-endpoints.ts'
import { registerStrictFace } from '../../surfaces/standard-ssf/strict-face.ts'
import type { StrictSettings } from '../../surfaces/standard-ssf/strict-settings.ts'
import { toCallerOptions } from './http.ts'
import type { Outbound } from './outbound.ts'
import type { Signing } from './ssf.ts'
import { composeStrictChecks } from './stream-checks.ts'
import { composeStrictHistory } from './stream-history.ts'

/** What the strict face shares with the rest of the process. */
export interface StrictFaceParts {
  readonly signing: Pick<Signing, 'keyRing' | 'refusedKeys'>
  readonly outbound: Pick<Outbound, 'policy' | 'client'>
  readonly waiters: PollWaiters
  readonly wake: WakeDelivery
  readonly features: FeatureSwitches
  readonly keyUsage: KeyUsageRecorder
}

/** Adds Shared Signals as the standards have it. */
export function addStrictFace(
  app: FastifyInstance,
  services: Services,
  { signing, outbound, waiters, wake, features, keyUsage }: StrictFaceParts,
): void {
  const { config, clock, db, log, runChange, sealer } = services
  const settings = toStrictSettings(config)
  registerStrictFace(app, {
    db,
    clock,
    runChange,
    sealer,
    wake,
    waiters,
    keyRing: signing.keyRing,
    refusedKeys: signing.refusedKeys,
    baseUrl: config.baseUrl,
    targetPolicy: outbound.policy,
    streamsMax: config.streamsMax,
    log,
    settings,
    callers: toCallerOptions(services, keyUsage),
    isEnabled: () => features.isFeatureEnabled('ssf'),
    toUnavailable,
    extensions: [
      ...composeStrictChecks(services, { signing, outbound }),
      ...composeStrictHistory(services, settings, wake),
      ...deliveryEndpoints({ db, clock, runChange, wake, settings }),
    ],
  })
}

/** The longest sleep: shorter than the time-out, so that no lost wake-up doubles it. */
const POLL_MAX_MS = 5 * SECOND_MS

/** Pauses streams whose receivers are silent, when their time has come. */
export function startStreamActivity(
  services: Services,
  listener: Listener,
  wake: WakeDelivery,
): DueJob {
  const { config, clock, db, log, runChange } = services
  const settings = toStrictSettings(config)
  const { inactivityTimeoutSeconds } = settings
  let adoption: Promise<void> | undefined
  const job = startDueJob({
    name: 'silent streams',
    clock,
    pollMs:
      inactivityTimeoutSeconds === 0
        ? POLL_MAX_MS
        : Math.min(POLL_MAX_MS, inactivityTimeoutSeconds * SECOND_MS),
    run: async () => {
      adoption ??= adoptInactivityTimeout(settings, { db, clock }).catch((error: unknown) => {
        adoption = undefined
        throw error
      })
      await adoption
      return pauseSilentStreams({ db, clock, runChange, settings, wake })
    },
    logError: (error, message) => log.error({ err: error }, message),
  })
  listener.subscribe(STREAM_ACTIVITY_CHANNEL, (payload) => job.wake(new Date(payload)))
  return job
}

function toStrictSettings(config: Config): StrictSettings {
  return {
    minVerificationIntervalSeconds: config.ssfMinVerificationIntervalSeconds,
    inactivityTimeoutSeconds: config.ssfInactivityTimeoutSeconds,
    defaultSubjects: config.ssfDefaultSubjects,
    subjectsMax: config.ssfSubjectsMax,
  }
}
