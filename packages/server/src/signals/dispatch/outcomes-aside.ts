/*
 * Outcomes that could not be written with the others: somebody has locked a row of theirs, or the database refuses one
 * of them. They are written here, beside the others, destination by destination and each in its order, by ever smaller
 * parts until it is known which one it is. The order is for the health of a receiver, its failures in a row; the order
 * of events does not depend on it (docs/model). Owns that order, the repetition, and what becomes of what is refused.
 * Its memory is bounded by the claims of the process: a delivery counts as claimed until its outcome has an end.
 */
import type { Kysely } from 'kysely'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { boundTransaction, type TransactionBounds } from '../../platform/db/bound-transaction.ts'
import {
  isFaultOfContents,
  isFaultOfDatabase,
  isRefusalOfContents,
  isUnknownFault,
} from '../../platform/db/database-fault.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { BackgroundWork } from './background-work.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { toBareOutcome, type DeliveryOutcome } from './delivery-outcome.ts'
import { countAttempt, deferFollowers } from './outcome-store.ts'
import { BRIEF_WAIT } from './lock-waits.ts'
import { findRetryDelayMs, RETRY_DELAYS_MS, type RandomShare } from './retry-schedule.ts'

/** What becomes of an outcome. */
export interface OutcomeEnd {
  /** It is durable, or left to the end of its lease. */
  readonly onRecorded: () => void
  /** Nothing of it can be recorded: gives the delivery back, to rest for so long. Resolves when it is. */
  readonly onGivenUp: (pauseMs: number) => Promise<void>
}

export interface WaitingOutcome extends OutcomeEnd {
  readonly outcome: DeliveryOutcome
  /** The database has refused what the attempt said; this is the rest. */
  readonly isBare?: boolean
}

/** Writes outcomes together and waits no longer than that; answers why they could not be written. */
type TryWriting = (batch: readonly WaitingOutcome[], bounds: TransactionBounds) => Promise<unknown>

interface OutcomesAsideDependencies {
  readonly db: Kysely<Schema>
  readonly log: DeliveryLog
  readonly random: RandomShare
  readonly tryWriting: TryWriting
}

/** What came of a try: something is written or another part is tried next, or the same must be tried again. */
type Progress = { readonly kind: 'moved' } | { readonly kind: 'stuck'; readonly error: unknown }

const MOVED: Progress = { kind: 'moved' }

/** What waits of one destination, in its order. */
interface Line {
  readonly waiting: WaitingOutcome[]
  /** Among so many of the next ones is one that fails; 0 when none is known to. */
  suspectCount: number
  /** How often in a row the same ones have failed for a reason that nobody knows. */
  tries: number
  /** It could not be written and is left alone until then; on the steady clock of `performance.now()`. */
  restsUntilMs: number
}

/** For a while after one wait in vain: a hundred destinations that are locked cost a second more. */
const SHORTEST_WAIT: TransactionBounds = { ...BRIEF_WAIT, lockMs: 10 }
const LONG_WAIT_PAUSE_MS = SECOND_MS
/** At the end, for one that is found to be locked: then it is given up. */
const LAST_WAIT: TransactionBounds = { ...BRIEF_WAIT, lockMs: 100 }
const SIZE_MAX = 256
const REPEAT_DELAY_MS = 250
/** Timers end a little early. */
const LINE_REST_MS = REPEAT_DELAY_MS - 10
/** For so long an end searches for what is locked among the others, so that the process stops in time. */
const LAST_SEARCH_MS = 2 * SECOND_MS
/**
 * So often outcomes are tried together when it cannot be said what an error is about, and so often each half of them:
 * what fails all outcomes of an installation may pass, and none is given up lightly.
 */
export const UNKNOWN_TRIES_MAX = 10
/** A delivery of whose outcome nothing can be recorded rests for so long at least, before it is sent again. */
const GIVEN_UP_PAUSE_MIN_MS = 2 * MINUTE_MS

export class OutcomesAside {
  readonly #dependencies: OutcomesAsideDependencies
  readonly #lines = new Map<DestinationId, Line>()
  readonly #givingBack = new BackgroundWork()
  #running: Promise<void> | undefined
  #isClosed = false
  /** The next one may wait longer for a lock than others do. */
  #mayWaitLong = true
  /** Both on the steady clock of `performance.now()`. */
  #longWaitFromMs = -Infinity
  #searchEndsMs = Infinity

