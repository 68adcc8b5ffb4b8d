/*
 * Collects the outcomes of all destinations for a moment and writes them together: the statement and
 * its commit cost many times what one more row in it does. Owns the batching, the repetition when the database is away,
 * and that what hinders some outcomes puts their destinations aside (outcomes-aside.ts), so that the others go on; what
 * is written is outcome-store.ts's.
 */
import type { Kysely, Transaction } from 'kysely'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change, RunChange } from '../../changes/change.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { boundTransaction, type TransactionBounds } from '../../platform/db/bound-transaction.ts'
import { isAboutContents, isUnknownFault } from '../../platform/db/database-fault.ts'
import type { TopicSink } from '../../platform/live/topic-notifier.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { LiveCollection, LiveTopic } from '../../schema/live-topics.ts'
import type { Schema } from '../../schema/schema.ts'
import type { HealthReport } from './circuit-breaker.ts'
import { isReceiverFailure, type DestinationKind } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { errorOf, type DeliveryOutcome, type OutcomeNotice } from './delivery-outcome.ts'
import { BRIEF_WAIT, FIRST_WAIT } from './lock-waits.ts'
import { deferFollowers, recordHealth, recordOutcomes } from './outcome-store.ts'
import {
  OutcomesAside,
  UNKNOWN_TRIES_MAX,
  type OutcomeEnd,
  type WaitingOutcome,
} from './outcomes-aside.ts'
import type { RandomShare } from './retry-schedule.ts'

export interface OutcomeRecorderDependencies {
  readonly db: Kysely<Schema>
  readonly log: DeliveryLog
  readonly random: RandomShare
  /** Runs what channels do about a notice, in one change with the outcomes. */
  readonly runChange: RunChange
  /** Told which deliveries have moved on, and where receivers began or ceased to fail. */
  readonly topics: TopicSink
}

/** Where the health of a receiver is shown, by the kind of its destination. */
const COLLECTIONS: Readonly<Record<DestinationKind, LiveCollection>> = {
  ssf_push: 'ssf_streams',
  ssf_poll: 'ssf_streams',
  webhook: 'webhooks',
}

/**
 * How long a batch waits for more, also while a stream of outcomes never ends: a statement and its commit cost as much
 * as 16 outcomes in them.
 */
const GATHERING_MS = 20
const BATCH_MAX = 256
const REPEAT_DELAY_MS = 250
/** An end searches for what is locked until then at most: a process that has not stopped soon after is broken off. */
const END_MS = 7 * SECOND_MS
/** A success is written to its destination this often at most: the row would be the hottest of all. */
const SUCCESS_INTERVAL_MS = 1_000

export class OutcomeRecorder {
  readonly #dependencies: OutcomeRecorderDependencies
  /** On the steady clock of `performance.now()`. */
  readonly #successWrittenMs = new Map<DestinationId, number>()
  readonly #failing = new Set<DestinationId>()
  readonly #aside: OutcomesAside
  #waiting: WaitingOutcome[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  /** Once an end has begun: until when it may search; on the steady clock of `performance.now()`. */
  #endMs: number | undefined
  #isClosed = false

