import type { Command } from 'commander'
import { listen, verifyToken } from '@heliograph/receiver/cli'
import { EXIT_CODES, type CommandIo } from '../command-io.ts'
import { collect, parseWhole } from '../parse-arguments.ts'
import { addReceiverBench } from './receiver-bench-command.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import {
  AUDIENCE_HELP,
  EVENTS_MAX,
  readReceiving,
  withKeyFlags,
  withSourceFlags,
  type KeyFlags,
  type ReceivingFlags,
} from './receiver-flags.ts'
import { addReceiverTrigger } from './receiver-trigger-command.ts'

/** `heliograph receiver listen|verify|trigger|bench`. */
export function addReceiverCommands(program: Command, io: CommandIo): void {
  const receiver = program.command('receiver').description('Receive and verify signed events')
  addListen(receiver, io)
  addVerify(receiver, io)
  addReceiverTrigger(receiver, io)
  addReceiverBench(receiver, io)
}

function addListen(receiver: Command, io: CommandIo): void {
  withSourceFlags(receiver.command('listen'))
    .description('print every event that is pushed to a port, or polled from a URL')
    .option(
      '--events <n>',
      'end after this many events instead of on Ctrl-C',
      parseWhole(1, EVENTS_MAX),
    )
    .action(async (flags: ReceivingFlags) => {
      await explainReceiverFailures(async () => {
        await listen({
          ...(await readReceiving(flags)),
          output: io.stdout,
          diagnostics: io.stderr,
          onReady: (url) => {
            io.stderr.write(`${flags.pollUrl === undefined ? 'listening on' : 'polling'} ${url}\n`)
          },
          signal: io.signal,
        })
      })
    })
}

function addVerify(receiver: Command, io: CommandIo): void {
  withKeyFlags(receiver.command('verify [token]'))
    .description('check a token, given or on the standard input, and show every check')
    .option('--issuer <url>', 'the issuer that the token must name')
    .option('--audience <aud>', AUDIENCE_HELP, collect(String))
    .action(async (token: string | undefined, flags: KeyFlags) => {
      await explainReceiverFailures(async () => {
        const result = await verifyToken({
          token,
          input: io.stdin,
          issuer: flags.issuer,
          audience: flags.audience,
          jwks: flags.jwks,
          isHttpAllowed: flags.allowHttp === true,
          isJson: flags.json === true,
          output: io.stdout,
        })
        io.setExitCode(result.isValid ? EXIT_CODES.ok : EXIT_CODES.failed)
      })
    })
}
