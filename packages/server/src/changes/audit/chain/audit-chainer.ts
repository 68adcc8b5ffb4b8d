/*
 * The chainer of a process: links its entries soon after their commit, and what others left behind. Every
 * process has one; the lock of the chain lets one of them work at a time. It needs no notification, which a
 * change would have to wait for: who commits entries wakes its own.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../../../platform/clock.ts'
import type { Schema } from '../../../schema/schema.ts'
import { hasUnsettledEntries } from './chain-store.ts'
import { EntryLinker } from './link-audit-entries.ts'

export interface AuditChainer {
  /** Entries have been committed: links them soon, those of many commits together. */
  wake(): void
  /** Whether entries have been committed that nobody was told are linked. */
  isWoken(): boolean
  /** Begins to look for what other processes left behind. */
  start(): void
  /**
   * Links what there is now, and resolves when nothing waits, or after `patienceMs` when more waits than can be
   * linked by then, as after an upgrade; throws when it cannot.
   */
  flush(patienceMs?: number): Promise<void>
  /** Ends what is under way. Nothing is linked any more afterwards. */
  stop(): Promise<void>
}

export interface AuditChainerOptions {
  readonly logError: (error: unknown, message: string) => void
}

/**
 * After a commit. A round costs as much as a small change, whether it links one entry or a thousand; what proves
 * something, a checkpoint or a verification, has everything linked first.
 */
const DELAY_MS = 200
/** Entries of processes that died, of commands and of the version before. */
const SWEEP_INTERVAL_MS = SECOND_MS
/** How long and how often {@link AuditChainer.flush} waits while another process is at work. */
const BUSY_DELAY_MS = 20
const BUSY_ROUNDS_MAX = 250

/** Makes the chainer of a process; before `start` nothing is linked but by `flush`. */
export function createAuditChainer(
  db: Kysely<Schema>,
  { logError }: AuditChainerOptions,
): AuditChainer {
  return new Chainer(db, logError)
}

class Chainer implements AuditChainer {
  readonly #db: Kysely<Schema>
  readonly #linker: EntryLinker
  readonly #logError: AuditChainerOptions['logError']
  #sweep: NodeJS.Timeout | undefined
  #planned: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #isStarted = false
  #isWoken = false

  constructor(db: Kysely<Schema>, logError: AuditChainerOptions['logError']) {
    this.#db = db
    this.#linker = new EntryLinker(db)
    this.#logError = logError
  }

  isWoken(): boolean {
    return this.#isWoken
  }

  wake(): void {
    this.#isWoken = true
    if (!this.#isStarted || this.#planned !== undefined) return
    this.#planned = setTimeout(() => {
      this.#planned = undefined
      this.#enqueue(() => this.#run())
    }, DELAY_MS)
    this.#planned.unref()
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#sweep = setInterval(() => {
      if (this.#planned !== undefined) return
      this.#enqueue(async () => {
        if (await hasUnsettledEntries(this.#db)) await this.#run()
      })
    }, SWEEP_INTERVAL_MS)
    this.#sweep.unref()
    this.wake()
  }

  async flush(patienceMs = Number.POSITIVE_INFINITY): Promise<void> {
    const endMs = performance.now() + patienceMs
    await this.#idle(patienceMs)
    for (let busyRounds = 0; busyRounds < BUSY_ROUNDS_MAX && performance.now() < endMs;) {
      const outcome = await this.#linker.runRound()
      if (outcome === 'done') return
      if (outcome === 'more') continue
      busyRounds += 1
      await sleep(BUSY_DELAY_MS)
    }
  }

  /** Resolves when this process links nothing, or after the time. */
  async #idle(patienceMs: number): Promise<void> {
    if (patienceMs === Number.POSITIVE_INFINITY) return this.#running
    const over = new AbortController()
    const timer = sleep(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([this.#running, timer])
    over.abort()
  }

  async stop(): Promise<void> {
    this.#isStarted = false
    clearInterval(this.#sweep)
    clearTimeout(this.#planned)
    this.#planned = undefined
    await this.#running
  }

  /** One after the other; a failure is told and tried again by the sweep. */
  #enqueue(work: () => Promise<void>): void {
    this.#running = this.#running.then(work).catch((error: unknown) => {
      this.#logError(error, 'the audit log could not be chained and will be tried again')
    })
  }

  async #run(): Promise<void> {
    for (let outcome = await this.#linker.runRound(); outcome !== 'done';) {
      if (!this.#isStarted) return
      if (outcome === 'busy') {
        // Whoever is at work may have looked before the entries of this process were there.
        this.wake()
        return
      }
      outcome = await this.#linker.runRound()
    }
  }
}
