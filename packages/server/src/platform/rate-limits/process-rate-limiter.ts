/*
 * Limits that this process keeps alone, for while the database stores nothing: reads go on being answered then. Each
 * process begins to count at nothing, so that with the places that the database has given out a caller gets at most the
 * limit once more from each of them in a window.
 */
import { SECOND_MS, type Clock } from '../clock.ts'
import { isOfAddress } from './address-bucket.ts'
import type { TakenPlaces } from './rate-limiter.ts'

/** More callers than these are refused, lest whoever comes as many has them forgotten. */
const BUCKETS_MAX = 10_000
/** Each look for some that may be forgotten reads all of them. */
const LOOK_INTERVAL_MS = SECOND_MS

interface Bucket {
  readonly windowMs: number
  /** When requests were accepted, on the steady clock, in their order. */
  times: readonly number[]
}

export class ProcessRateLimiter {
  readonly #clock: Clock
  /** Apart from the others: whoever has no credential may come from as many as they like. */
  readonly #ofAddresses = new Buckets()
  readonly #ofCredentials = new Buckets()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes as many places of a bucket as are free of those asked for. */
  take(bucket: string, capacity: number, count: number, windowSeconds: number): TakenPlaces {
    const nowMs = performance.now()
    const windowMs = windowSeconds * SECOND_MS
    const buckets = isOfAddress(bucket) ? this.#ofAddresses : this.#ofCredentials
    const times = buckets.list(bucket, nowMs)
    const free = buckets.hasRoom(bucket, nowMs) ? Math.max(0, capacity - times.length) : 0
    const accepted = Math.min(count, free)
    const taken = [...times, ...Array.from({ length: accepted }, () => nowMs)]
    if (accepted > 0) buckets.set(bucket, { windowMs, times: taken })
    const resetMs = (taken[0] ?? nowMs) + windowMs - nowMs
    return {
      accepted,
      remaining: free - accepted,
      reset_epoch_seconds: Math.ceil((this.#clock.now().getTime() + resetMs) / SECOND_MS),
      reset_seconds: Math.max(1, Math.ceil(resetMs / SECOND_MS)),
    }
  }
}

class Buckets {
  readonly #buckets = new Map<string, Bucket>()
  #lookedMs = -Infinity

  /** When requests of a bucket were accepted within its window. */
  list(name: string, nowMs: number): readonly number[] {
    return listWithin(this.#buckets.get(name), nowMs)
  }

  set(name: string, bucket: Bucket): void {
    this.#buckets.set(name, bucket)
  }

  /** Whether a bucket is known, or one more may be. */
  hasRoom(name: string, nowMs: number): boolean {
    if (this.#buckets.has(name) || this.#buckets.size < BUCKETS_MAX) return true
    if (nowMs - this.#lookedMs < LOOK_INTERVAL_MS) return false
    this.#lookedMs = nowMs
    for (const [each, bucket] of this.#buckets) {
      if (listWithin(bucket, nowMs).length === 0) this.#buckets.delete(each)
    }
    return this.#buckets.size < BUCKETS_MAX
  }
}

function listWithin(bucket: Bucket | undefined, nowMs: number): readonly number[] {
  return bucket?.times.filter((ms) => ms > nowMs - bucket.windowMs) ?? []
}
