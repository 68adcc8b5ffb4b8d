import type { GuardedClient } from './guarded-client.ts'
import type { TargetPolicy } from './target-policy.ts'

/** What reaches addresses that users give. */
export interface Outbound {
  readonly policy: TargetPolicy
  readonly client: GuardedClient
}
