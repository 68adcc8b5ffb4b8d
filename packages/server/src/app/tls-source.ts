import { join } from 'node:path'
import { isTlsConfigured, type Config } from './config/load-config.ts'
import { ConfigError } from './config/load-config.ts'
import type { Clock } from '../platform/clock.ts'
import { createDataFolder } from '../platform/data-folder.ts'
import { loadTls } from '../platform/tls/load-tls.ts'
import { openSelfSignedTls } from '../platform/tls/self-signed-tls.ts'
import type { TlsMaterial } from '../platform/tls/tls-material.ts'

/** What the service presents to its clients, and how it stays valid. */
export interface TlsSource {
  readonly material: TlsMaterial
  /** The authority that agents must trust; undefined when the certificate was given. */
  readonly caPem: string | undefined
  /** New material when the present one is about to expire. */
  renewIfDue(): Promise<TlsMaterial | undefined>
}

/**
 * Opens the certificate of the configuration; undefined when the service speaks plain HTTP.
 *
 * @throws ConfigError when the files cannot be used
 */
export async function openTlsSource(config: Config, clock: Clock): Promise<TlsSource | undefined> {
  if (!isTlsConfigured(config)) return undefined
  try {
    return await open(config, clock)
  } catch (error) {
    if (error instanceof Error) throw new ConfigError([`HELIOGRAPH_TLS_CERT: ${error.message}`])
    throw error
  }
}

async function open(config: Config, clock: Clock): Promise<TlsSource> {
  const { tlsCert, tlsKey } = config
  const isGiven = tlsCert !== undefined && tlsKey !== undefined && tlsCert !== 'self-signed'
  if (isGiven && tlsKey !== 'self-signed') {
    const material = await loadTls({ certPath: tlsCert, keyPath: tlsKey }, clock)
    return { material, caPem: undefined, renewIfDue: async () => undefined }
  }
  await createDataFolder(config.dataDir)
  const source = await openSelfSignedTls({
    folder: join(config.dataDir, 'tls'),
    names: [new URL(config.baseUrl).hostname, config.host],
    clock,
  })
  return {
    material: source.current,
    caPem: source.current.caPem,
    renewIfDue: () => source.renewIfDue(),
  }
}
