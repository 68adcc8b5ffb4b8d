import type { ChangePublisher } from '../changes/change.ts'
import { createTopicPublisher } from '../changes/live/topic-publisher.ts'
import type { Clock } from '../platform/clock.ts'
import type { TopicSink } from '../platform/live/topic-notifier.ts'
import type { AuditChainer } from '../changes/audit/chain/audit-chainer.ts'
import type { Sealer } from '../platform/secrets/sealed-box.ts'

export interface PublisherDependencies {
  readonly clock: Clock
  readonly sealer: Pick<Sealer, 'open'>
  readonly baseUrl: string
  /** Told of entries that have been committed. */
  readonly auditChainer: Pick<AuditChainer, 'wake'>
  /** Told of what has changed once it is committed. */
  readonly topics: TopicSink
}

/**
 * Whoever hears of every change, in the order in which they do. They are loaded at the first change: most
 * commands make none.
 */
export function createPublishers(dependencies: PublisherDependencies): readonly ChangePublisher[] {
  const publishTopics = createTopicPublisher(dependencies.topics)
  let loading: Promise<readonly ChangePublisher[]> | undefined
  return [
    async (record) => {
      loading ??= loadPublishers(dependencies)
      for (const publish of await loading) await publish(record)
      await publishTopics(record)
      if (record.auditEntries.length > 0) {
        record.afterCommit(() => dependencies.auditChainer.wake())
      }
    },
  ]
}

async function loadPublishers({
  clock,
  sealer,
  baseUrl,
}: PublisherDependencies): Promise<readonly ChangePublisher[]> {
  const { createOsUserBinder } = await import('../sign-in/proof/os-users.ts')
  const { createSessionEnder } = await import('../sign-in/sessions/end-sessions.ts')
  const { createSsfPublisher } = await import('../signals/sets/ssf-publisher.ts')
  const { createWebhookPublisher } = await import('../signals/webhooks/webhook-publisher.ts')
  return [
    // First: what it adds is told by the others.
    createSessionEnder(),
    createOsUserBinder(),
    createSsfPublisher({ sealer }),
    createWebhookPublisher({ clock, baseUrl }),
  ]
}
