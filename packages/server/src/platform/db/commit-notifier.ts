/*
 * Tells other processes what a commit has changed, right after it. A transaction that carries a notification itself
 * holds a lock of the whole database until its commit is durable: no two such commits share a write to the disk, nor a
 * wait for a standby. So this is for all that wakes somebody: a process that dies right after a commit has not told it,
 * and a sweep finds it. What other processes would go on believing, such as a key or a switch, is rare and told by
 * `notify` (listener.ts) in the transaction.
 */
import { sql, type QueryExecutorProvider } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { isRefusalOfContents } from './database-fault.ts'
import { assertPayload } from './listener.ts'
import { runAs } from './pool-turns.ts'

/** The part of the notifier that changes need. */
export interface CommitSink {
  /**
   * Call it once the change is durable: whoever hears of it reads at once.
   *
   * @throws RangeError for a payload that no notification takes
   */
  tell(channel: string, payloads: readonly string[]): void
}

/** What one change has to tell once it is durable. */
export class CommitNotices {
  readonly #payloads = new Map<string, string[]>()
  readonly #dueAt = new Map<string, Date>()

  /** @throws RangeError for a payload that no notification takes */
  add(channel: string, payloads: readonly string[]): void {
    payloads.forEach(assertPayload)
    const told = this.#payloads.get(channel)
    if (told === undefined) this.#payloads.set(channel, [...payloads])
    else told.push(...payloads)
  }

  /** Something is due then: of several times on a channel the earliest is told. */
  addDue(channel: string, at: Date): void {
    const known = this.#dueAt.get(channel)
    if (known === undefined || at < known) this.#dueAt.set(channel, at)
  }

