/*
 * Signs SETs in worker threads, so that a signature (a quarter of a millisecond of a core) never
 * holds up the event loop. Owns threads, batches and their repetition after a crash. Does not own
 * keys: whoever keeps them gives them to `addKey`.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { SigningAnswer, SigningCommand } from './signing-worker.ts'

export interface SigningPoolOptions {
  /** At most; one per core by default. */
  readonly threadCount?: number
  /** 32 by default: passing them to a thread then costs little beside the signatures. */
  readonly batchSizeMax?: number
  /** What the threads run; tests put a thread here that dies. */
  readonly workerUrl?: URL
}

/** The worker is compiled to JavaScript in a package, and run from its source in a checkout. */
const WORKER_FILE = import.meta.url.endsWith('.ts') ? './signing-worker.ts' : './signing-worker.js'

/** Two batches: a thread starts the next one at once, and a new arrival waits for few signatures. */
const BATCHES_AHEAD_MAX = 2
const BATCH_SIZE_MAX = 32
/** Fewer are not divided: a message to a thread costs a tenth of a signature. */
const BATCH_SIZE_MIN = 4
const DEATHS_MAX = 3
/** After a thread that died before its first answer. */
const RESTART_DELAY_MS = 1_000

/** Payloads that are signed together. */
interface SigningBatch {
  readonly number: number
  readonly kid: string
  readonly payloads: readonly string[]
  /** How many threads died on it. */
  deaths: number
  resolve(tokens: readonly string[]): void
  reject(error: Error): void
}

interface SigningThreadOwner {
  readonly workerUrl: URL
  /** The keys that a thread starts with, PEM by `kid`. */
  keys(): ReadonlyMap<string, string>
  /** A batch is done, or the thread runs now. */
  onFree(): void
  /** The thread died with these batches; another starts in its place. */
  onLost(batches: readonly SigningBatch[], error: Error): void
}

/** Signs payloads with a key that the pool was given. */
export class SigningPool {
  readonly #batchSizeMax: number
  readonly #threadCount: number
  readonly #workerUrl: URL
  readonly #threads: SigningThread[] = []
  readonly #keys = new Map<string, string>()
  #waiting: SigningBatch[] = []
  #lastBatch = 0
  #isClosed = false

  /** A thread starts with the first payload, and another whenever all that run have something to do. */
  constructor(options: SigningPoolOptions = {}) {
    this.#batchSizeMax = options.batchSizeMax ?? BATCH_SIZE_MAX
    this.#threadCount = options.threadCount ?? availableParallelism()
    this.#workerUrl = options.workerUrl ?? new URL(WORKER_FILE, import.meta.url)
  }

