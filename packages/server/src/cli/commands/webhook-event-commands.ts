import { parseSearch } from '../../platform/search/parse-search.ts'
import { toDeliveryJson } from '../../signals/dispatch/delivery-json.ts'
import { DELIVERY_LIST, listDeliveryLog } from '../../signals/dispatch/delivery-read.ts'
import { resendDelivery } from '../../signals/dispatch/redrive-deliveries.ts'
import { recoverWebhook } from '../../signals/webhooks/recover-webhook.ts'
import { EVENT_LIST } from '../../signals/webhooks/webhook-event-read.ts'
import { toWebhookEventJson } from '../../signals/webhooks/webhook-event-json.ts'
import { toWebhookOwner } from '../../signals/webhooks/webhook-owner.ts'
import { getWebhook } from '../../signals/webhooks/webhook-store.ts'
import { toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'
import { option, timeOption, wholeOption } from '../option.ts'

const LIMIT_MAX = 10_000

const LIST_OPTIONS = {
  query: option('--query <search>', 'only what matches').default(''),
  limit: wholeOption('--limit <n>', 'how many', LIMIT_MAX).default(100),
}

const events = databaseCommand({
  name: 'events',
  description: 'list the events that webhooks are told of, oldest first',
  options: LIST_OPTIONS,
  run({ options: { query, limit }, services }) {
    const search = parseSearch(query, EVENT_LIST.fields)
    return EVENT_LIST.listPage(services.db, { search, window: { afterId: undefined, limit } })
  },
  json: (rows) => rows.map(toWebhookEventJson),
  text: (rows) =>
    toTable(rows, {
      TIME: (row) => row.occurred_at.toISOString(),
      EVENT: (row) => row.event_type,
      ABOUT: (row) =>
        row.object_type === null ? '-' : `${row.object_type} ${row.object_id ?? ''}`,
      ID: (row) => row.event_id,
    }),
})

const deliveries = databaseCommand({
  name: 'deliveries <webhook>',
  description: 'list what was sent to a webhook and what became of it, oldest first',
  options: { ...LIST_OPTIONS, after: option('--after <id>', 'begin after this delivery') },
  async run({ args, options: { query, after, limit }, services: { db } }) {
    const { destinationId } = await getWebhook(db, args.webhook)
    const search = parseSearch(query, DELIVERY_LIST.fields)
    const window = { afterId: after, limit }
    return (await listDeliveryLog(db, { destinationId, search, window })).map(toDeliveryJson)
  },
  text: (rows) =>
    toTable(rows, {
      ID: ({ id }) => id,
      EVENT: (row) => row.event_id,
      WHAT: (row) => row.event_type,
      STATE: ({ state }) => state,
      ATTEMPTS: ({ attempts }) => String(attempts),
      'NEXT ATTEMPT': (row) => row.next_attempt_at ?? '-',
      'LAST ERROR': (row) => row.last_error ?? '',
    }),
})

const resend = databaseCommand({
  name: 'resend <webhook> <event>',
  description: 'send an event to a webhook again, whatever became of it',
  run: ({ args, change }) =>
    change(async (tx) => {
      const owner = toWebhookOwner(await getWebhook(tx.tx, args.webhook), 'send')
      return resendDelivery(tx, owner, args.event)
    }),
  json: toDeliveryJson,
  text: ({ state }, { args }) => `${args.event} is ${state}.`,
})

const recover = databaseCommand({
  name: 'recover <webhook>',
  description: 'send a webhook what failed for good, and what happened while it was off',
  options: {
    since: timeOption('--since <time>', 'events of this time or later (ISO 8601)').required(),
    until: timeOption('--until <time>', 'events of this time or earlier (ISO 8601)'),
  },
  async run({ args, change, options: { since, until } }) {
    const counts = { failed_count: 0, missed_count: 0 }
    for (let hasMore = true; hasMore;) {
      const moved = await change((tx) => recoverWebhook(tx, args.webhook, { since, until }))
      counts.failed_count += moved.failedCount
      counts.missed_count += moved.missedCount
      hasMore = moved.hasMore
    }
    return { count: counts.failed_count + counts.missed_count, ...counts }
  },
  text: ({ count }) => `${count} events are queued.`,
})

/** `heliograph webhooks events|deliveries|resend|recover`. */
export const webhookEventCommands = [events, deliveries, resend, recover]