  tell(sink: CommitSink): void {
    for (const [channel, payloads] of this.#payloads) sink.tell(channel, payloads)
    for (const [channel, at] of this.#dueAt) sink.tell(channel, [at.toISOString()])
  }
}

export interface CommitNotifierDependencies {
  readonly db: QueryExecutorProvider
  readonly logError: (error: unknown, message: string) => void
}

/** What is told so soon after a notification goes along with the next one. */
const INTERVAL_MS = 5
const RETRY_DELAY_MS = SECOND_MS
/** Far more than are told in that time; sweeps find what more there is. */
const PAYLOADS_MAX = 10_000
const FAILURE = 'other processes could not be told of a change'
const REFUSAL = 'the database refuses what other processes were to be told of a change'
const EXCESS = 'more has changed than other processes can be told of'
const LEFT_OUT = 'other processes were not told of a change at the end, and find it later'

/** The first is told at once; what comes while that is under way, or right after it, is told together. */
export class CommitNotifier implements CommitSink {
  readonly #dependencies: CommitNotifierDependencies
  #gathered = new Map<string, Set<string>>()
  #count = 0
  #timer: NodeJS.Timeout | undefined
  /** On the steady clock of `performance.now()`. */
  #nextMs = -Infinity
  #sending: Promise<void> | undefined
  #isFailing = false
  /** Whether it is logged already that something is left out. */
  #isExceeded = false
  /** While it closes it still tells, but waits for nothing. */
  #end: 'open' | 'closing' | 'closed' = 'open'
  #isLeavingOut = false

  constructor(dependencies: CommitNotifierDependencies) {
    this.#dependencies = dependencies
  }

  tell(channel: string, payloads: readonly string[]): void {
    // One that the database refuses would take with it all that is told together with it.
    payloads.forEach(assertPayload)
    if (this.#end === 'closed') {
      this.#leaveOut(payloads.length)
      return
    }
    this.#gather(channel, payloads)
    if (this.#sending === undefined) this.#schedule()
  }

  #gather(channel: string, payloads: Iterable<string>): void {
    const gathered = this.#gathered.get(channel) ?? new Set()
    for (const payload of payloads) {
      // What is told again comes last: of two that contradict each other the later one is heard later.
      if (gathered.delete(payload)) this.#count -= 1
      if (this.#count >= PAYLOADS_MAX) {
        this.#noteExcess()
        break
      }
      gathered.add(payload)
      this.#count += 1
    }
    if (gathered.size > 0) this.#gathered.set(channel, gathered)
  }

  /** Logs once until something is told again: what comes then comes often. */
  #noteExcess(): void {
    if (this.#isExceeded) return
    this.#isExceeded = true
    this.#dependencies.logError(new RangeError(`${PAYLOADS_MAX} notifications wait`), EXCESS)
  }

  /** Tells what was gathered so far. Never rejects. */
  async flush(): Promise<void> {
    await this.#sending
    // What came while that was under way may be so as well by now.
    if (this.#sending === undefined && this.#count > 0) this.#send()
    await this.#sending
  }

  /**
   * Tells what was gathered, if the database takes it, and nothing more: what it does not take, and what is told
   * afterwards, is logged once and left to the sweeps. Never rejects.
   */
  async close(): Promise<void> {
    this.#end = 'closing'
    // Whoever is still at work tells more meanwhile.
    do await this.flush()
    while (this.#count > 0 && !this.#isFailing)
    this.#end = 'closed'
    this.#stopTimer()
    const count = this.#count
    this.#gathered = new Map()
    this.#count = 0
    this.#leaveOut(count)
  }

  #leaveOut(count: number): void {
    if (count === 0 || this.#isLeavingOut) return
    this.#isLeavingOut = true
    this.#dependencies.logError(new Error(`${count} notifications or more are left out`), LEFT_OUT)
  }

  #schedule(): void {
    if (this.#count === 0 || this.#timer !== undefined || this.#end !== 'open') return
    const delayMs = this.#nextMs - performance.now()
    if (delayMs <= 0) this.#send()
    // A command that has nothing else to do need not wait for it: it flushes at its end.
    else this.#timer = setTimeout(() => this.#send(), delayMs).unref()
  }

  #send(): void {
    this.#stopTimer()
    const gathered = this.#gathered
    this.#gathered = new Map()
    this.#count = 0
    this.#nextMs = performance.now() + INTERVAL_MS
    // Whoever committed something is answered: others of its kind that wait for connections are not waited for.
    this.#sending = runAs('notifications', () => notifyAtOnce(this.#dependencies.db, gathered))
      .then(() => {
        this.#isFailing = false
        this.#isExceeded = false
      })
      .catch((error: unknown) => this.#onFailure(gathered, error))
      .finally(() => {
        this.#sending = undefined
        this.#schedule()
      })
  }

  /** What the database did not take for the moment is told later, with what comes meanwhile. */
  #onFailure(gathered: ReadonlyMap<string, ReadonlySet<string>>, error: unknown): void {
    const isRefused = isRefusalOfContents(error)
    if (isRefused || !this.#isFailing) {
      this.#dependencies.logError(error, isRefused ? REFUSAL : FAILURE)
    }
    this.#isFailing = !isRefused
    if (isRefused) return
    const later = this.#gathered
    this.#gathered = new Map()
    this.#count = 0
    this.#nextMs = performance.now() + RETRY_DELAY_MS
    for (const [channel, payloads] of [...gathered, ...later]) this.#gather(channel, payloads)
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/**
 * Tells listeners something at once, outside any transaction. There is nothing to lose in it, so that its commit waits
 * neither for the disk nor for a standby.
 */
async function notifyAtOnce(
  db: QueryExecutorProvider,
  gathered: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const told = [...gathered].flatMap(([channel, payloads]) =>
    [...payloads].map((payload) => ({ channel, payload })),
  )
  await sql`
    select pg_notify(channel, payload)
    from (select set_config('synchronous_commit', 'off', true)) as setting (synchronous_commit)
    cross join unnest(${told.map(({ channel }) => channel)}::text[],
      ${told.map(({ payload }) => payload)}::text[]) as told (channel, payload)
    where synchronous_commit is not null`.execute(db)
}
