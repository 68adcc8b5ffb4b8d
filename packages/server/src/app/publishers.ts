import type { ChangePublisher } from '../changes/change.ts'
import type { Clock } from '../platform/clock.ts'
import type { Sealer } from '../platform/secrets/sealed-box.ts'
import { createSsfPublisher } from '../signals/sets/ssf-publisher.ts'
import { createWebhookPublisher } from '../signals/webhooks/webhook-publisher.ts'

export interface PublisherDependencies {
  readonly clock: Clock
  readonly sealer: Pick<Sealer, 'open'>
  readonly baseUrl: string
}

/** Whoever hears of every change, in the order in which they do. */
export function createPublishers({
  clock,
  sealer,
  baseUrl,
}: PublisherDependencies): readonly ChangePublisher[] {
  return [createSsfPublisher({ sealer }), createWebhookPublisher({ clock, baseUrl })]
}
