import { listen, verifyToken } from '@heliograph/receiver/cli'
import { EXIT_CODES } from '../command-io.ts'
import { command, commandGroup } from '../command.ts'
import { option, parsedOption } from '../option.ts'
import { parseWhole } from '../parse-arguments.ts'
import { receiverBenchCommand } from './receiver-bench-command.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import {
  audienceOption,
  EVENTS_MAX,
  KEY_OPTIONS,
  readReceiving,
  RECEIVING_OPTIONS,
} from './receiver-flags.ts'
import { receiverTriggerCommand } from './receiver-trigger-command.ts'

const listenCommand = command({
  name: 'listen',
  description: 'print every event that is pushed to a port, or polled from a URL',
  options: {
    ...RECEIVING_OPTIONS,
    events: parsedOption(
      '--events <n>',
      'end after this many events instead of on Ctrl-C',
      parseWhole(1, EVENTS_MAX),
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

/** `heliograph receiver listen|verify|trigger|bench`. */
export const receiverCommands = commandGroup([
  listenCommand,
  verifyCommand,
  receiverTriggerCommand,
  receiverBenchCommand,
])
