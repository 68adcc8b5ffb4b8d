import { readFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import { TransmitterError } from '@heliograph/receiver'
import { listen, verifyToken, type ListenSource } from '@heliograph/receiver/cli'
import { AppError } from '../../platform/app-error.ts'
import { ConfigError } from '../../config/load-config.ts'
import { EXIT_CODES, type CommandIo } from '../command-io.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'
import { collect, parseWhole } from '../parse-arguments.ts'

interface KeyFlags {
  issuer?: string
  jwks?: string
  allowHttp?: true
  audience?: string[]
  json?: true
}

interface ListenFlags extends KeyFlags {
  issuer: string
  audience: string[]
  port: number
  host: string
  pollUrl?: string
  pollForm: 'post' | 'get'
  authorization?: string
  authorizationFile?: string
  events?: number
}

const AUDIENCE_HELP = 'accepted audience (`aud` of the stream); may be repeated'
const EVENTS_MAX = 1_000_000_000

/** `heliograph receiver listen|verify`. */
export function addReceiverCommands(program: Command, io: CommandIo): void {
  const receiver = program.command('receiver').description('Receive and verify signed events')
  addListen(receiver, io)
  addVerify(receiver, io)
}

function addListen(receiver: Command, io: CommandIo): void {
  withKeyFlags(receiver.command('listen'))
    .description('print every event that is pushed to a port, or polled from a URL')
    .requiredOption('--issuer <url>', 'issuer of the events; its discovery document names the keys')
    .requiredOption('--audience <aud>', AUDIENCE_HELP, collect(String))
    .option(
      '--port <n>',
      'port that events are pushed to; 0 takes a free one',
      parseWhole(0, 65_535),
      0,
    )
    .option('--host <address>', 'address that events are pushed to', '127.0.0.1')
    .option('--poll-url <url>', 'poll this URL instead')
    .addOption(
      new Option('--poll-form <form>', 'POST as in RFC 8936, or GET')
        .choices(['post', 'get'])
        .default('post'),
    )
    .option(
      '--authorization <header>',
      'the Authorization header to demand of pushes, or to poll with',
    )
    .option(
      '--authorization-file <path>',
      'a file that holds it, so that it shows in no process list',
    )
    .option(
      '--events <n>',
      'end after this many events instead of on Ctrl-C',
      parseWhole(1, EVENTS_MAX),
    )
    .action(async (flags: ListenFlags) => {
      await explainFailures(async () => {
        await listen({
          source: await toSource(flags),
          issuer: flags.issuer,
          audience: flags.audience,
          jwks: flags.jwks,
          isHttpAllowed: flags.allowHttp === true,
          isJson: flags.json === true,
          ...(flags.events === undefined ? {} : { eventsMax: flags.events }),
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
      await explainFailures(async () => {
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

function withKeyFlags(command: Command): Command {
  return command
    .option('--jwks <location>', 'URL or file of the keys instead of discovery')
    .option('--allow-http', 'allow plain HTTP beyond this machine')
    .option('--json', 'print JSON')
}

async function toSource(flags: ListenFlags): Promise<ListenSource> {
  const authorization =
    flags.authorizationFile === undefined
      ? flags.authorization
      : (await readFile(flags.authorizationFile, 'utf8')).trim()
  if (flags.pollUrl === undefined) {
    return { method: 'push', host: flags.host, port: flags.port, authorization }
  }
  return { method: 'poll', url: flags.pollUrl, authorization, form: flags.pollForm }
}

/** The receiver's own failures, as the command line tells failures. */
async function explainFailures(work: () => Promise<void>): Promise<void> {
  try {
    await explainSystemErrors(work)
  } catch (error) {
    if (error instanceof TypeError) throw new ConfigError([error.message])
    if (!(error instanceof TransmitterError)) throw error
    throw new AppError('unavailable', 'unavailable', describe(error))
  }
}

/** A failed request says why only in the cause of its cause. */
function describe(error: Error): string {
  const texts: string[] = []
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    if (next.message !== '' && next.message !== 'fetch failed') texts.push(next.message)
  }
  return `${texts.join(': ')}.`
}
