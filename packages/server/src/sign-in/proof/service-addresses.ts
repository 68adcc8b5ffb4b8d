import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { MINUTE_MS } from '../../platform/clock.ts'
import { normaliseAddress } from './socket-question.ts'

/** Finds the addresses of a name. Rejects for a name that has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>

const KEPT_MS = MINUTE_MS

const resolveByHost: ResolveName = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address)

/**
 * Tells the addresses that the name of the service has, asked for again every minute. A name that cannot be resolved
 * here has none: the addresses that agents use count anyway.
 */
export function createServiceAddresses(
  baseUrl: string,
  resolve: ResolveName = resolveByHost,
): () => Promise<readonly string[]> {
  const host = new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, '$1')
  let known: readonly string[] = []
  let knownAtMs = -Infinity
  return async () => {
    if (isIP(host) !== 0) return [normaliseAddress(host)]
    if (performance.now() - knownAtMs > KEPT_MS) {
      known = (await resolve(host).catch(() => [])).map(normaliseAddress)
      knownAtMs = performance.now()
    }
    return known
  }
}
