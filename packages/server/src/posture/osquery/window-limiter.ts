/** Counts events by key in the last minute of this process. Memory is bounded by `KEYS_MAX` keys. */
export interface WindowLimiter {
  /** Whether the key has reached the limit. */
  isExhausted(key: string, nowMs: number): boolean
  count(key: string, nowMs: number): void
}

const WINDOW_MS = 60_000
const KEYS_MAX = 50_000

/** Creates a limiter that allows `limit` events in any minute for each key. */
export function createWindowLimiter(limit: number): WindowLimiter {
  const timesByKey = new Map<string, number[]>()
  // Times ahead are of a clock that was set back: they would count until it has caught up.
  const recent = (key: string, nowMs: number) =>
    (timesByKey.get(key) ?? []).filter((time) => time > nowMs - WINDOW_MS && time <= nowMs)
  return {
    isExhausted: (key, nowMs) => recent(key, nowMs).length >= limit,
    count(key, nowMs) {
      const times = [...recent(key, nowMs), nowMs].slice(-limit)
      timesByKey.delete(key)
      timesByKey.set(key, times)
      const [oldest] = timesByKey.keys()
      if (timesByKey.size > KEYS_MAX && oldest !== undefined) timesByKey.delete(oldest)
    },
  }
}
