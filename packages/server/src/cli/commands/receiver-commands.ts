import { bench, listen, trigger, verifyToken } from '@heliograph/receiver/cli'
import { ConfigError } from '../../app/config/load-config.ts'
import { createProgress, EXIT_CODES } from '../command-io.ts'
import { command, commandGroup } from '../command.ts'
import { JSON_FLAG, option, wholeOption } from '../option.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import {
  ALLOW_HTTP,
  audienceOption,
  credentialOptions,
  EVENTS_MAX,
  KEY_OPTIONS,
  readCredential,
  readReceiving,
  RECEIVING_OPTIONS,
} from './receiver-flags.ts'

const SECONDS_MAX = 24 * 60 * 60

const listenCommand = command({
  name: 'listen',
  description: 'print every event that is pushed to a port, or polled from a URL',
  options: {
    ...RECEIVING_OPTIONS,
    events: wholeOption(
      '--events <n>',
      'end after this many events instead of on Ctrl-C',
      EVENTS_MAX,
    ),
  },
  run: ({ io, options: flags }) =>
    explainReceiverFailures(async () => {
      await listen({
        ...(await readReceiving(flags, flags.events)),
        output: io.stdout,
        diagnostics: io.stderr,
        onReady: (url) => {
          io.stderr.write(`${flags.pollUrl === undefined ? 'listening on' : 'polling'} ${url}\n`)
        },
        signal: io.signal,
      })
    }),
})

const verifyCommand = command({
  name: 'verify [token]',
  description: 'check a token, given or on the standard input, and show every check',
  options: {
    ...KEY_OPTIONS,
    issuer: option('--issuer <url>', 'the issuer that the token must name'),
    audience: audienceOption(),
  },
  run: ({ io, options: flags, parsed }) =>
    explainReceiverFailures(async () => {
      const result = await verifyToken({
        token: parsed.args[0],
        input: io.stdin,
        issuer: flags.issuer,
        audience: flags.audience,
        jwks: flags.jwks,
        isHttpAllowed: flags.allowHttp === true,
        isJson: flags.json === true,
        output: io.stdout,
      })
      io.setExitCode(result.isValid ? EXIT_CODES.ok : EXIT_CODES.failed)
    }),
})

const triggerCommand = command({
  name: 'trigger',
  description:
    'ask a transmitter for a verification event; `devices simulate-change` changes a device',
  options: {
    issuer: option(
      '--issuer <url>',
      'the transmitter; its discovery document names the endpoint',
    ).required(),
    stream: option('--stream <id>', 'the stream (`stream_id`)').required(),
    state: option('--state <text>', 'what the event shall carry back; random without it'),
    email: option('--email <email>', 'who asks, where the transmitter wants to know'),
    allowHttp: ALLOW_HTTP,
    json: JSON_FLAG,
    ...credentialOptions('the Authorization header to ask with'),
  },
  run: ({ io, options: flags }) =>
    explainReceiverFailures(async () => {
      const authorization = await readCredential(flags)
      if (authorization === undefined) {
        throw new ConfigError(['Give --authorization, --authorization-file or --client-id.'])
      }
      await trigger({
        issuer: flags.issuer,
        streamId: flags.stream,
        authorization,
        state: flags.state,
        ...(flags.email === undefined ? {} : { members: { email: flags.email } }),
        isHttpAllowed: flags.allowHttp === true,
        isJson: flags.json === true,
        output: io.stdout,
        signal: io.signal,
      })
    }),
})

/** Exit code 1 when no event came. */
const benchCommand = command({
  name: 'bench',
  description:
    'receive and verify events for some seconds; tell events per second, latency and cost',
  options: {
    ...RECEIVING_OPTIONS,
    seconds: wholeOption('--seconds <n>', 'how long events are received', SECONDS_MAX).default(10),
    events: wholeOption('--events <n>', 'end earlier, after this many events', EVENTS_MAX),
  },
  run: ({ io, options: flags }) =>
    explainReceiverFailures(async () => {
      const progress = createProgress(io)
      try {
        const report = await bench({
          ...(await readReceiving(flags, flags.events)),
          seconds: flags.seconds,
          output: { write: (text) => (progress.end(), io.stdout.write(text)) },
          diagnostics: { write: (text) => (progress.end(), io.stderr.write(text)) },
          onReady: (url) => {
            const verb = flags.pollUrl === undefined ? 'listening on' : 'polling'
            io.stderr.write(`${verb} ${url}\n`)
          },
          onProgress: (events, seconds) => {
            progress.update(`${Math.floor(seconds)} of ${flags.seconds} s, ${events} events`)
          },
          signal: io.signal,
        })
        io.setExitCode(report.events > 0 ? EXIT_CODES.ok : EXIT_CODES.failed)
      } finally {
        progress.end()
      }
    }),
})

/** `heliograph receiver listen|verify|trigger|bench`. */
export const definition = commandGroup([listenCommand, verifyCommand, triggerCommand, benchCommand])
