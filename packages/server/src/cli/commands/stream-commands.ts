import { deleteStream } from '../../signals/streams/delete-stream.ts'
import { toStreamJson } from '../../signals/streams/stream-json.ts'
import { listStreams, parseStreamReference } from '../../signals/streams/stream-store.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { healthCommand, selfTestCommand } from './stream-check-commands.ts'
import { pollTokenCommand, setStatusCommand, showCommand } from './stream-management-commands.ts'

const list = databaseCommand({
  name: 'list',
  description: 'list the streams',
  async run({ services: { config, db } }) {
    const streams = await listStreams(db, EVERYTHING)
    return streams.map((stream) => toStreamJson(stream, config.baseUrl))
  },
  text: (streams) =>
    toTable(streams, {
      ID: ({ id }) => id,
      'STREAM ID': (stream) => stream.stream_id,
      NAME: ({ name }) => name,
      DELIVERY: (stream) => stream.delivery_type,
      STATUS: ({ status }) => status,
      ENDPOINT: ({ delivery }) => delivery.endpoint_url,
    }),
})

const remove = databaseCommand({
  name: 'delete <id>',
  description: 'delete a stream, by its id or stream id, and everything queued for it',
  async run({ args: { id }, change }) {
    await change((tx) => deleteStream(tx, parseStreamReference(id)))
    return { id, deleted: true }
  },
  text: ({ id }) => `Deleted the stream ${id}.`,
})

/** `heliograph streams list|delete|show|set-status|poll-token|self-test|health`. */
export const streamCommands = commandGroup([
  list,
  remove,
  showCommand,
  setStatusCommand,
  pollTokenCommand,
  selfTestCommand,
  healthCommand,
])
