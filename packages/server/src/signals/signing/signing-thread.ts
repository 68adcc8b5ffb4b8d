import { Worker } from 'node:worker_threads'
import type { SigningAnswer, SigningCommand } from './signing-message.ts'

/** Payloads that are signed together. */
export interface SigningBatch {
  readonly number: number
  readonly kid: string
  readonly payloads: readonly string[]
  /** How many threads have been given the batch. */
  tries: number
  resolve(tokens: readonly string[]): void
  reject(error: Error): void
}

export interface SigningThreadOwner {
  readonly workerUrl: URL
  /** The keys that a thread starts with, PEM by `kid`. */
  keys(): ReadonlyMap<string, string>
  /** A batch is done. */
  onFree(): void
  /** The thread died with these batches; it has been replaced already. */
  onLost(batches: readonly SigningBatch[], error: Error): void
}

const RESTART_DELAY_MS = 1_000

/** One worker thread that is replaced when it dies. */
export class SigningThread {
  readonly #owner: SigningThreadOwner
  readonly #batches = new Map<number, SigningBatch>()
  #worker: Worker
  #hasAnswered = false
  #isDown = false
  #isClosed = false

  constructor(owner: SigningThreadOwner) {
    this.#owner = owner
    this.#worker = this.#start()
  }

  /** Batches that the thread was given and has not answered; infinitely many while it is replaced. */
  get batchCount(): number {
    return this.#isDown ? Infinity : this.#batches.size
  }

  addKey(kid: string, privateKeyPem: string): void {
    this.#send({ type: 'key', kid, privateKeyPem })
  }

  sign(batch: SigningBatch): void {
    batch.tries += 1
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
    this.#isDown = true
    const delayMs = this.#hasAnswered ? 0 : RESTART_DELAY_MS
    const batches = [...this.#batches.values()]
    this.#batches.clear()
    setTimeout(() => {
      if (this.#isClosed) {
        for (const batch of batches) batch.reject(error)
        return
      }
      this.#worker = this.#start()
      this.#isDown = false
      this.#owner.onLost(batches, error)
    }, delayMs)
  }
}
