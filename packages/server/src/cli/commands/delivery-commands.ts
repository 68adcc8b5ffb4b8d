import type { Command } from 'commander'
import type { Kysely } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { toDeliveryJson } from '../../signals/dispatch/delivery-json.ts'
import { showDelivery } from '../../signals/dispatch/delivery-log-routes.ts'
import {
  DELIVERY_SEARCH_FIELDS,
  getDeliveryOfEvent,
  listDeliveryLog,
} from '../../signals/dispatch/delivery-read.ts'
import {
  discardDeliveries,
  redriveDeliveries,
  resendDelivery,
  type DeliveryOwner,
  type DeliverySelection,
  type MovedDeliveries,
} from '../../signals/dispatch/redrive-deliveries.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import type { ServiceFoundation } from '../../app/foundation.ts'
import { toDeliveryOwner } from '../../signals/streams/stream-delivery-routes.ts'
import { getStream } from '../../signals/streams/stream-store.ts'
import { findWebhookContent } from '../../signals/webhooks/webhook-delivery-routes.ts'
import { toWebhookOwner } from '../../signals/webhooks/webhook-owner.ts'
import { getWebhook } from '../../signals/webhooks/webhook-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { collect, parseTime, parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface OwnerOptions {
  stream?: string
  webhook?: string
  destination?: string
  json?: true
}

interface ListOptions extends OwnerOptions {
  query: string
  after?: string
  limit: number
}

interface MoveOptions extends OwnerOptions {
  since?: Date
  until?: Date
  event?: string[]
  includeDiscarded?: true
  state?: ('queued' | 'dead')[]
}

const LIMIT_MAX = 10_000

/** `heliograph deliveries list|show|resend|redrive|discard`. */
export function addDeliveryCommands(program: Command, io: CommandIo): void {
  const deliveries = program
    .command('deliveries')
    .description('what was sent to the receivers of streams and webhooks, and what became of it')
  addList(deliveries, io)
  addShow(deliveries, io)
  addResend(deliveries, io)
  addRedrive(deliveries, io)
  addDiscard(deliveries, io)
}

/** Adds the flags that say whose deliveries. */
function withOwnerFlags(command: Command): Command {
  return withDatabaseFlags(command)
    .option('--stream <id>', 'of this stream, by its id or stream id')
    .option('--webhook <id>', 'of this webhook')
    .option('--destination <id>', 'of this destination, as the log of the service names it')
}

function addList(deliveries: Command, io: CommandIo): void {
  withOwnerFlags(deliveries.command('list'))
    .description('list deliveries, oldest first')
    .option('--query <search>', 'only what matches, for example state:dead', '')
    .option('--after <id>', 'begin after this delivery')
    .option('--limit <n>', 'how many', parseWhole(1, LIMIT_MAX), 100)
    .action(async (options: ListOptions, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const { destinationId } = await findOwner(db, options, 'show')
        const rows = await listDeliveryLog(db, {
          destinationId,
          search: parseSearch(options.query, DELIVERY_SEARCH_FIELDS),
          window: { afterId: options.after, limit: options.limit },
        })
        if (options.json) {
          printJson(io, rows.map(toDeliveryJson))
          return
        }
        printTable(
          io,
          ['ID', 'EVENT', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST ERROR'],
          rows
            .map(toDeliveryJson)
            .map((row) => [
              row.id,
              row.event_id,
              row.state,
              String(row.attempts),
              row.next_attempt_at ?? '-',
              row.last_error ?? '',
            ]),
        )
      })
    })
}

function addShow(deliveries: Command, io: CommandIo): void {
  withOwnerFlags(deliveries.command('show <event>'))
    .description('show every attempt to deliver an event, and what is sent')
    .action(async (eventId: string, options: OwnerOptions, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const { destinationId } = await findOwner(db, options, 'show')
        const delivery = await getDeliveryOfEvent(db, destinationId, eventId)
        const findContent = options.webhook === undefined ? undefined : findWebhookContent
        const shown = await showDelivery(db, delivery, findContent)
        if (options.json) {
          printJson(io, shown)
          return
        }
        printLine(io, `${shown.event_id} is ${shown.state}.`)
        printTable(
          io,
          ['NUMBER', 'STARTED', 'OUTCOME', 'STATUS', 'MS', 'WHAT HAPPENED'],
          shown.attempt_log.map((attempt) => [
            String(attempt.number),
            attempt.started_at,
            attempt.outcome,
            String(attempt.status_code ?? '-'),
            String(Math.round(attempt.duration.total_ms)),
            attempt.error ?? '',
          ]),
        )
      })
    })
}

