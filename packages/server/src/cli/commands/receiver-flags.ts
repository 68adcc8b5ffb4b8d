import { readFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import { createClientCredentials, type Authorization } from '@heliograph/receiver'
import type { ListenSource } from '@heliograph/receiver/cli'
import { ConfigError } from '../../app/config/load-config.ts'
import { collect, parseWhole } from '../parse-arguments.ts'

/** Flags that say where keys are. */
export interface KeyFlags {
  issuer?: string
  jwks?: string
  allowHttp?: true
  audience?: string[]
  json?: true
}

/** Flags that say how requests to a transmitter are authorised. */
export interface CredentialFlags {
  authorization?: string
  authorizationFile?: string
  clientId?: string
  clientSecretFile?: string
  tokenEndpoint?: string
  scope?: string
  allowHttp?: true
}

/** Flags that say how events come in. */
export interface SourceFlags extends CredentialFlags {
  port: number
  host: string
  pollUrl?: string
  pollForm: 'post' | 'get'
}

/** Flags of commands that receive and verify events. */
export interface ReceivingFlags extends KeyFlags, SourceFlags {
  issuer: string
  audience: string[]
  events?: number
  allowHttp?: true
}

/** The most events that `--events` may name. */
export const EVENTS_MAX = 1_000_000_000

export const AUDIENCE_HELP = 'accepted audience (`aud` of the stream); may be repeated'

/** `--jwks`, `--allow-http` and `--json`. */
export function withKeyFlags(command: Command): Command {
  return command
    .option('--jwks <location>', 'URL or file of the keys instead of discovery')
    .option('--allow-http', 'allow plain HTTP beyond this machine')
    .option('--json', 'print JSON')
}

/** The flags of {@link KeyFlags} and {@link SourceFlags}, with issuer and audience demanded. */
export function withSourceFlags(command: Command): Command {
  return withCredentialFlags(
    withKeyFlags(command)
      .requiredOption(
        '--issuer <url>',
        'issuer of the events; its discovery document names the keys',
      )
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
      ),
    'the Authorization header to demand of pushes, or to poll with',
  )
}

/** The flags of {@link CredentialFlags}. */
export function withCredentialFlags(command: Command, authorizationHelp: string): Command {
  return command
    .option('--authorization <header>', authorizationHelp)
    .option(
      '--authorization-file <path>',
      'a file that holds it, so that it shows in no process list',
    )
    .option('--client-id <id>', 'get access tokens as this OAuth client instead')
    .option('--client-secret-file <path>', 'a file that holds the secret of the client')
    .option('--token-endpoint <url>', 'where the client gets access tokens')
    .option('--scope <scopes>', 'scopes to ask for', 'ssf.read ssf.manage')
}

/**
 * What flags say of where events come from and how they are verified.
 *
 * @throws ConfigError for flags that do not go together
 */
export async function readReceiving(flags: ReceivingFlags) {
  const { issuer, audience, jwks, events } = flags
  return {
    source: await readSource(flags),
    issuer,
    audience,
    jwks,
    isHttpAllowed: flags.allowHttp === true,
    isJson: flags.json === true,
    ...(events === undefined ? {} : { eventsMax: events }),
  }
}

async function readSource(flags: SourceFlags): Promise<ListenSource> {
  if (flags.pollUrl !== undefined) {
    const authorization = await readCredential(flags)
    return { method: 'poll', url: flags.pollUrl, authorization, form: flags.pollForm }
  }
  if (flags.clientId !== undefined) throw new ConfigError(['--client-id needs --poll-url.'])
  const authorization = await readHeader(flags)
  return { method: 'push', host: flags.host, port: flags.port, authorization }
}

/** @throws ConfigError for flags that do not go together. */
export async function readCredential(flags: CredentialFlags): Promise<Authorization | undefined> {
  const { clientId, clientSecretFile, tokenEndpoint, scope } = flags
  if (clientId === undefined) return readHeader(flags)
  if (clientSecretFile === undefined || tokenEndpoint === undefined) {
    throw new ConfigError(['--client-id needs --client-secret-file and --token-endpoint.'])
  }
  const clientSecret = (await readFile(clientSecretFile, 'utf8')).trim()
  return createClientCredentials({
    tokenEndpoint,
    clientId,
    authentication: { method: 'client_secret_basic', clientSecret },
    isHttpAllowed: flags.allowHttp === true,
    ...(scope === undefined ? {} : { scope }),
  })
}

async function readHeader(flags: CredentialFlags): Promise<string | undefined> {
  if (flags.authorizationFile === undefined) return flags.authorization
  return (await readFile(flags.authorizationFile, 'utf8')).trim()
}