  /** Gives a private key (PKCS #8 PEM) to every thread, present and future. Repeating it is harmless. */
  addKey(kid: string, privateKeyPem: string): void {
    if (this.#keys.has(kid)) return
    this.#keys.set(kid, privateKeyPem)
    for (const thread of this.#threads) thread.addKey(kid, privateKeyPem)
  }

  /**
   * The compact token of each payload, in order.
   *
   * @throws Error when the key is unknown, the pool is closed, or threads keep dying on the batch.
   */
  async sign(kid: string, payloads: readonly string[]): Promise<string[]> {
    if (this.#isClosed) throw new Error('the signing pool is closed')
    if (!this.#keys.has(kid)) throw new Error(`the signing pool has no key ${kid}`)
    const parts: Promise<readonly string[]>[] = []
    const size = this.#batchSizeOf(payloads.length)
    for (let start = 0; start < payloads.length; start += size) {
      parts.push(this.#enqueue(kid, payloads.slice(start, start + size)))
    }
    this.#assignWaiting()
    return (await Promise.all(parts)).flat()
  }

  /** A few are divided among the threads: whoever waits for them waits for fewer signatures. */
  #batchSizeOf(payloadCount: number): number {
    const share = Math.ceil(payloadCount / this.#threadCount)
    return Math.min(this.#batchSizeMax, Math.max(BATCH_SIZE_MIN, share))
  }

  /** Ends the threads. What is not signed by then is refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closed = new Error('the signing pool is closed')
    for (const batch of this.#waiting.splice(0)) batch.reject(closed)
    await Promise.all(this.#threads.map((thread) => thread.close(closed)))
  }

  #enqueue(kid: string, payloads: readonly string[]): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      this.#lastBatch += 1
      this.#waiting.push({ number: this.#lastBatch, kid, payloads, deaths: 0, resolve, reject })
    })
  }

  /** Gives waiting batches to the threads with the least ahead of them; none waits for a thread that only starts. */
  #assignWaiting(): void {
    while (this.#waiting.length > 0) {
      const counts = this.#threads.map((thread) => thread.batchCount)
      const least = Math.min(...counts)
      if (least > 0) this.#startAnotherThread()
      if (least >= BATCHES_AHEAD_MAX) return
      const batch = this.#waiting.shift()
      if (batch !== undefined) this.#threads[counts.indexOf(least)]?.sign(batch)
    }
  }

  #startAnotherThread(): void {
    if (this.#threads.length >= this.#threadCount || this.#isClosed) return
    if (this.#threads.some((thread) => !thread.isRunning)) return
    this.#threads.push(
      new SigningThread({
        workerUrl: this.#workerUrl,
        keys: () => this.#keys,
        onFree: () => this.#assignWaiting(),
        onLost: (batches, error) => this.#repeat(batches, error),
      }),
    )
  }

  /** Batches of a thread that died go first: they are the oldest. */
  #repeat(batches: readonly SigningBatch[], error: Error): void {
    const [again, hopeless] = [
      batches.filter((batch) => batch.deaths < DEATHS_MAX),
      batches.filter((batch) => batch.deaths >= DEATHS_MAX),
    ]
    for (const batch of hopeless) batch.reject(error)
    this.#waiting = [...again, ...this.#waiting]
    this.#assignWaiting()
  }
}

/** One worker thread that is replaced when it dies. */
class SigningThread {
  readonly #owner: SigningThreadOwner
  readonly #batches = new Map<number, SigningBatch>()
  #worker: Worker
  #hasAnswered = false
  #isRunning = false
  #isClosed = false

  constructor(owner: SigningThreadOwner) {
    this.#owner = owner
    this.#worker = this.#start()
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Batches that the thread was given and has not answered; infinitely many while it starts. */
  get batchCount(): number {
    return this.#isRunning ? this.#batches.size : Infinity
  }

  addKey(kid: string, privateKeyPem: string): void {
    this.#send({ type: 'key', kid, privateKeyPem })
  }

  sign(batch: SigningBatch): void {
    this.#batches.set(batch.number, batch)
    this.#send({ type: 'sign', batch: batch.number, kid: batch.kid, payloads: batch.payloads })
  }

  async close(reason: Error): Promise<void> {
    this.#isClosed = true
    for (const batch of this.#batches.values()) batch.reject(reason)
    this.#batches.clear()
    await this.#worker.terminate()
  }

  #send(command: SigningCommand): void {
    this.#worker.postMessage(command)
  }

  #start(): Worker {
    const worker = new Worker(this.#owner.workerUrl, { name: 'set-signer' })
    let cause: Error | undefined
    worker.on('online', () => {
      if (this.#isClosed) return
      this.#isRunning = true
      this.#owner.onFree()
    })
    worker.on('message', (answer: SigningAnswer) => this.#settle(answer))
    worker.on('error', (error) => {
      cause = error instanceof Error ? error : new Error(String(error))
    })
    worker.on('exit', () => {
      if (!this.#isClosed) this.#replace(cause ?? new Error('a signing thread ended'))
    })
    // The pool alone must not keep the process alive.
    worker.unref()
    this.#hasAnswered = false
    for (const [kid, privateKeyPem] of this.#owner.keys()) {
      worker.postMessage({ type: 'key', kid, privateKeyPem } satisfies SigningCommand)
    }
    return worker
  }

  #settle(answer: SigningAnswer): void {
    this.#hasAnswered = true
    const batch = this.#batches.get(answer.batch)
    if (batch === undefined) return
    this.#batches.delete(answer.batch)
    if (answer.type === 'signed') batch.resolve(answer.tokens)
    else batch.reject(new Error(answer.message))
    this.#owner.onFree()
  }

  /** A thread that dies before its first answer would die again at once: its successor waits. */
  #replace(error: Error): void {
    this.#isRunning = false
    const delayMs = this.#hasAnswered ? 0 : RESTART_DELAY_MS
    const batches = [...this.#batches.values()]
    // It takes them in their order: the others only waited behind the first.
    if (batches[0] !== undefined) batches[0].deaths += 1
    this.#batches.clear()
    setTimeout(() => {
      if (this.#isClosed) {
        for (const batch of batches) batch.reject(error)
        return
      }
      this.#worker = this.#start()
      this.#owner.onLost(batches, error)
    }, delayMs)
  }
}
