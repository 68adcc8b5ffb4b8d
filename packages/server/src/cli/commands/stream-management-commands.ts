import { Option, type Command } from 'commander'
import {
  OVERLAP_SECONDS_DEFAULT,
  OVERLAP_SECONDS_MAX,
  POLL_TOKEN_MODES,
  rotatePollToken,
  type PollTokenMode,
} from '../../signals/poll/rotate-poll-token.ts'
import { toRotatedJson } from '../../signals/poll/poll-token-routes.ts'
import { setStreamStatus, type StreamStatus } from '../../signals/streams/set-stream-status.ts'
import { toStreamJson } from '../../signals/streams/stream-json.ts'
import { getStream } from '../../signals/streams/stream-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface PollTokenOptions {
  stream: string
  mode: PollTokenMode
  overlapSeconds: number
  json?: true
}

interface StatusOptions {
  status: StreamStatus
  reason?: string
  json?: true
}

/** `heliograph streams show|set-status|poll-token`. */
export function addStreamManagementCommands(streams: Command, io: CommandIo): void {
  addShow(streams, io)
  addSetStatus(streams, io)
  addPollToken(streams, io)
}

function addShow(streams: Command, io: CommandIo): void {
  withDatabaseFlags(streams.command('show <id>'))
    .description('show a stream, by its id or stream id')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ config, db }) => {
        const stream = toStreamJson(await getStream(db, id), config.baseUrl)
        if (options.json) printJson(io, stream)
        else {
          printTable(
            io,
            ['MEMBER', 'VALUE'],
            Object.entries(stream).map(([name, value]) => [name, toCell(value)]),
          )
        }
      })
    })
}

function addSetStatus(streams: Command, io: CommandIo): void {
  withDatabaseFlags(streams.command('set-status <id>'))
    .description(
      'enable a stream, pause it (its events are held) or disable it (they are given up)',
    )
    .addOption(
      new Option('--status <status>', 'the status')
        .choices(['enabled', 'paused', 'disabled'])
        .makeOptionMandatory(),
    )
    .option('--reason <text>', 'why, for the receiver')
    .action(async (id: string, options: StatusOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const { status, reason = null } = options
        const stream = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          setStreamStatus(change, id, { status, reason }, () => undefined),
        )
        if (options.json) {
          printJson(io, { stream_id: stream.streamId, status, reason: stream.statusReason })
        } else printLine(io, `The stream ${stream.name} is ${status}.`)
      })
    })
}

function addPollToken(streams: Command, io: CommandIo): void {
  withDatabaseFlags(streams.command('poll-token'))
    .description('issue a poll token for a stream, or revoke those it has; it is shown once')
    .requiredOption('--stream <id>', 'the stream, by its id or stream id')
    .addOption(
      new Option('--mode <mode>', 'what becomes of the tokens before')
        .choices([...POLL_TOKEN_MODES])
        .default('overlap'),
    )
    .option(
      '--overlap-seconds <n>',
      'how long they are accepted with overlap',
      parseWhole(1, OVERLAP_SECONDS_MAX),
      OVERLAP_SECONDS_DEFAULT,
    )
    .action(async (options: PollTokenOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const { mode, overlapSeconds } = options
        const rotated = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          rotatePollToken(change, options.stream, { mode, overlapSeconds }),
        )
        if (options.json) printJson(io, toRotatedJson(rotated, mode))
        else if (rotated.token !== null) printLine(io, rotated.token)
        else printLine(io, `Revoked the poll tokens of the stream ${rotated.stream.name}.`)
      })
    })
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