function addResend(deliveries: Command, io: CommandIo): void {
  withOwnerFlags(deliveries.command('resend <event>'))
    .description('send an event again, whatever became of it')
    .action(async (eventId: string, options: OwnerOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const row = await runChange(COMMAND_LINE_ORIGIN, async (change) => {
          const owner = await findOwner(change.tx, options, 'send')
          return resendDelivery(change, owner, eventId, () => undefined)
        })
        if (options.json) printJson(io, toDeliveryJson(row))
        else printLine(io, `${eventId} is ${row.state}.`)
      })
    })
}

function addRedrive(deliveries: Command, io: CommandIo): void {
  withOwnerFlags(deliveries.command('redrive'))
    .description('send dead events again')
    .option('--since <time>', 'only what was queued then or later', parseTime)
    .option('--until <time>', 'only what was queued then or earlier', parseTime)
    .option('--event <id...>', 'only these events')
    .option('--include-discarded', 'also what was given up')
    .action(async (options: MoveOptions, command: Command) => {
      await runWithServices(io, command, async (services) => {
        const states = options.includeDiscarded ? (['dead', 'discarded'] as const) : undefined
        await moveAll(io, services, options, (change, owner) =>
          redriveDeliveries(change, toSelection(owner, options, states), () => undefined),
        )
      })
    })
}

function addDiscard(deliveries: Command, io: CommandIo): void {
  withOwnerFlags(deliveries.command('discard'))
    .description('give up dead and queued events')
    .option('--since <time>', 'only what was queued then or later', parseTime)
    .option('--until <time>', 'only what was queued then or earlier', parseTime)
    .option('--event <id...>', 'only these events')
    .option('--state <state>', 'only queued or only dead ones', collect(parseState))
    .action(async (options: MoveOptions, command: Command) => {
      await runWithServices(io, command, async (services) => {
        // What is queued while this runs is left alone.
        const until = options.until ?? services.clock.now()
        await moveAll(io, services, options, (change, owner) =>
          discardDeliveries(
            change,
            toSelection(owner, { ...options, until }, options.state),
            () => undefined,
          ),
        )
      })
    })
}

/** Moves batch after batch until nothing is left. */
async function moveAll(
  io: CommandIo,
  { runChange }: Pick<ServiceFoundation, 'runChange'>,
  options: OwnerOptions,
  move: (change: Change, owner: DeliveryOwner) => Promise<MovedDeliveries>,
): Promise<void> {
  let count = 0
  for (;;) {
    const moved = await runChange(COMMAND_LINE_ORIGIN, async (change) =>
      move(change, await findOwner(change.tx, options, 'send')),
    )
    count += moved.count
    if (!moved.hasMore) break
  }
  if (options.json) printJson(io, { count })
  else printLine(io, `${count} events.`)
}

function toSelection(
  owner: DeliveryOwner,
  { since, until, event }: MoveOptions,
  states: DeliverySelection['states'],
): DeliverySelection {
  return { ...owner, since, until, eventIds: event, states }
}

async function findOwner(
  db: Kysely<Schema>,
  { stream, webhook, destination }: OwnerOptions,
  purpose: 'show' | 'send',
): Promise<DeliveryOwner> {
  const given = [stream, webhook, destination].filter((id) => id !== undefined)
  if (given.length !== 1) {
    const message = 'Give one of --stream, --webhook and --destination.'
    throw new AppError('invalid', 'invalid_parameter', message)
  }
  if (stream !== undefined) return toDeliveryOwner(await getStream(db, stream), purpose)
  if (webhook !== undefined) return toWebhookOwner(await getWebhook(db, webhook), purpose)
  return findDestination(db, destination ?? '')
}

async function findDestination(db: Kysely<Schema>, id: string): Promise<DeliveryOwner> {
  const row = /^\d{1,18}$/.test(id)
    ? await db
        .selectFrom('delivery_destination')
        .select('id')
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
  if (row === undefined) {
    throw new AppError('not_found', 'not_found', 'There is no such destination.')
  }
  return { destinationId: row.id, target: { type: 'delivery_destination', id: row.id } }
}

function parseState(text: string): 'queued' | 'dead' {
  if (text === 'queued' || text === 'dead') return text
  throw new AppError('invalid', 'invalid_parameter', 'A state to give up is queued or dead.')
}
