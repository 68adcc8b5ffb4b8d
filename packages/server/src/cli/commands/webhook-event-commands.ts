import { parseSearch } from '../../platform/search/parse-search.ts'
import { toDeliveryJson } from '../../signals/dispatch/delivery-json.ts'
import { DELIVERY_LIST, listDeliveryLog } from '../../signals/dispatch/delivery-read.ts'
import { discardDeliveries, resendDelivery } from '../../signals/dispatch/redrive-deliveries.ts'
import { previewRecovery, recoverWebhook } from '../../signals/webhooks/recover-webhook.ts'
import { EVENT_LIST } from '../../signals/webhooks/webhook-event-read.ts'
import { toWebhookEventJson } from '../../signals/webhooks/webhook-event-json.ts'
import { toWebhookOwner } from '../../signals/webhooks/webhook-owner.ts'
import { getWebhook } from '../../signals/webhooks/webhook-store.ts'
import { toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'
import { flag, option, parsedOption, timeOption, wholeOption } from '../option.ts'
import { parseId } from '../parse-arguments.ts'
import { countMoved, DISCARD_OPTIONS } from './moved-deliveries.ts'

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
      TIME: (row) => row.occurredAt.toISOString(),
      EVENT: (row) => row.eventType,
      ABOUT: (row) => (row.objectType === null ? '-' : `${row.objectType} ${row.objectId ?? ''}`),
      ID: (row) => row.eventId,
    }),
})

const deliveries = databaseCommand({
  name: 'deliveries <webhook>',
  description: 'list what was sent to a webhook and what became of it, oldest first',
  options: {
    ...LIST_OPTIONS,
    after: parsedOption('--after <id>', 'begin after this delivery', parseId),
  },
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
    dryRun: flag('--dry-run', 'only count'),
  },
  async run({ args, change, options: { since, until, dryRun }, services: { clock, db } }) {
    const counts = { failed_count: 0, missed_count: 0 }
    if (dryRun) {
      const preview = await previewRecovery(db, args.webhook, { since, until }, clock.now())
      const { failedCount: failed_count, missedCount: missed_count, hasMore: has_more } = preview
      return { count: failed_count + missed_count, failed_count, missed_count, has_more }
    }
    for (let hasMore = true; hasMore;) {
      const moved = await change((tx) => recoverWebhook(tx, args.webhook, { since, until }))
      counts.failed_count += moved.failedCount
      counts.missed_count += moved.missedCount
      hasMore = moved.hasMore
    }
    return { count: counts.failed_count + counts.missed_count, ...counts, has_more: false }
  },
  text: ({ count, failed_count: failed, missed_count: missed, has_more: hasMore }, { options }) =>
    options.dryRun
      ? `${hasMore ? 'At least ' : ''}${count} events would be queued: ${failed} that failed for good, ${missed} that happened while the webhook was off.`
      : `${count} events are queued.`,
})

const discard = databaseCommand({
  name: 'discard <webhook>',
  description: 'give up what is queued for a webhook, and what failed for good',
  options: DISCARD_OPTIONS,
  run({ args, change, options, services }) {
    const { since, event: eventIds, state: states } = options
    // What is queued while this runs is left alone.
    const until = options.until ?? services.clock.now()
    return countMoved(() =>
      change(async (tx) => {
        const owner = toWebhookOwner(await getWebhook(tx.tx, args.webhook), 'show')
        return discardDeliveries(tx, { ...owner, since, until, eventIds, states })
      }),
    )
  },
  text: ({ count }) => `${count} events.`,
})

/** `heliograph webhooks events|deliveries|resend|recover|discard`. */
export const webhookEventCommands = [events, deliveries, resend, recover, discard]
