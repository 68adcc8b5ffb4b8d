import { requireAmounts } from './require-amounts.ts'

/**
 * Remembers which SETs were handled, so that one that comes again is not handled again. A `jti` is
 * unique for one issuer only (RFC 8417 section 2.2), so an entry is the pair. Implement it over your
 * own database to share the memory between processes; keep entries at least as long as the
 * transmitter retries.
 */
export interface JtiStore {
  isSeen(jti: string, iss: string): boolean | Promise<boolean>
  /** Called after the SET was handled; must be idempotent, and return when the entry is durable. */
  markSeen(jti: string, iss: string): void | Promise<void>
}

/** One text for the pair, which no other pair has. */
export function toSeenKey(jti: string, iss: string): string {
  return JSON.stringify([iss, jti])
}

/**
 * Remembers the latest entries in memory; the oldest is forgotten first. Lost with the process.
 *
 * @param options.entriesMax How many of the latest entries are kept. Default 10000.
 * @throws TypeError when that is no number.
 */
export function createMemoryJtiStore(options: { readonly entriesMax?: number } = {}): JtiStore {
  const entriesMax = options.entriesMax ?? 10_000
  requireAmounts({ entriesMax })
  const seen = new Set<string>()
  return {
    isSeen: (jti, iss) => seen.has(toSeenKey(jti, iss)),
    markSeen: (jti, iss) => {
      const key = toSeenKey(jti, iss)
      seen.delete(key)
      seen.add(key)
      const [oldest] = seen
      if (seen.size > entriesMax && oldest !== undefined) seen.delete(oldest)
    },
  }
}
