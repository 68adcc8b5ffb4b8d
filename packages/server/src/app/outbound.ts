import { readFile } from 'node:fs/promises'
import { createGuardedClient } from '../platform/net/guarded-client.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { parseAllowedTargets } from '../platform/net/target-policy.ts'
import { ConfigError, type Config } from './config/load-config.ts'

/** A receiver that does not answer holds its share of connections; others on its host need theirs. */
const RECEIVERS_PER_ORIGIN = 4

/**
 * Creates the guarded client of the configuration; it opens no connection before its first request.
 *
 * @throws ConfigError for targets or certificate authorities that cannot be read
 */
export async function openOutbound(config: Config): Promise<Outbound> {
  const targets = parseAllowedTargets(config.allowedTargets)
  if (!targets.ok) throw new ConfigError([`HELIOGRAPH_ALLOWED_TARGETS: ${targets.reason}`])
  try {
    const extraCa =
      config.extraCa === undefined ? undefined : await readFile(config.extraCa, 'utf8')
    const client = createGuardedClient({
      policy: targets.policy,
      userAgent: 'Heliograph',
      extraCa,
      limits: {
        connectionsPerOriginMax: config.deliveryConcurrency * RECEIVERS_PER_ORIGIN,
      },
    })
    return { policy: targets.policy, client }
  } catch (error) {
    if (error instanceof Error) throw new ConfigError([`HELIOGRAPH_EXTRA_CA: ${error.message}`])
    throw error
  }
}
