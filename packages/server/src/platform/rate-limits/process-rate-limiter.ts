/*
 * Limits that this process keeps alone, for while the database stores nothing: reads go on being answered then. Each
 * process begins to count at nothing, so that with the places that the database has given out a caller gets at most the
 * limit once more from each of them in a window.
 */
import { SECOND_MS, type Clock } from '../clock.ts'
import type { TakenPlaces } from './rate-limiter.ts'

/** More callers than these are refused, lest whoever comes as many has them forgotten. */
const BUCKETS_MAX = 10_000

interface Bucket {
  readonly windowMs: number
  /** When requests were accepted, on the steady clock, in their order. */
  times: readonly number[]
}

export class ProcessRateLimiter {
  readonly #clock: Clock
  readonly #buckets = new Map<string, Bucket>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes as many places of a bucket as are free of those asked for. */
  take(bucket: string, capacity: number, count: number, windowSeconds: number): TakenPlaces {
    const nowMs = performance.now()
    const windowMs = windowSeconds * SECOND_MS
    const times = listWithin(this.#buckets.get(bucket), nowMs)
    const accepted = this.#hasRoom(bucket, nowMs)
      ? Math.min(count, Math.max(0, capacity - times.length))
      : 0
    const taken = [...times, ...Array.from({ length: accepted }, () => nowMs)]
    if (accepted > 0) this.#buckets.set(bucket, { windowMs, times: taken })
    const resetMs = (taken[0] ?? nowMs) + windowMs - nowMs
    return {
      accepted,
      remaining: Math.max(0, capacity - taken.length),
      reset_epoch_seconds: Math.ceil((this.#clock.now().getTime() + resetMs) / SECOND_MS),
      reset_seconds: Math.max(1, Math.ceil(resetMs / SECOND_MS)),
    }
  }

  #hasRoom(bucket: string, nowMs: number): boolean {
    if (this.#buckets.has(bucket) || this.#buckets.size < BUCKETS_MAX) return true
    for (const [name, each] of this.#buckets) {
      if (listWithin(each, nowMs).length === 0) this.#buckets.delete(name)
    }
    return this.#buckets.size < BUCKETS_MAX
  }
}

function listWithin(bucket: Bucket | undefined, nowMs: number): readonly number[] {
  return bucket?.times.filter((ms) => ms > nowMs - bucket.windowMs) ?? []
}
