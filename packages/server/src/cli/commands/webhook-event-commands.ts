import type { Command } from 'commander'
import { resendDelivery } from '../../signals/dispatch/redrive-deliveries.ts'
import { toDeliveryJson } from '../../signals/dispatch/delivery-json.ts'
import { DELIVERY_SEARCH_FIELDS, listDeliveryLog } from '../../signals/dispatch/delivery-read.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { recoverWebhook } from '../../signals/webhooks/recover-webhook.ts'
import {
  listWebhookEvents,
  WEBHOOK_EVENT_SEARCH_FIELDS,
} from '../../signals/webhooks/webhook-event-read.ts'
import { toWebhookEventJson } from '../../signals/webhooks/webhook-event-routes.ts'
import { toWebhookOwner } from '../../signals/webhooks/webhook-owner.ts'
import { getWebhook } from '../../signals/webhooks/webhook-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { parseTime, parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface ListOptions {
  query: string
  /** Of deliveries. */
  after?: string
  limit: number
  json?: true
}

const LIMIT_MAX = 10_000

/** `heliograph webhooks events|deliveries|resend|recover`. */
export function addWebhookEventCommands(webhooks: Command, io: CommandIo): void {
  addEvents(webhooks, io)
  addDeliveries(webhooks, io)
  addResend(webhooks, io)
  addRecover(webhooks, io)
}

function withListFlags(command: Command): Command {
  return withDatabaseFlags(command)
    .option('--query <search>', 'only what matches', '')
    .option('--limit <n>', 'how many', parseWhole(1, LIMIT_MAX), 100)
}

function addEvents(webhooks: Command, io: CommandIo): void {
  withListFlags(webhooks.command('events'))
    .description('list the events that webhooks are told of, oldest first')
    .action(async (options: ListOptions, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const rows = await listWebhookEvents(
          db,
          parseSearch(options.query, WEBHOOK_EVENT_SEARCH_FIELDS),
          { afterId: undefined, limit: options.limit },
        )
        if (options.json) {
          printJson(io, rows.map(toWebhookEventJson))
          return
        }
        printTable(
          io,
          ['TIME', 'EVENT', 'ABOUT', 'ID'],
          rows.map((row) => [
            row.occurred_at.toISOString(),
            row.event_type,
            row.object_type === null ? '-' : `${row.object_type} ${row.object_id ?? ''}`,
            row.event_id,
          ]),
        )
      })
    })
}

function addDeliveries(webhooks: Command, io: CommandIo): void {
  withListFlags(webhooks.command('deliveries <webhook>'))
    .description('list what was sent to a webhook and what became of it, oldest first')
    .option('--after <id>', 'begin after this delivery')
    .action(async (id: string, options: ListOptions, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const { destination_id: destinationId } = await getWebhook(db, id)
        const rows = await listDeliveryLog(db, {
          destinationId,
          search: parseSearch(options.query, DELIVERY_SEARCH_FIELDS),
          window: { afterId: options.after, limit: options.limit },
        })
        const shown = rows.map(toDeliveryJson)
        if (options.json) {
          printJson(io, shown)
          return
        }
        printTable(
          io,
          ['ID', 'EVENT', 'WHAT', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST ERROR'],
          shown.map((row) => [
            row.id,
            row.event_id,
            row.event_type,
            row.state,
            String(row.attempts),
            row.next_attempt_at ?? '-',
            row.last_error ?? '',
          ]),
        )
      })
    })
}

function addResend(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('resend <webhook> <event>'))
    .description('send an event to a webhook again, whatever became of it')
    .action(async (id: string, eventId: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const row = await runChange(COMMAND_LINE_ORIGIN, async (change) => {
          const owner = toWebhookOwner(await getWebhook(change.tx, id), 'send')
          return resendDelivery(change, owner, eventId, () => undefined)
        })
        if (options.json) printJson(io, toDeliveryJson(row))
        else printLine(io, `${eventId} is ${row.state}.`)
      })
    })
}

interface RecoverOptions {
  since: Date
  until?: Date
  json?: true
}

function addRecover(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('recover <webhook>'))
    .description('send a webhook what failed for good, and what happened while it was off')
    .requiredOption('--since <time>', 'events of this time or later (ISO 8601)', parseTime)
    .option('--until <time>', 'events of this time or earlier (ISO 8601)', parseTime)
    .action(async (id: string, options: RecoverOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const { since, until } = options
        const counts = { failed_count: 0, missed_count: 0 }
        for (let hasMore = true; hasMore;) {
          const moved = await runChange(COMMAND_LINE_ORIGIN, (change) =>
            recoverWebhook(change, id, { since, until }, () => undefined),
          )
          counts.failed_count += moved.failedCount
          counts.missed_count += moved.missedCount
          hasMore = moved.hasMore
        }
        const count = counts.failed_count + counts.missed_count
        if (options.json) printJson(io, { count, ...counts })
        else printLine(io, `${count} events are queued.`)
      })
    })
}
