/** Work that nobody waits for until the end. */
export class BackgroundWork {
  readonly #running = new Set<Promise<unknown>>()

  /** Remembers the work until it ends, and answers it. */
  add<Value>(work: Promise<Value>): Promise<Value> {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
    return work
  }

  /** Resolves when nothing runs any more, whatever was added meanwhile. */
  async whenDone(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}
