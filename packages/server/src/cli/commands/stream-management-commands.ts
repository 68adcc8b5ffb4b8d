import {
  OVERLAP_SECONDS_DEFAULT,
  OVERLAP_SECONDS_MAX,
  POLL_TOKEN_MODES,
  rotatePollToken,
} from '../../signals/poll/rotate-poll-token.ts'
import { toRotatedJson } from '../../signals/poll/poll-token-json.ts'
import { setStreamStatus } from '../../signals/streams/set-stream-status.ts'
import { toStreamJson } from '../../signals/streams/stream-json.ts'
import { getStream, parseStreamReference } from '../../signals/streams/stream-store.ts'
import { toTableLines } from '../command-io.ts'
import { databaseCommand } from '../command.ts'
import { choiceOption, option, parsedOption } from '../option.ts'
import { parseWhole } from '../parse-arguments.ts'

/** `heliograph streams show`. */
export const showCommand = databaseCommand({
  name: 'show <id>',
  description: 'show a stream, by its id or stream id',
  run: async ({ args, services: { config, db } }) =>
    toStreamJson(await getStream(db, parseStreamReference(args.id)), config.baseUrl),
  text: (stream) =>
    toTableLines(
      ['MEMBER', 'VALUE'],
      Object.entries(stream).map(([name, value]) => [name, toCell(value)]),
    ),
})

/** `heliograph streams set-status`. */
export const setStatusCommand = databaseCommand({
  name: 'set-status <id>',
  description: 'enable a stream, pause it (its events are held) or disable it (they are given up)',
  options: {
    status: choiceOption('--status <status>', 'the status', [
      'enabled',
      'paused',
      'disabled',
    ]).required(),
    reason: option('--reason <text>', 'why, for the receiver'),
  },
  run: ({ args, change, options: { status, reason = null } }) =>
    change((tx) => setStreamStatus(tx, parseStreamReference(args.id), { status, reason })),
  json: ({ streamId, status, statusReason }) => ({
    stream_id: streamId,
    status,
    reason: statusReason,
  }),
  text: ({ name, status }) => `The stream ${name} is ${status}.`,
})

/** `heliograph streams poll-token`. */
export const pollTokenCommand = databaseCommand({
  name: 'poll-token',
  description: 'issue a poll token for a stream, or revoke those it has; it is shown once',
  options: {
    stream: option('--stream <id>', 'the stream, by its id or stream id').required(),
    mode: choiceOption(
      '--mode <mode>',
      'what becomes of the tokens before',
      POLL_TOKEN_MODES,
    ).default('overlap'),
    overlapSeconds: parsedOption(
      '--overlap-seconds <n>',
      'how long they are accepted with overlap',
      parseWhole(1, OVERLAP_SECONDS_MAX),
    ).default(OVERLAP_SECONDS_DEFAULT),
  },
  async run({ change, options: { stream, mode, overlapSeconds } }) {
    const rotated = await change((tx) =>
      rotatePollToken(tx, parseStreamReference(stream), { mode, overlapSeconds }),
    )
    return { rotated, mode }
  },
  json: ({ rotated, mode }) => toRotatedJson(rotated, mode),
  text: ({ rotated }) =>
    rotated.token ?? `Revoked the poll tokens of the stream ${rotated.stream.name}.`,
})

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
