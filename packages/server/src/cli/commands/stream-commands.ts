import type { Command } from 'commander'
import { deleteStream } from '../../signals/streams/delete-stream.ts'
import { toStreamJson } from '../../signals/streams/stream-json.ts'
import { listStreams } from '../../signals/streams/stream-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'
import { addStreamCheckCommands } from './stream-check-commands.ts'
import { addStreamManagementCommands } from './stream-management-commands.ts'

/** More streams than any limit allows. */
const SHOWN_MAX = 10_000

/** `heliograph streams list|show|set-status|poll-token|delete`. */
export function addStreamCommands(program: Command, io: CommandIo): void {
  const streams = program.command('streams').description('Shared Signals streams')
  withDatabaseFlags(streams.command('list'))
    .description('list the streams')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ config, db }) => {
        const rows = await listStreams(db, { afterId: undefined, limit: SHOWN_MAX })
        const all = rows.map((stream) => toStreamJson(stream, config.baseUrl))
        if (options.json) printJson(io, all)
        else {
          printTable(
            io,
            ['ID', 'STREAM ID', 'NAME', 'DELIVERY', 'STATUS', 'ENDPOINT'],
            all.map((stream) => [
              stream.id,
              stream.stream_id,
              stream.name,
              stream.delivery_type,
              stream.status,
              stream.delivery.endpoint_url,
            ]),
          )
        }
      })
    })
  withDatabaseFlags(streams.command('delete <id>'))
    .description('delete a stream, by its id or stream id, and everything queued for it')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        await runChange(COMMAND_LINE_ORIGIN, (change) => deleteStream(change, id, () => undefined))
        if (options.json) printJson(io, { id, deleted: true })
        else printLine(io, `Deleted the stream ${id}.`)
      })
    })
  addStreamManagementCommands(streams, io)
  addStreamCheckCommands(streams, io)
}
