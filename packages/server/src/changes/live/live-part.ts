import type { Part } from '../../platform/part.ts'
import { LiveFeed } from '../../platform/live/live-feed.ts'
import { parseTopics, TOPICS_CHANNEL } from '../../platform/live/topic-notifier.ts'
import { ALL_TOPICS, collectionOf } from '../../platform/live/topic-set.ts'
import type { LiveCollection, LiveTopic } from '../../schema/live-topics.ts'
import type { ProcessRole } from '../../schema/process-role.ts'
import { liveRoutes } from './live-routes.ts'

/** When these change, a caller may have lost what it watches by. */
const CALLERS: ReadonlySet<string> = new Set<LiveCollection>([
  'admin_sessions',
  'admin_users',
  'api_keys',
  'organisation',
])

/** What a notification on another channel says of topics. */
export type TopicsOfChannels = Readonly<Record<string, readonly LiveTopic[]>>

/**
 * Tells those who watch what changes; its feed hears the notifications once, however many watch. `others` are
 * channels that wake somebody else, and tell of a change as well.
 */
export function createLivePart(others: TopicsOfChannels): Part<ProcessRole> {
  const feed = new LiveFeed()
  const hear = (topics: readonly string[]): void => {
    feed.hear(topics)
    const mayEndCallers = topics.some(
      (topic) => topic === ALL_TOPICS || CALLERS.has(collectionOf(topic)),
    )
    if (mayEndCallers) feed.askAgain()
  }
  return {
    name: 'live',
    roles: ['api'],
    operations: liveRoutes(feed),
    channels: {
      [TOPICS_CHANNEL]: (payload) => hear(parseTopics(payload)),
      ...Object.fromEntries(
        Object.entries(others).map(([channel, topics]) => [channel, () => hear(topics)]),
      ),
    },
    onReconnect: () => hear([ALL_TOPICS]),
    metrics: [
      {
        name: 'heliograph_live_connections',
        help: 'Connections that watch what changes',
        read: async () => feed.watcherCount,
      },
    ],
    endWaiting: () => feed.end(),
    stop: async () => feed.end(),
  }
}
