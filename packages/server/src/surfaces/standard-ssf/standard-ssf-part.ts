import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import type { FeatureSwitches } from '../../organisation/settings/feature-switches.ts'
import type { CallerLimits } from '../../platform/http/access.ts'
import type { Outbound } from '../../platform/net/outbound.ts'
import type { PollWaiters } from '../../signals/poll/poll-waiters.ts'
import type { SigningPart } from '../../signals/signing-part.ts'
import { findReplayDays } from '../../signals/history/replay-days.ts'
import { registerStandardSsf } from './register-standard-ssf.ts'
import type { SsfSettings } from '../../signals/streams/ssf-settings.ts'

export interface StandardSsfSettings {
  readonly baseUrl: string
  readonly streamsMax: number
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
  readonly ssfMinVerificationIntervalSeconds: number
  readonly ssfInactivityTimeoutSeconds: number
  readonly ssfDefaultSubjects: SsfSettings['defaultSubjects']
  readonly ssfSubjectsMax: number
}

export interface StandardSsfDependencies {
  readonly foundation: Foundation
  readonly signing: Pick<SigningPart, 'keyRing' | 'refusedKeys'>
  readonly outbound: Outbound
  readonly waiters: PollWaiters
  readonly features: FeatureSwitches
  readonly callers: CallerLimits
}

/** Shared Signals as the standards have it. */
export function createStandardSsfPart(
  dependencies: StandardSsfDependencies,
  config: StandardSsfSettings,
): ServicePart {
  const { foundation, signing, outbound, waiters, features, callers } = dependencies
  const { keyRing, refusedKeys } = signing
  return {
    name: 'standard Shared Signals',
    roles: ['api'],
    mount: (http) =>
      registerStandardSsf(http, {
        ...foundation,
        settings: toSsfSettings(config),
        keyRing,
        client: outbound.client,
        waiters,
        refusedKeys,
        baseUrl: config.baseUrl,
        targetPolicy: outbound.policy,
        streamsMax: config.streamsMax,
        limits: callers,
        isEnabled: () => features.isFeatureEnabled('ssf'),
        retentionDays: findReplayDays(config),
      }),
  }
}

function toSsfSettings(settings: StandardSsfSettings): SsfSettings {
  return {
    minVerificationIntervalSeconds: settings.ssfMinVerificationIntervalSeconds,
    inactivityTimeoutSeconds: settings.ssfInactivityTimeoutSeconds,
    defaultSubjects: settings.ssfDefaultSubjects,
    subjectsMax: settings.ssfSubjectsMax,
  }
}