  constructor(dependencies: OutcomesAsideDependencies) {
    this.#dependencies = dependencies
  }

  /** Whether outcomes of the destination wait here: whatever comes after them waits behind them. */
  has(destinationId: DestinationId): boolean {
    return this.#lines.has(destinationId)
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  add(batch: readonly WaitingOutcome[]): void {
    for (const waiting of batch) {
      const { destinationId } = waiting.outcome.delivery
      const line = this.#lines.get(destinationId) ?? newLine()
      this.#lines.set(destinationId, line)
      line.waiting.push(waiting)
    }
    if (batch.length > 0) this.#running ??= this.#writeUntilDone()
  }

  /**
   * Tries what is left once more, and gives up what fails then: the leases bring these deliveries back. Searches until
   * `latestMs` at most.
   */
  async close(latestMs = Infinity): Promise<void> {
    this.#isClosed = true
    this.#searchEndsMs = Math.min(latestMs, performance.now() + LAST_SEARCH_MS)
    await this.#running
    await this.#givingBack.whenDone()
  }

  async #writeUntilDone(): Promise<void> {
    while (this.#lines.size > 0) {
      const hasMoved = await this.#tryEach()
      if (hasMoved || this.#isClosed) continue
      await new Promise((resolve) => setTimeout(resolve, REPEAT_DELAY_MS))
    }
    this.#running = undefined
  }

  /** Tries each destination once, so that none waits for another; answers whether there is more to try at once. */
  async #tryEach(): Promise<boolean> {
    let hasMoved = false
    this.#mayWaitLong = performance.now() >= this.#longWaitFromMs
    for (const [destinationId, line] of [...this.#lines]) {
      if (!this.#isClosed && performance.now() < line.restsUntilMs) continue
      const longWaitFromMs = this.#longWaitFromMs
      const progress = await this.#tryNext(line)
      if (this.#longWaitFromMs > longWaitFromMs) this.#moveBack(destinationId, line)
      const isOfAll = progress.kind === 'stuck' && isFaultOfDatabase(progress.error)
      if (progress.kind === 'moved') hasMoved = true
      else if (this.#isClosed) this.#giveUp(isOfAll ? this.#lines.values() : [line], progress.error)
      else line.restsUntilMs = performance.now() + LINE_REST_MS
      if (line.waiting.length === 0) this.#lines.delete(destinationId)
      if (isOfAll && !this.#isClosed) break
    }
    return hasMoved
  }

  /** What was waited for comes last, so that another one is waited for next time. */
  #moveBack(destinationId: DestinationId, line: Line): void {
    this.#lines.delete(destinationId)
    this.#lines.set(destinationId, line)
  }

  /** Tries what comes next of a destination. */
  async #tryNext(line: Line): Promise<Progress> {
    // What fails is found by halves.
    const size = line.suspectCount === 0 ? SIZE_MAX : Math.ceil(line.suspectCount / 2)
    const batch = line.waiting.slice(0, size)
    if (batch.length === 0) return MOVED
    const error = await this.#tryWriting(batch)
    if (error === undefined) {
      line.waiting.splice(0, batch.length)
      suspect(line, line.suspectCount - batch.length)
      endAll(batch)
      return MOVED
    }
    line.tries = isUnknownFault(error) ? line.tries + 1 : 0
    const isRefused = isRefusalOfContents(error) || line.tries >= UNKNOWN_TRIES_MAX
    const [first] = batch
    const isSearched = isFaultOfContents(error) && performance.now() < this.#searchEndsMs
    if (batch.length > 1 && (isRefused || isSearched)) {
      suspect(line, batch.length)
    } else if (isRefused && first !== undefined) {
      const instead = await this.#replace(first, error)
      line.waiting.splice(0, 1, ...instead)
      suspect(line, instead.length)
    } else {
      if (batch.length === 1) line.suspectCount = 1
      this.#warn(line, error)
      return { kind: 'stuck', error }
    }
    return MOVED
  }

  async #tryWriting(batch: readonly WaitingOutcome[]): Promise<unknown> {
    const isLast = this.#isClosed && batch.length === 1 && performance.now() < this.#searchEndsMs
    const bounds = this.#mayWaitLong ? BRIEF_WAIT : isLast ? LAST_WAIT : SHORTEST_WAIT
    const error = await this.#dependencies.tryWriting(batch, bounds)
    if (isFaultOfContents(error) && this.#mayWaitLong) {
      this.#mayWaitLong = false
      this.#longWaitFromMs = performance.now() + LONG_WAIT_PAUSE_MS
    }
    return error
  }

  /** What was found to be locked goes alone while there is time, and what waits behind it is tried. */
  #giveUp(lines: Iterable<Line>, error: unknown): void {
    const isSearching = isFaultOfContents(error) && performance.now() < this.#searchEndsMs
    for (const line of lines) {
      const isFound = isSearching && line.suspectCount === 1
      endAll(line.waiting.splice(0, isFound ? 1 : Infinity))
      suspect(line, 0)
    }
  }

  #warn({ waiting }: Line, error: unknown): void {
    const fields = {
      err: error,
      destination_id: waiting[0]?.outcome.delivery.destinationId,
      outcome_count: waiting.length,
    }
    this.#dependencies.log.warn(fields, 'delivery outcomes of a destination could not be recorded')
  }

