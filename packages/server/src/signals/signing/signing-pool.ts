/*
 * Signs SETs in worker threads, so that a signature (a quarter of a millisecond of a core) never
 * holds up the event loop. Owns threads, batches and their repetition after a crash. Does not own
 * keys: whoever keeps them gives them to `addKey`.
 */
import { availableParallelism } from 'node:os'
import { SigningThread, type SigningBatch } from './signing-thread.ts'

/** Signs payloads with a key that the pool was given. */
export interface SigningPool {
  /** Gives a private key (PKCS #8 PEM) to every thread, present and future. Repeating it is harmless. */
  addKey(kid: string, privateKeyPem: string): void
  /**
   * The compact token of each payload, in order.
   *
   * @throws Error when the key is unknown, the pool is closed, or threads keep dying on the batch.
   */
  sign(kid: string, payloads: readonly string[]): Promise<string[]>
  /** Ends the threads. What is not signed by then is refused. */
  close(): Promise<void>
}

export interface SigningPoolOptions {
  /** One per core by default. */
  readonly threadCount?: number
  /** 32 by default: the hand-over to a thread then costs little beside the signatures. */
  readonly batchSizeMax?: number
  /** What the threads run; tests put a thread here that dies. */
  readonly workerUrl?: URL
}

/** The worker is compiled to JavaScript in a package, and run from its source in a checkout. */
const WORKER_FILE = import.meta.url.endsWith('.ts') ? './signing-worker.ts' : './signing-worker.js'

/** Two batches: a thread starts the next one at once, and a new arrival waits for few signatures. */
const BATCHES_AHEAD_MAX = 2
const BATCH_SIZE_MAX = 32
const TRIES_MAX = 3

/** The threads start with the first key. */
export function createSigningPool(options: SigningPoolOptions = {}): SigningPool {
  return new ThreadedSigningPool(
    options.threadCount ?? availableParallelism(),
    options.batchSizeMax ?? BATCH_SIZE_MAX,
    options.workerUrl ?? new URL(WORKER_FILE, import.meta.url),
  )
}

class ThreadedSigningPool implements SigningPool {
  readonly #batchSizeMax: number
  readonly #threadCount: number
  readonly #workerUrl: URL
  #threads: readonly SigningThread[] = []
  readonly #keys = new Map<string, string>()
  #waiting: SigningBatch[] = []
  #lastBatch = 0
  #isClosed = false

  constructor(threadCount: number, batchSizeMax: number, workerUrl: URL) {
    this.#batchSizeMax = batchSizeMax
    this.#threadCount = threadCount
    this.#workerUrl = workerUrl
  }

  addKey(kid: string, privateKeyPem: string): void {
    if (this.#keys.has(kid)) return
    this.#keys.set(kid, privateKeyPem)
    this.#startThreads()
    for (const thread of this.#threads) thread.addKey(kid, privateKeyPem)
  }

  async sign(kid: string, payloads: readonly string[]): Promise<string[]> {
    if (this.#isClosed) throw new Error('the signing pool is closed')
    if (!this.#keys.has(kid)) throw new Error(`the signing pool has no key ${kid}`)
    const parts: Promise<readonly string[]>[] = []
    for (let start = 0; start < payloads.length; start += this.#batchSizeMax) {
      parts.push(this.#enqueue(kid, payloads.slice(start, start + this.#batchSizeMax)))
    }
    this.#hand()
    return (await Promise.all(parts)).flat()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const closed = new Error('the signing pool is closed')
    for (const batch of this.#waiting.splice(0)) batch.reject(closed)
    await Promise.all(this.#threads.map((thread) => thread.close(closed)))
  }

  #startThreads(): void {
    if (this.#threads.length > 0 || this.#isClosed) return
    this.#threads = Array.from({ length: this.#threadCount }, () => this.#createThread())
  }

  #enqueue(kid: string, payloads: readonly string[]): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      this.#lastBatch += 1
      this.#waiting.push({ number: this.#lastBatch, kid, payloads, tries: 0, resolve, reject })
    })
  }

  /** Gives waiting batches to the threads with the least ahead of them. */
  #hand(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#threads.reduce((least, candidate) =>
        candidate.batchCount < least.batchCount ? candidate : least,
      )
      if (thread.batchCount >= BATCHES_AHEAD_MAX) return
      const batch = this.#waiting.shift()
      if (batch !== undefined) thread.sign(batch)
    }
  }

  #createThread(): SigningThread {
    return new SigningThread({
      workerUrl: this.#workerUrl,
      keys: () => this.#keys,
      onFree: () => this.#hand(),
      onLost: (batches, error) => this.#repeat(batches, error),
    })
  }

  /** Batches of a thread that died go first: they are the oldest. */
  #repeat(batches: readonly SigningBatch[], error: Error): void {
    const [again, hopeless] = [
      batches.filter((batch) => batch.tries < TRIES_MAX),
      batches.filter((batch) => batch.tries >= TRIES_MAX),
    ]
    for (const batch of hopeless) batch.reject(error)
    this.#waiting = [...again, ...this.#waiting]
    this.#hand()
  }
}
