import { readFile } from 'node:fs/promises'
import { describeFault } from '@heliograph/ssf'
import { InvalidArgumentError } from 'commander'
import { AppError } from '../../platform/app-error.ts'
import type { ClientJwks } from '../../schema/tables/ssf-client-tables.ts'
import {
  CLIENT_AUDIENCE_LENGTH_MAX,
  CLIENT_NAME_LENGTH_MAX,
  createSsfClient,
  revokeSsfClient,
  rotateClientSecret,
  type IssuedClient,
} from '../../signals/clients/change-client.ts'
import { toClientJson } from '../../signals/clients/client-json.ts'
import { publicJwksInput } from '../../platform/wire/public-jwks-input.ts'
import { parseScopes, SSF_SCOPES, type SsfScope } from '../../signals/clients/client-scopes.ts'
import { listClients } from '../../signals/clients/client-store.ts'
import { STREAM_PROFILE_NAMES } from '../../signals/streams/stream-choices.ts'
import { toSurfaceUrls } from '../../signals/streams/surface-urls.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, option, parsedOption, textOption, wholeOption } from '../option.ts'

const WEEK_SECONDS = 604_800
const ALL_SCOPES = SSF_SCOPES.join(' ')

const create = databaseCommand({
  name: 'create',
  description: 'create a client; its secret is shown once',
  options: {
    name: textOption(
      '--name <name>',
      'which receiver it is for',
      CLIENT_NAME_LENGTH_MAX,
    ).required(),
    scope: parsedOption(
      '--scope <scopes>',
      `what its tokens may be good for: ${ALL_SCOPES}`,
      parseScopeOption,
    ).default(parseScopeOption(ALL_SCOPES)),
    audience: textOption(
      '--audience <audience>',
      'the audience of its events; its client id by default',
      CLIENT_AUDIENCE_LENGTH_MAX,
    ),
    defaultSubjects: parsedOption(
      '--default-subjects <which>',
      'ALL or NONE: which subjects its streams begin with',
      parseDefaultSubjects,
    ),
    profile: choiceOption(
      '--profile <profile>',
      'which choices its streams begin with',
      STREAM_PROFILE_NAMES,
    ).default('strict'),
    jwks: option('--jwks <file>', 'its public keys: it then signs assertions and has no secret'),
  },
  async run({ change, options }) {
    const jwks = options.jwks === undefined ? null : await readJwks(options.jwks)
    return change((tx) =>
      createSsfClient(tx, {
        name: options.name,
        scopes: options.scope,
        audience: options.audience ?? null,
        defaultSubjects: options.defaultSubjects ?? null,
        profile: options.profile,
        jwks,
      }),
    )
  },
  json: (issued, { services }) => toIssuedJson(issued, services.config.baseUrl),
  text: (issued, { services }) => toIssuedText(issued, services.config.baseUrl),
})

const list = databaseCommand({
  name: 'list',
  description: 'list the clients, without their secrets',
  async run({ services: { clock, db } }) {
    const clients = await listClients(db, EVERYTHING, clock.now())
    return clients.map((client) => toClientJson(client, client.secrets))
  },
  text: (clients) =>
    toTable(clients, {
      ID: ({ id }) => id,
      'CLIENT ID': (client) => client.client_id,
      NAME: ({ name }) => name,
      SCOPES: ({ scopes }) => scopes.join(' '),
      AUTHENTICATION: (client) => client.authentication_method,
      STATE: (client) => (client.revoked_at === null ? 'live' : 'revoked'),
      'LAST USED': (client) => client.last_used_at ?? 'never',
    }),
})

const rotateSecret = databaseCommand({
  name: 'rotate-secret <client>',
  description: 'give a client, by its id or client id, a new secret',
  options: {
    overlapSeconds: wholeOption(
      '--overlap-seconds <n>',
      'how long the secrets before it keep working',
      WEEK_SECONDS,
      0,
    ).default(86_400),
  },
  run: ({ args, change, options }) =>
    change((tx) => rotateClientSecret(tx, args.client, options.overlapSeconds)),
  json: (issued, { services }) => toIssuedJson(issued, services.config.baseUrl),
  text: (issued, { services }) => toIssuedText(issued, services.config.baseUrl),
})

const revoke = databaseCommand({
  name: 'revoke <client>',
  description: 'end a client with its tokens at once, and disable its streams',
  run: ({ args, change }) => change((tx) => revokeSsfClient(tx, args.client)),
  json: ({ id, clientId: client_id, revokedAt: revoked_at }) => ({ id, client_id, revoked_at }),
  text: ({ name, clientId: client_id }) => `Revoked the client ${name} (${client_id}).`,
})

/** `heliograph ssf-clients create|list|rotate-secret|revoke`. */
export const definition = commandGroup([create, list, rotateSecret, revoke])

function toIssuedJson({ client, secret }: IssuedClient, baseUrl: string) {
  const { tokenEndpoint } = toSurfaceUrls(baseUrl)
  return { client_id: client.clientId, client_secret: secret, token_endpoint: tokenEndpoint }
}

function toIssuedText({ client, secret }: IssuedClient, baseUrl: string): string[] {
  return [
    `Client id:      ${client.clientId}`,
    ...(secret === null ? [] : [`Client secret:  ${secret}`]),
    `Token endpoint: ${toSurfaceUrls(baseUrl).tokenEndpoint}`,
  ]
}
async function readJwks(path: string): Promise<ClientJwks> {
  const parsed = publicJwksInput.safeParse(parseJson(await readText(path)), {
    error: describeFault,
  })
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
  return new AppError('invalid_body', message)
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
