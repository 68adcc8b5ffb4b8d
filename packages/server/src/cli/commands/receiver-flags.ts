import { readFile } from 'node:fs/promises'
import { createClientCredentials, type Authorization } from '@heliograph/receiver'
import type { ListenSource } from '@heliograph/receiver/cli'
import { ConfigError } from '../../app/config/load-config.ts'
import type { OptionValues } from '../command.ts'
import {
  choiceOption,
  flag,
  JSON_FLAG,
  option,
  type OptionSpec,
  repeatedOption,
  wholeOption,
} from '../option.ts'

/** The most events that `--events` may name. */
export const EVENTS_MAX = 1_000_000_000

/** `--allow-http`. */
export const ALLOW_HTTP = flag('--allow-http', 'allow plain HTTP beyond this machine')

/** Where the keys are that tokens are verified with. */
export const KEY_OPTIONS = {
  jwks: option('--jwks <location>', 'URL or file of the keys instead of discovery'),
  allowHttp: ALLOW_HTTP,
  json: JSON_FLAG,
}

/** `--audience`. */
export function audienceOption(): OptionSpec<string[] | undefined> {
  const description = 'accepted audience (`aud` of the stream); may be repeated'
  return repeatedOption('--audience <aud>', description, String)
}

/** How requests to a transmitter are authorised. */
export function credentialOptions(authorizationHelp: string) {
  return {
    authorization: option('--authorization <header>', authorizationHelp),
    authorizationFile: option(
      '--authorization-file <path>',
      'a file that holds it, so that it shows in no process list',
    ),
    clientId: option('--client-id <id>', 'get access tokens as this OAuth client instead'),
    clientSecretFile: option(
      '--client-secret-file <path>',
      'a file that holds the secret of the client',
    ),
    tokenEndpoint: option('--token-endpoint <url>', 'where the client gets access tokens'),
    scope: option('--scope <scopes>', 'scopes to ask for').default('ssf.read ssf.manage'),
  }
}

/** Where events come from and how they are verified. */
export const RECEIVING_OPTIONS = {
  ...KEY_OPTIONS,
  issuer: option(
    '--issuer <url>',
    'issuer of the events; its discovery document names the keys',
  ).required(),
  audience: audienceOption().required(),
  port: wholeOption(
    '--port <n>',
    'port that events are pushed to; 0 takes a free one',
    65_535,
    0,
  ).default(0),
  host: option('--host <address>', 'address that events are pushed to').default('127.0.0.1'),
  pollUrl: option('--poll-url <url>', 'poll this URL instead'),
  pollForm: choiceOption('--poll-form <form>', 'POST as in RFC 8936, or GET', [
    'post',
    'get',
  ]).default('post'),
  ...credentialOptions('the Authorization header to demand of pushes, or to poll with'),
}

type ReceivingFlags = OptionValues<typeof RECEIVING_OPTIONS>
type CredentialFlags = OptionValues<
  ReturnType<typeof credentialOptions> & { allowHttp: typeof ALLOW_HTTP }
>

/**
 * What flags say of where events come from and how they are verified.
 *
 * @throws ConfigError for flags that do not go together
 */
export async function readReceiving(flags: ReceivingFlags, eventsMax: number | undefined) {
  const { issuer, audience, jwks } = flags
  return {
    source: await readSource(flags),
    issuer,
    audience,
    jwks,
    isHttpAllowed: flags.allowHttp === true,
    isJson: flags.json === true,
    ...(eventsMax === undefined ? {} : { eventsMax }),
  }
}

async function readSource(flags: ReceivingFlags): Promise<ListenSource> {
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
    scope,
  })
}

async function readHeader(flags: CredentialFlags): Promise<string | undefined> {
  if (flags.authorizationFile === undefined) return flags.authorization
  return (await readFile(flags.authorizationFile, 'utf8')).trim()
}
