/*
 * Writes by REST: the description of a group gets one number after another. A write that was not acknowledged is sent
 * again with the same number, so that each number is one change, whenever it was stored.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 150
const REQUEST_MAX_MS = 60_000

export class GroupWriter {
  readonly groupId: string
  acknowledgedCount = 0
  readonly #url: string
  readonly #key: string
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
    this.groupId = url.split('/').at(-1) ?? ''
    this.#running = this.#run()
  }

  /** Resolves when the last write was acknowledged. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      while (!(await this.#write(this.acknowledgedCount + 1))) await sleep(PAUSE_MS)
      this.acknowledgedCount += 1
      await sleep(PAUSE_MS)
    }
  }

  async #write(number: number): Promise<boolean> {
    try {
      const response = await fetch(this.#url, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ description: String(number) }),
        signal: AbortSignal.timeout(REQUEST_MAX_MS),
      })
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false
    }
  }
}
