import type { TargetPolicy } from '../../platform/net/target-policy.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'

/** What the use cases of webhooks work with. */
export interface WebhookDependencies {
  readonly sealer: Sealer
  readonly targetPolicy: TargetPolicy
  readonly webhooksMax: number
}
