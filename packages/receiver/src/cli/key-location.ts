import { readFile } from 'node:fs/promises'
import { parseJson } from '../capped-body.ts'
import { discoverTransmitter } from '../discovery.ts'
import { TransmitterError } from '../errors.ts'
import {
  createLocalKeySource,
  createRemoteKeySource,
  readJwks,
  type KeySource,
} from '../key-source.ts'

/** Where the keys of the transmitter are. */
export interface KeyLocation {
  /** URL or file of the JWKS; without it, the issuer's discovery document names it. */
  readonly jwks?: string | undefined
  readonly issuer?: string | undefined
  /** Allows plain HTTP beyond the loopback interface. */
  readonly isHttpAllowed?: boolean
}

/**
 * Opens the keys at a location.
 *
 * @throws TypeError when the location cannot be used, or neither JWKS nor issuer is given.
 * @throws TransmitterError when the discovery document cannot be had.
 */
export async function openKeySource(location: KeyLocation): Promise<KeySource> {
  const isHttpAllowed = location.isHttpAllowed ?? false
  const jwks = location.jwks ?? (await discoverJwksUri(location.issuer, isHttpAllowed))
  if (/^https?:\/\//i.test(jwks)) return createRemoteKeySource({ jwksUri: jwks, isHttpAllowed })
  return createLocalKeySource(readJwks(parseJson(await readFile(jwks, 'utf8'))))
}

async function discoverJwksUri(
  issuer: string | undefined,
  isHttpAllowed: boolean,
): Promise<string> {
  if (issuer === undefined) throw new TypeError('give a JWKS or an issuer')
  const configuration = await discoverTransmitter(issuer, { isHttpAllowed })
  if (configuration.jwks_uri !== undefined) return configuration.jwks_uri
  throw new TransmitterError('bad_response', 'the discovery document names no jwks_uri')
}
