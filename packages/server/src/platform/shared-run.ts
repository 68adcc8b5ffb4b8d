/**
 * Work that runs once at a time, however many ask for it: who asks while it runs shares one more run with all who do.
 */
export class SharedRun {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** A run that begins after this call: at once, or after the one under way. Rejects as it does. */
  again(): Promise<void> {
    if (this.#running === undefined) return this.#run()
    this.#next ??= this.#runAfterwards()
    return this.#next
  }

  /** Waits for what is under way and what follows it, whatever becomes of them. */
  async settle(): Promise<void> {
    await Promise.allSettled([this.#running, this.#next])
  }

  #run(): Promise<void> {
    // One that began a moment before has begun after all who ask here.
    this.#running ??= this.#work().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #runAfterwards(): Promise<void> {
    await this.#running?.catch(() => undefined)
    this.#next = undefined
    await this.#run()
  }
}
