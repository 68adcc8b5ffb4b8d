import type { Logger } from '../../platform/logger.ts'
import type { TargetPolicy } from '../../platform/net/target-policy.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'

/** What the use cases of streams work with. */
export interface StreamDependencies {
  /** What the world calls the service, without a slash at the end: the issuer of root streams. */
  readonly baseUrl: string
  readonly sealer: Sealer
  readonly targetPolicy: TargetPolicy
  readonly streamsMax: number
  /** Told of what is allowed and probably not meant. */
  readonly log?: Pick<Logger, 'warn'>
}
