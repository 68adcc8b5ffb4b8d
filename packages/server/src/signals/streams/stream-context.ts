/*
 * What everything that works on streams has in one process. It is made once; who uses a part of it takes that
 * part.
 */
import type { Foundation } from '../../changes/foundation.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Outbound } from '../../platform/net/outbound.ts'
import { PollWaiters } from '../poll/poll-waiters.ts'
import type { SigningPart } from '../signing-part.ts'

/** What the operator decides about the standard surface. Times in seconds; 0 switches off. */
export interface SsfSettings {
  /** A receiver may ask for a verification this often. */
  readonly minVerificationIntervalSeconds: number
  /** A stream whose receiver is silent for so long is paused. */
  readonly inactivityTimeoutSeconds: number
  /** Which subjects new streams begin with. */
  readonly defaultSubjects: 'ALL' | 'NONE'
  /** Subjects that a receiver may say something about, per stream. */
  readonly subjectsMax: number
}

export interface StreamContext
  extends
    Pick<Foundation, 'db' | 'clock' | 'runChange' | 'sealer' | 'topics'>,
    Pick<SigningPart, 'keyRing' | 'refusedKeys'> {
  /** What the world calls the service, without a slash at the end: the issuer of root streams. */
  readonly baseUrl: string
  readonly streamsMax: number
  /** For how many days an event can be replayed: as long as what it carried is kept. */
  readonly retentionDays: number
  readonly settings: SsfSettings
  readonly client: Outbound['client']
  readonly targetPolicy: Outbound['policy']
  readonly waiters: PollWaiters
  /** Told of what is allowed and probably not meant. */
  readonly log?: Pick<Logger, 'warn'>
}

/** What the use cases of streams work with. */
export type StreamDependencies = Pick<
  StreamContext,
  'baseUrl' | 'sealer' | 'targetPolicy' | 'streamsMax' | 'log'
>

/** What an operator sets of streams. */
export interface StreamSettings {
  readonly baseUrl: string
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
  readonly longPollsMax: number
  readonly ssfDefaultSubjects: SsfSettings['defaultSubjects']
  readonly ssfInactivityTimeoutSeconds: number
  readonly ssfMinVerificationIntervalSeconds: number
  readonly ssfSubjectsMax: number
  readonly streamsMax: number
}

/** Makes it for a process. */
export function createStreamContext(
  foundation: Foundation,
  config: StreamSettings,
  { signing, outbound }: { readonly signing: SigningPart; readonly outbound: Outbound },
): StreamContext {
  return {
    ...foundation,
    baseUrl: config.baseUrl,
    streamsMax: config.streamsMax,
    retentionDays: Math.min(config.deliveryPayloadRetentionDays, config.deliveryRetentionDays),
    settings: {
      minVerificationIntervalSeconds: config.ssfMinVerificationIntervalSeconds,
      inactivityTimeoutSeconds: config.ssfInactivityTimeoutSeconds,
      defaultSubjects: config.ssfDefaultSubjects,
      subjectsMax: config.ssfSubjectsMax,
    },
    keyRing: signing.keyRing,
    refusedKeys: signing.refusedKeys,
    client: outbound.client,
    targetPolicy: outbound.policy,
    waiters: new PollWaiters(config.longPollsMax),
  }
}