  /**
   * What is tried instead of a refused outcome: itself without what it leads to, then what it means without what it
   * says; when that is refused as well, nothing, and the delivery is sent again.
   */
  async #replace(waiting: WaitingOutcome, error: unknown): Promise<readonly WaitingOutcome[]> {
    const { log } = this.#dependencies
    const { outcome, onGivenUp, isBare = false } = waiting
    const fields = { err: error, delivery_id: outcome.delivery.id }
    if (outcome.notice !== null) {
      log.error(fields, 'what the outcome of a delivery leads to failed: it is recorded without')
      return [{ ...waiting, outcome: { ...outcome, notice: null } }]
    }
    if (!isBare) {
      log.error(fields, 'the database refused what an attempt said: it is recorded without that')
      return [{ ...waiting, outcome: toBareOutcome(outcome), isBare: true }]
    }
    log.error(fields, 'the outcome of a delivery cannot be recorded: the delivery is sent again')
    const pauseMs = findGivenUpPauseMs(outcome.delivery, this.#dependencies.random)
    void this.#givingBack.add(onGivenUp(pauseMs))
    await this.#noteGivenUp({ ...outcome, retryDelayMs: pauseMs })
    return []
  }

  /**
   * The attempt counts, and what follows is put off, as after a retry. As far as it goes: the database may refuse these
   * as well.
   */
  async #noteGivenUp(outcome: DeliveryOutcome): Promise<void> {
    const { db, log } = this.#dependencies
    const statements = [
      (tx: Kysely<Schema>) => countAttempt(tx, outcome.delivery),
      (tx: Kysely<Schema>) => deferFollowers(tx, [outcome]),
    ]
    for (const run of statements) {
      try {
        await db.transaction().execute(async (tx) => {
          await boundTransaction(tx, BRIEF_WAIT)
          await run(tx)
        })
      } catch (error) {
        const fields = { err: error, delivery_id: outcome.delivery.id }
        log.warn(fields, 'that an attempt was made could not be noted')
      }
    }
  }
}

/** Longer after each attempt, as after one that failed: nothing ends these attempts. */
function findGivenUpPauseMs(
  { attemptCount }: DeliveryOutcome['delivery'],
  random: RandomShare,
): number {
  const count = Math.min(attemptCount + 1, RETRY_DELAYS_MS.length)
  const bounds = { floorMs: GIVEN_UP_PAUSE_MIN_MS }
  return findRetryDelayMs(RETRY_DELAYS_MS, count, bounds, random) ?? GIVEN_UP_PAUSE_MIN_MS
}

function newLine(): Line {
  return { waiting: [], suspectCount: 0, tries: 0, restsUntilMs: -Infinity }
}

function suspect(line: Line, count: number): void {
  line.suspectCount = Math.max(0, count)
  line.tries = 0
}

function endAll(ended: readonly WaitingOutcome[]): void {
  for (const { onRecorded } of ended) onRecorded()
}
