/**
 * Remembers which SETs were handled, so that one that comes again is not handled again. Implement
 * it over your own database to share the memory between processes; keep entries at least as long
 * as the transmitter retries.
 */
export interface JtiStore {
  isSeen(jti: string): boolean | Promise<boolean>
  /** Called after the SET was handled; must be idempotent. */
  markSeen(jti: string): void | Promise<void>
}

/**
 * Remembers the latest entries in memory; the oldest is forgotten first. Lost with the process.
 *
 * @param options.entriesMax Default 10000.
 */
export function createMemoryJtiStore(options: { readonly entriesMax?: number } = {}): JtiStore {
  const entriesMax = options.entriesMax ?? 10_000
  const seen = new Set<string>()
  return {
    isSeen: (jti) => seen.has(jti),
    markSeen: (jti) => {
      seen.delete(jti)
      seen.add(jti)
      const [oldest] = seen
      if (seen.size > entriesMax && oldest !== undefined) seen.delete(oldest)
    },
  }
}
