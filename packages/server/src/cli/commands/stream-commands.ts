import { SETTINGS } from '../../app/config/settings.ts'
import { toStreamHealth } from '../../signals/diagnosis/health/stream-health.ts'
import { toRotatedJson } from '../../signals/poll/poll-token-json.ts'
import {
  OVERLAP_SECONDS_DEFAULT,
  OVERLAP_SECONDS_MAX,
  POLL_TOKEN_MODES,
  rotatePollToken,
} from '../../signals/poll/rotate-poll-token.ts'
import { deleteStream } from '../../signals/streams/delete-stream.ts'
import { setStreamStatus } from '../../signals/streams/set-stream-status.ts'
import { toStreamJson } from '../../signals/streams/stream-json.ts'
import { getStream, listStreams, parseStreamReference } from '../../signals/streams/stream-store.ts'
import { EVERYTHING, toTable, toTableLines } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, option, wholeOption } from '../option.ts'
import { COMMAND_LINE_ORIGIN, settingOption } from '../run-command.ts'

const STREAM_OPTION = option('--stream <id>', 'the stream, by its id or stream id').required()

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

const show = databaseCommand({
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

const setStatus = databaseCommand({
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

const pollToken = databaseCommand({
  name: 'poll-token',
  description: 'issue a poll token for a stream, or revoke those it has; it is shown once',
  options: {
    stream: STREAM_OPTION,
    mode: choiceOption(
      '--mode <mode>',
      'what becomes of the tokens before',
      POLL_TOKEN_MODES,
    ).default('overlap'),
    overlapSeconds: wholeOption(
      '--overlap-seconds <n>',
      'how long they are accepted with overlap',
      OVERLAP_SECONDS_MAX,
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

/** Exit code 1 when the receiver judged an event wrongly. */
const selfTest = databaseCommand({
  name: 'self-test',
  description: 'push a good event and a dozen bad ones to a receiver and judge its answers',
  options: {
    stream: STREAM_OPTION,
    allowedTargets: settingOption(SETTINGS.allowedTargets),
    extraCa: settingOption(SETTINGS.extraCa),
  },
  async run({ options, services }) {
    // What sends and signs, which the other commands of streams do not need.
    const { openOutbound } = await import('../../app/outbound.ts')
    const { createSigningPart } = await import('../../signals/signing-part.ts')
    const { runSelfTest } = await import('../../signals/diagnosis/self-test/run-self-test.ts')
    const { toSelfTestJson } = await import('../../signals/diagnosis/self-test/self-test-json.ts')
    const { client } = await openOutbound(services.config)
    const signing = createSigningPart(services, services.config)
    try {
      await signing.start()
      const { keyRing } = signing
      const outcome = await runSelfTest(
        COMMAND_LINE_ORIGIN,
        (change) => getStream(change.tx, parseStreamReference(options.stream), { isLocked: true }),
        { ...services, keyRing, client },
      )
      return toSelfTestJson(outcome)
    } finally {
      await client.close()
      await signing.stop()
    }
  },
  text: ({ cases }) =>
    toTable(cases, {
      CASE: ({ name }) => name,
      VERDICT: ({ verdict }) => verdict,
      STATUS: ({ status }) => String(status ?? '-'),
      ERROR: (each) => each.error_code ?? '-',
      ADVICE: ({ advice }) => advice,
    }),
  isFailed: ({ passed }) => !passed,
})

const health = databaseCommand({
  name: 'health <stream>',
  description: 'show what waits, how long deliveries took and what went wrong last',
  run: async ({ args, services: { clock, db } }) =>
    toStreamHealth(db, await getStream(db, parseStreamReference(args.stream)), clock.now()),
  text: (health) => {
    const { queue, last_hour: hour } = health
    return [
      `${health.state}, ${health.status}, circuit ${health.circuit}`,
      `${queue.count} waiting, ${health.dead_letters.count} dead letters`,
      `${hour.count} delivered in the last hour, p50 ${hour.p50_ms ?? '-'} ms, p99 ${hour.p99_ms ?? '-'} ms`,
      `Last failure: ${health.last_failure ?? 'none'}`,
    ]
  },
})

/** `heliograph streams list|delete|show|set-status|poll-token|self-test|health`. */
export const definition = commandGroup([list, remove, show, setStatus, pollToken, selfTest, health])

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