  constructor(dependencies: OutcomeRecorderDependencies) {
    this.#dependencies = dependencies
    this.#aside = new OutcomesAside({
      ...dependencies,
      tryWriting: (batch, bounds) => this.#tryWriting(batch, bounds),
    })
  }

  /** Writes the outcome soon, and tells its end. The order of each destination is kept. */
  record(outcome: DeliveryOutcome, end: OutcomeEnd): void {
    const waiting = { outcome, ...end }
    if (this.#isAside(waiting)) {
      this.#aside.add([waiting])
      return
    }
    this.#waiting.push(waiting)
    if (this.#running === undefined) this.#gather()
  }

  /** Starts now when a batch is full, else soon. */
  #gather(): void {
    if (this.#waiting.length >= BATCH_MAX) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), GATHERING_MS)
  }

  /** An end has begun: from now on nothing waits long for a lock. */
  expectEnd(): void {
    this.#endMs ??= performance.now() + END_MS
  }

  /** Writes what is left; gives up after one failure, for then the leases bring the deliveries back. */
  async close(): Promise<void> {
    this.expectEnd()
    this.#isClosed = true
    while (this.#waiting.length > 0 || this.#running !== undefined) {
      this.#start()
      await this.#running
    }
    await this.#aside.close(this.#endMs)
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running ??= this.#writeBatch().finally(() => {
      this.#running = undefined
      if (this.#waiting.length > 0) this.#gather()
    })
  }

  /** Writes them together, again and again while the database is away. What hinders some of them puts all aside. */
  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH_MAX)
    let unknownTries = 0
    for (;;) {
      // While some are locked more of them may be, of other destinations: these are not waited for one after another.
      // Nor is there time for it at the end, when what is locked must be found among the others.
      const isBrief = this.#endMs !== undefined || !this.#aside.isEmpty
      const error = await this.#tryWriting(batch, isBrief ? BRIEF_WAIT : FIRST_WAIT)
      if (error === undefined) break
      const fields = { err: error, outcome_count: batch.length }
      this.#dependencies.log.warn(fields, 'delivery outcomes could not be recorded')
      unknownTries = isUnknownFault(error) ? unknownTries + 1 : 0
      if (isAboutContents(error) || unknownTries >= UNKNOWN_TRIES_MAX) {
        this.#putAside(batch)
        return
      }
      if (this.#isClosed) break
      await new Promise((resolve) => setTimeout(resolve, REPEAT_DELAY_MS))
    }
    for (const { onRecorded } of batch) onRecorded()
  }

  /** With all that waits of the same destinations, whose order is kept by that. */
  #putAside(batch: readonly WaitingOutcome[]): void {
    this.#aside.add(batch)
    this.#aside.add(this.#waiting.filter((waiting) => this.#isAside(waiting)))
    this.#waiting = this.#waiting.filter((waiting) => !this.#isAside(waiting))
  }

  #isAside({ outcome }: WaitingOutcome): boolean {
    return this.#aside.has(outcome.delivery.destinationId)
  }

  /** Answers why they could not be written; undefined when they are, and whoever watches was told. */
  async #tryWriting(batch: readonly WaitingOutcome[], bounds: TransactionBounds): Promise<unknown> {
    let changed: readonly LiveTopic[]
    try {
      changed = await this.#write(
        batch.map(({ outcome }) => outcome),
        bounds,
      )
    } catch (error) {
      return error
    }
    this.#dependencies.topics.tell([...batch.map(toTopic), ...changed])
    return undefined
  }

  /** The usual case, nothing but successes, is a single statement; the others need a transaction. */
  async #write(
    outcomes: readonly DeliveryOutcome[],
    bounds: TransactionBounds,
  ): Promise<readonly LiveTopic[]> {
    const { db, random, runChange } = this.#dependencies
    const reports = this.#findReportsToWrite(outcomes)
    const retried = outcomes.filter(({ state }) => state === 'queued')
    const hasNotices = outcomes.some(({ notice }) => notice !== null)
    if (reports.size === 0 && retried.length === 0 && !hasNotices) {
      await recordOutcomes(db, outcomes, bounds)
      return []
    }
    const write = async (tx: Transaction<Schema>, change?: Change) => {
      if (change !== undefined) {
        await boundTransaction(tx, bounds)
        await lockOwners(change, outcomes)
      }
      const ids = await recordOutcomes(tx, outcomes, bounds)
      const heads = retried.filter(({ delivery }) => ids.has(delivery.id))
      await deferFollowers(tx, heads)
      // In one order everywhere, so that two processes cannot wait for each other.
      const changed = new Set<LiveTopic>()
      for (const [destinationId, report] of [...reports].sort(byId)) {
        const kind = await recordHealth(tx, destinationId, report, random)
        if (kind !== undefined) changed.add(COLLECTIONS[kind])
      }
      // A notice is of a destination that is locked by now.
      if (change !== undefined) await notifyChannels(change, outcomes, ids)
      return [...changed]
    }
    const changed = hasNotices
      ? await runChange({ actor: SYSTEM_ACTOR }, (change) => write(change.tx, change))
      : await db.transaction().execute((tx) => write(tx))
    this.#noteWritten(reports)
    return changed
  }

  #findReportsToWrite(outcomes: readonly DeliveryOutcome[]): Map<DestinationId, HealthReport> {
    const reports = toHealthReports(outcomes)
    const nowMs = performance.now()
    for (const [id, report] of reports) {
      const lastWritten = this.#successWrittenMs.get(id) ?? -Infinity
      const isQuiet = report.lastFailure === null && !this.#failing.has(id)
      if (isQuiet && nowMs - lastWritten < SUCCESS_INTERVAL_MS) reports.delete(id)
    }
    return reports
  }

  #noteWritten(reports: ReadonlyMap<DestinationId, HealthReport>): void {
    const nowMs = performance.now()
    for (const [id, report] of reports) {
      this.#successWrittenMs.set(id, nowMs)
      if (report.trailingFailures > 0) this.#failing.add(id)
      else this.#failing.delete(id)
    }
  }
}

function toTopic({ outcome }: WaitingOutcome): LiveTopic {
  return `deliveries:${outcome.delivery.id}`
}

/** In one order everywhere, so that two processes cannot wait for each other. */
async function lockOwners(change: Change, outcomes: readonly DeliveryOutcome[]): Promise<void> {
  const notices = new Map(
    outcomes.flatMap(({ delivery, notice }) =>
      notice === null ? [] : [[delivery.destinationId, notice] as const],
    ),
  )
  for (const [, notice] of [...notices].sort(byId)) await notice.lockOwner(change)
}

/** Once for each destination and kind of notice, of outcomes that count. */
async function notifyChannels(
  change: Change,
  outcomes: readonly DeliveryOutcome[],
  held: ReadonlySet<string>,
): Promise<void> {
  const notices = new Map<string, OutcomeNotice>()
  for (const { delivery, notice } of outcomes) {
    if (notice === null || !held.has(delivery.id)) continue
    const key = `${delivery.destinationId} ${notice.kind}`
    if (!notices.has(key)) notices.set(key, notice)
  }
  for (const notice of notices.values()) await notice.notify(change)
}

function byId([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return Number(BigInt(left) - BigInt(right))
}

function toHealthReports(outcomes: readonly DeliveryOutcome[]): Map<DestinationId, HealthReport> {
  const reports = new Map<DestinationId, HealthReport>()
  for (const { delivery, verdict, pauseMs } of outcomes) {
    const before = reports.get(delivery.destinationId)
    const isFailure = isReceiverFailure(verdict)
    reports.set(delivery.destinationId, {
      hasAnswered: !isFailure || before?.hasAnswered === true,
      hasSucceeded: verdict.kind === 'accepted' || before?.hasSucceeded === true,
      trailingFailures: isFailure ? (before?.trailingFailures ?? 0) + 1 : 0,
      pauseMs: Math.max(pauseMs, before?.pauseMs ?? 0),
      lastFailure: errorOf(verdict).error ?? before?.lastFailure ?? null,
    })
  }
  return reports
}
