import { readFile } from 'node:fs/promises'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { AppError } from '../../platform/app-error.ts'
import type { ClientJwks } from '../../schema/tables/ssf-client-tables.ts'
import {
  createSsfClient,
  revokeSsfClient,
  rotateClientSecret,
  type IssuedClient,
} from '../../signals/clients/change-client.ts'
import { toClientJson } from '../../signals/clients/client-json.ts'
import { clientJwksInput } from '../../signals/clients/client-jwks.ts'
import { parseScopes, SSF_SCOPES, type SsfScope } from '../../signals/clients/client-scopes.ts'
import { listClients } from '../../signals/clients/client-store.ts'
import {
  STREAM_PROFILE_NAMES,
  type StreamProfileName,
} from '../../signals/streams/stream-choices.ts'
import { toStrictUrls } from '../../surfaces/standard-ssf/strict-urls.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface CreateOptions {
  name: string
  scope: SsfScope[]
  audience?: string
  defaultSubjects?: 'ALL' | 'NONE'
  profile: StreamProfileName
  jwks?: string
  json?: true
}

const WEEK_SECONDS = 604_800
const SHOWN_MAX = 10_000
const ALL_SCOPES = SSF_SCOPES.join(' ')

/** `heliograph ssf-clients create|list|rotate-secret|revoke`. */
export function addSsfClientCommands(program: Command, io: CommandIo): void {
  const clients = program
    .command('ssf-clients')
    .description('OAuth clients of the strict Shared Signals face')
  addCreate(clients, io)
  addList(clients, io)
  addRotate(clients, io)
  addRevoke(clients, io)
}

function addCreate(clients: Command, io: CommandIo): void {
  withDatabaseFlags(clients.command('create'))
    .description('create a client; its secret is shown once')
    .requiredOption('--name <name>', 'which receiver it is for')
    .option(
      '--scope <scopes>',
      `what its tokens may be good for: ${ALL_SCOPES}`,
      parseScopeOption,
      parseScopeOption(ALL_SCOPES),
    )
    .option('--audience <audience>', 'the audience of its events; its client id by default')
    .option(
      '--default-subjects <which>',
      'ALL or NONE: which subjects its streams begin with',
      parseDefaultSubjects,
    )
    .addOption(
      new Option('--profile <profile>', 'which choices its streams begin with')
        .choices(STREAM_PROFILE_NAMES)
        .default('strict'),
    )
    .option('--jwks <file>', 'its public keys: it then signs assertions and has no secret')
    .action(async (options: CreateOptions, command: Command) => {
      const jwks = options.jwks === undefined ? null : await readJwks(options.jwks)
      await runWithServices(io, command, async ({ config, runChange }) => {
        const issued = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          createSsfClient(change, {
            name: options.name,
            scopes: options.scope,
            audience: options.audience ?? null,
            defaultSubjects: options.defaultSubjects ?? null,
            profile: options.profile,
            jwks,
          }),
        )
        printIssued(io, issued, config.baseUrl, options.json)
      })
    })
}

function addList(clients: Command, io: CommandIo): void {
  withDatabaseFlags(clients.command('list'))
    .description('list the clients, without their secrets')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db, clock }) => {
        const window = { afterId: undefined, limit: SHOWN_MAX }
        const all = (await listClients(db, window, clock.now())).map((client) =>
          toClientJson(client, client.secrets),
        )
        if (options.json) printJson(io, all)
        else {
          printTable(
            io,
            ['ID', 'CLIENT ID', 'NAME', 'SCOPES', 'AUTHENTICATION', 'STATE', 'LAST USED'],
            all.map((client) => [
              client.id,
              client.client_id,
              client.name,
              client.scopes.join(' '),
              client.authentication_method,
              client.revoked_at === null ? 'live' : 'revoked',
              client.last_used_at ?? 'never',
            ]),
          )
        }
      })
    })
}

function addRotate(clients: Command, io: CommandIo): void {
  withDatabaseFlags(clients.command('rotate-secret <client>'))
    .description('give a client, by its id or client id, a new secret')
    .option(
      '--overlap-seconds <n>',
      'how long the secrets before it keep working',
      parseWhole(0, WEEK_SECONDS),
      86_400,
    )
    .action(
      async (
        client: string,
        options: { overlapSeconds: number; json?: true },
        command: Command,
      ) => {
        await runWithServices(io, command, async ({ config, runChange }) => {
          const issued = await runChange(COMMAND_LINE_ORIGIN, (change) =>
            rotateClientSecret(change, client, options.overlapSeconds),
          )
          printIssued(io, issued, config.baseUrl, options.json)
        })
      },
    )
}

function addRevoke(clients: Command, io: CommandIo): void {
  withDatabaseFlags(clients.command('revoke <client>'))
    .description('end a client with its tokens at once, and disable its streams')
    .action(async (identifier: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const client = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          revokeSsfClient(change, identifier, () => undefined),
        )
        const { id, client_id, revoked_at } = client
        if (options.json) printJson(io, { id, client_id, revoked_at })
        else printLine(io, `Revoked the client ${client.name} (${client_id}).`)
      })
    })
}

function printIssued(
  io: CommandIo,
  { client, secret }: IssuedClient,
  baseUrl: string,
  isJson: true | undefined,
): void {
  const { tokenEndpoint } = toStrictUrls(baseUrl)
  if (isJson) {
    printJson(io, {
      client_id: client.client_id,
      client_secret: secret,
      token_endpoint: tokenEndpoint,
    })
    return
  }
  printLine(io, `Client id:      ${client.client_id}`)
  if (secret !== null) printLine(io, `Client secret:  ${secret}`)
  printLine(io, `Token endpoint: ${tokenEndpoint}`)
}

async function readJwks(path: string): Promise<ClientJwks> {
  const parsed = clientJwksInput.safeParse(parseJson(await readText(path)))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const place = issue?.path.join('.') ?? ''
  throw invalidFile(
    `The file ${path} is not a set of public keys: ${place} ${issue?.message ?? ''}`,
  )
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    throw invalidFile(`The file ${path} cannot be read.`)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function invalidFile(message: string): AppError {
  return new AppError('invalid', 'invalid_body', message)
}

function parseScopeOption(text: string): SsfScope[] {
  const scopes = parseScopes(text)
  if (scopes !== undefined) return scopes
  throw new InvalidArgumentError(`It is one or more of: ${ALL_SCOPES}.`)
}

function parseDefaultSubjects(text: string): 'ALL' | 'NONE' {
  if (text === 'ALL' || text === 'NONE') return text
  throw new InvalidArgumentError('It is ALL or NONE.')
}
