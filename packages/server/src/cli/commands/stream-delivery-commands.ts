import { Option, type Command } from 'commander'
import {
  getDelivery,
  listAttempts,
  listDeliveries,
  type DeliveryAttemptRow,
  type DeliveryRow,
  type DeliveryState,
} from '../../delivery/delivery-store.ts'
import { discardDeliveries, redriveDeliveries } from '../../delivery/redrive-deliveries.ts'
import { getStream } from '../../ssf/streams/stream-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface ListOptions {
  state?: DeliveryState
  after?: string
  limit: number
  json?: true
}

const LIMIT_MAX = 10_000

/** `heliograph streams deliveries|attempts|redrive|discard`. */
export function addStreamDeliveryCommands(streams: Command, io: CommandIo): void {
  addList(streams, io)
  addAttempts(streams, io)
  const actions = [
    ['redrive', 'send the dead events of a stream again', redriveDeliveries],
    ['discard', 'give up the queued and dead events of a stream', discardDeliveries],
  ] as const
  for (const [name, description, act] of actions) {
    withDatabaseFlags(streams.command(`${name} <stream>`))
      .description(description)
      .option('--event <id...>', 'only these deliveries')
      .action(async (id: string, options: { event?: string[]; json?: true }, command: Command) => {
        await runWithServices(io, command, async ({ runChange }) => {
          const count = await runChange(COMMAND_LINE_ORIGIN, async (change) => {
            const stream = await getStream(change.tx, id)
            const selection = {
              destinationId: stream.destination_id,
              target: { type: 'ssf_stream', id: stream.id },
              ...(options.event === undefined ? {} : { ids: options.event }),
            }
            return act(change, selection, () => undefined)
          })
          if (options.json) printJson(io, { count })
          else printLine(io, `${count} events.`)
        })
      })
  }
}

function addList(streams: Command, io: CommandIo): void {
  withDatabaseFlags(streams.command('deliveries <stream>'))
    .description('list the events of a stream, oldest first')
    .addOption(
      new Option('--state <state>', 'only those').choices([
        'queued',
        'delivered',
        'dead',
        'discarded',
      ]),
    )
    .option('--after <id>', 'begin after this delivery')
    .option('--limit <n>', 'how many', parseWhole(1, LIMIT_MAX), 100)
    .action(async (id: string, options: ListOptions, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const stream = await getStream(db, id)
        const rows = await listDeliveries(db, {
          destinationId: stream.destination_id,
          state: options.state,
          window: { afterId: options.after, limit: options.limit },
        })
        if (options.json) printJson(io, rows.map(toDeliveryJson))
        else {
          printTable(
            io,
            ['ID', 'EVENT', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST ERROR'],
            rows.map((row) => [
              row.id,
              row.event_id,
              row.state,
              String(row.attempt_count),
              row.state === 'queued' ? row.next_attempt_at.toISOString() : '-',
              row.last_error ?? '',
            ]),
          )
        }
      })
    })
}

function addAttempts(streams: Command, io: CommandIo): void {
  withDatabaseFlags(streams.command('attempts <stream> <delivery>'))
    .description('show every attempt to deliver an event')
    .action(async (id: string, deliveryId: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const stream = await getStream(db, id)
        const delivery = await getDelivery(db, stream.destination_id, deliveryId)
        const attempts = await listAttempts(db, delivery.id)
        if (options.json) {
          printJson(io, {
            ...toDeliveryJson(delivery),
            attempts: attempts.map(toAttemptJson),
          })
        } else {
          printTable(
            io,
            ['NUMBER', 'STARTED', 'OUTCOME', 'STATUS', 'MS', 'WHAT HAPPENED'],
            attempts.map((attempt) => [
              String(attempt.number),
              attempt.started_at.toISOString(),
              attempt.outcome,
              String(attempt.status_code ?? '-'),
              String(Math.round(attempt.timings.total)),
              attempt.error ?? '',
            ]),
          )
        }
      })
    })
}

function toDeliveryJson(row: DeliveryRow) {
  const { id, event_id, event_type, state, attempt_count, last_error, txn, created_at } = row
  return {
    id,
    event_id,
    event_type,
    state,
    attempt_count,
    next_attempt_at: state === 'queued' ? row.next_attempt_at : null,
    last_error,
    txn,
    created_at,
    finished_at: row.finished_at,
  }
}

function toAttemptJson(row: DeliveryAttemptRow) {
  const { number, started_at, timings, outcome, status_code, error_code, error } = row
  return {
    number,
    started_at,
    timings,
    outcome,
    status_code,
    error_code,
    error,
    response_headers: row.response_headers,
    response_body: row.response_body,
    remote_address: row.remote_address,
    next_attempt_at: row.next_attempt_at,
  }
}
