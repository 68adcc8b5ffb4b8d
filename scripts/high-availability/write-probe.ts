/* Requests that change a record again and again, by which it is measured for how long nothing could be stored. */
import { setTimeout as sleep } from 'node:timers/promises'

interface Attempt {
  readonly startedMs: number
  isServed: boolean
}

const PROBE_INTERVAL_MS = 200
/** Requests that wait for each other would be the slower, the more of them there are: each has a record of its own. */
export const PROBES = 5
/** So many in a row are a second. */
const STEADY_ATTEMPTS = PROBES
/** A request that takes longer was held up. */
const SERVED_MS_MAX = 3_000

/** Changes records again and again, each by one request after another. */
export class WriteProbe {
  readonly #attempts: Attempt[] = []
  readonly #stopping = new AbortController()
  readonly #key: string

  constructor(urls: readonly string[], key: string) {
    this.#key = key
    for (const [at, url] of urls.entries()) void this.#run(url, at * PROBE_INTERVAL_MS)
  }

  /**
   * After how long, from this moment on, requests were served in time again, a second long; and for how long they were
   * held up once more after that. To be asked when all is well again.
   */
  findOutage(sinceMs: number): { readonly outageMs: number; readonly laterMs: number } {
    const judged = this.#attempts.filter(
      ({ startedMs }) => startedMs >= sinceMs && startedMs < performance.now() - SERVED_MS_MAX,
    )
    const first = judged.findIndex(({ isServed }) => !isServed)
    if (first === -1) return { outageMs: 0, laterMs: 0 }
    const back = judged.findIndex(
      (_, at) =>
        at > first && judged.slice(at, at + STEADY_ATTEMPTS).every(({ isServed }) => isServed),
    )
    const laterCount = judged.slice(back).filter(({ isServed }) => !isServed).length
    return {
      outageMs: Math.round((judged[back]?.startedMs ?? performance.now()) - sinceMs),
      laterMs: laterCount * PROBE_INTERVAL_MS,
    }
  }

  /** Whether every request of the last milliseconds was served in time. */
  isServedFor(ms: number): boolean {
    const nowMs = performance.now()
    const last = this.#attempts.filter(
      ({ startedMs }) =>
        startedMs > nowMs - SERVED_MS_MAX - ms && startedMs < nowMs - SERVED_MS_MAX,
    )
    return last.length > 0 && last.every(({ isServed }) => isServed)
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #run(url: string, delayMs: number): Promise<void> {
    await sleep(delayMs)
    for (let number = 0; !this.#stopping.signal.aborted; number += 1) {
      const nextMs = performance.now() + PROBES * PROBE_INTERVAL_MS
      await this.#try(url, number)
      await sleep(Math.max(0, nextMs - performance.now()))
    }
  }

  async #try(url: string, number: number): Promise<void> {
    const attempt: Attempt = { startedMs: performance.now(), isServed: false }
    this.#attempts.push(attempt)
    try {
      const response = await fetch(url, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ description: `probe ${number}` }),
        signal: AbortSignal.timeout(SERVED_MS_MAX),
      })
      await response.arrayBuffer()
      attempt.isServed = response.ok
    } catch {
      // It was not served.
    }
  }
}
