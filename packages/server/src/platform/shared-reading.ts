import type { Clock } from './clock.ts'

export interface SharedReadingOptions {
  readonly clock: Clock
  /** For how long a reading stands for those who ask next. */
  readonly freshMs: number
  /** Readings of more keys than this are not kept. */
  readonly keysMax: number
}

interface Reading<Value> {
  readonly at: number
  readonly value: Promise<Value>
}

/**
 * Has everybody who asks within a short time share one reading: what many look at costs what it costs one.
 * A reading that failed is shared with those who wait for it, and by nobody after them.
 */
export function shareReading<Value>(
  read: (key: string) => Promise<Value>,
  { clock, freshMs, keysMax }: SharedReadingOptions,
): (key: string) => Promise<Value> {
  const readings = new Map<string, Reading<Value>>()
  return (key) => {
    const now = clock.now().getTime()
    const known = readings.get(key)
    if (known !== undefined && Math.abs(now - known.at) < freshMs) return known.value
    const reading = { at: now, value: read(key) }
    readings.delete(key)
    readings.set(key, reading)
    reading.value.catch(() => {
      if (readings.get(key) === reading) readings.delete(key)
    })
    const [oldest] = readings.keys()
    if (readings.size > keysMax && oldest !== undefined) readings.delete(oldest)
    return reading.value
  }
}
