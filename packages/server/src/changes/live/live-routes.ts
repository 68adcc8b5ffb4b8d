import { z } from 'zod'
import { SECOND_MS } from '../../platform/clock.ts'
import type { LiveFeed } from '../../platform/live/live-feed.ts'
import { answer, route, streamedText, type ApiRoute } from '../../schema/operations.ts'
import { LIVE_COLLECTIONS, mayHearOf } from '../../schema/live-topics.ts'

const DESCRIPTION = `Server-sent events that say what has changed, so that a client reads again only what it shows. The connection stays open.

- \`ready\` comes first.
- \`changed\` carries \`{"topics": [...]}\`. A topic is a collection (\`devices\`), or one record of it by its id (\`devices:7\`), which stands for the lists that hold the record as well. Where many records of a collection have changed, the collection stands for them; \`all\` stands for everything. At most one such event comes in a second.
- \`ended\` comes when the credential has ended, before the connection is closed.

The collections are ${Object.keys(LIVE_COLLECTIONS)
  .map((name) => `\`${name}\``)
  .join(', ')}.

With the header \`Last-Event-ID\` the first event names all that has changed since the event with that id, \`all\` where the service does not know it any more. An event is a hint: nothing is lost with one, because it carries nothing. A caller is told of the collections that it may list, and \`ended\` as soon as it may list fewer. One caller can hold 10 connections to a process. To watch does not keep a session from ending when nobody uses it.`

const liveQuery = z.object({
  seconds: z
    .string()
    .regex(/^\d{1,5}$/, 'Must be a number of seconds below 100000')
    .transform(Number)
    .optional()
    .describe(
      'Ends the connection after so many seconds; with 0 at once, for a client that asks again with `Last-Event-ID` instead of waiting. Left out, it stays open.',
    ),
})

/** The operation that tells what changes. */
export function liveRoutes(feed: LiveFeed): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/live',
      summary: 'Watch what changes',
      description: DESCRIPTION,
      tags: ['Live'],
      permission: null,
      isUnattended: true,
      query: liveQuery,
      example: { query: { seconds: '0' } },
      responses: { 200: streamedText('text/event-stream') },
      handler: ({ headers, principal, query, isStillAllowed }) => {
        const lastEventId = headers['last-event-id']
        const events = feed.watch({
          watcherKey: `${principal.kind}:${principal.id}`,
          lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
          watchMaxMs: query.seconds === undefined ? undefined : query.seconds * SECOND_MS,
          mayHear: (topic) => mayHearOf(topic, principal),
          mayWatch: isStillAllowed,
        })
        // Proxies that gather answers would hold the events back.
        return answer(200, events, { 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      },
    }),
  ]
}
