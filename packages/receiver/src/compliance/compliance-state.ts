// Answers whether a device is compliant now: fed by the events of one stream, corrected by the
// state of the stream, and aware of events that did not come.
import {
  readStreamSequence,
  type ComplianceStatus,
  type StreamState,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import { requireAmounts } from '../require-amounts.ts'
import type { CallOptions } from '../stream-client/stream-client.ts'
import { tellListener } from '../tell-listener.ts'
import { untilAborted } from '../until-aborted.ts'
import type { VerifiedSet } from '../verify-set.ts'
import {
  commitJudged,
  type JudgedCommitParts,
  type Judgement,
  type TellChange,
} from './commit-judged.ts'
import {
  isOutdated,
  toComplianceEntry,
  toComplianceKey,
  type ComplianceChange,
  type ComplianceEntry,
} from './compliance-entry.ts'
import type { ComplianceStore } from './compliance-store.ts'
import { createGapWatch, type GapWatch } from './gap-watch.ts'
import { reconcileWithState, type ReconcileReport } from './reconcile.ts'
import { noteSequence, skipTo, type SequenceGap, type StreamPosition } from './stream-position.ts'

/** Gives the pages of the current state of the stream, such as `streamClient.statePages`. */
export type StateSource = (options: CallOptions) => AsyncIterable<StreamState>

/** What a compliance state works with. */
export interface ComplianceStateOptions {
  /** Holds the subjects of this stream and of no other. */
  readonly store: ComplianceStore
  /** Where the state of the stream is read for {@link ComplianceState.reconcile}. */
  readonly source?: StateSource
  /**
   * Told of each change before it is stored: when it throws, the change is not stored and the event
   * comes again. It may be told of one change twice, and of one that is not stored then, as where the store fails or
   * another process has stored something later. What is so is told as soon as the subject is judged again: at once
   * where only the store has changed, else by its next event or a reconciliation, unless the process ends before that.
   * What two processes tell at the same time may cross. `statusOf` has what is stored. It must not await `apply`,
   * `reconcile` or `close` of the same state: each of them waits until it has returned, and nothing would ever go on.
   */
  readonly onChange?: (change: ComplianceChange) => void | Promise<void>
  /** Told of SETs that did not come; needs a stream that numbers its SETs. What it throws is ignored. */
  readonly onGap?: (gap: SequenceGap) => unknown
  /** Told why a reconciliation after a gap failed; it is tried again. What it throws is ignored. */
  readonly onError?: (error: unknown) => unknown
  /**
   * How long a SET may be overtaken by later ones before it counts as missing, in milliseconds.
   * Default 10000.
   */
  readonly gapGraceMs?: number
}

/** What became of an event. */
export type ApplyOutcome =
  /** It is what is known now. */
  | 'applied'
  /** A later one was there already. */
  | 'outdated'
  /** It says nothing about compliance. */
  | 'ignored'

/** The compliance of the subjects of one stream. */
export interface ComplianceState {
  /**
   * Takes in an event; give it every event of the stream, for example as `onEvent`. It resolves when
   * the change is durable, so that acknowledging is safe then. It rejects when the store does: let the event come
   * again. Where another process has changed the store meanwhile, the event is judged once more by that, ten times at
   * most.
   */
  apply(set: VerifiedSet): Promise<ApplyOutcome>
  /** The status of a subject now; undefined when nothing is known about it. */
  statusOf(subject: SubjectIdentifier): Promise<ComplianceStatus | undefined>
  /** What is known about a subject; undefined when nothing is. */
  find(subject: SubjectIdentifier): Promise<ComplianceEntry | undefined>
  /**
   * Compares everything with the state of the stream and corrects what differs; events that come
   * meanwhile are respected. Calls at the same time share one run, with the `timeoutMs` of the first; it goes on as
   * long as one of them waits. Where the state is not as far as the stored numbers, the stream was made anew: its state
   * is believed then. Nothing changes before the last page is read. Where another process has changed the store
   * meanwhile, what the state says is compared once more with that, ten times at most, and where that one may have
   * removed a subject, all pages are read anew, twice at most.
   *
   * @throws TypeError without a `source`; TransmitterError `aborted` by the signal; what source or store throw.
   */
  reconcile(options?: CallOptions): Promise<ReconcileReport>
  /**
   * Ends the watch for gaps, and a reconciliation that it began unless somebody else waits for it. Resolves when what
   * is being told and stored at the moment is done: then the store may be closed, unless more events are given or
   * somebody waits for a reconciliation. Do not await it within `onChange`, for which it waits; call it there without.
   */
  close(): Promise<void>
}

const GAP_GRACE_MS = 10_000

/** A reconciliation, for all who wait for it at the same time. */
interface SharedRun {
  readonly report: Promise<ReconcileReport>
  /** The numbers of the events that were applied since it began. */
  readonly appliedNumbers: number[]
  /** How many wait. */
  waiting: number
  readonly abort: () => void
}

/**
 * Creates the compliance state of one stream. Later statements win over earlier ones by the time of
 * the event, then the number or the issue time of the SET, in whatever order they come.
 *
 * @throws TypeError when `gapGraceMs` is no time.
 */
export function createComplianceState(options: ComplianceStateOptions): ComplianceState {
  return new StoredComplianceState(options)
}

/** What judging an event came to. */
interface JudgedEvent {
  readonly outcome: ApplyOutcome
  /** How far the stream has come; undefined when the event has no number. */
  readonly position: StreamPosition | undefined
}

class StoredComplianceState implements ComplianceState {
  readonly #options: ComplianceStateOptions
  readonly #parts: JudgedCommitParts
  readonly #gaps: GapWatch
  readonly #closing = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()
  #reconciling: SharedRun | undefined

  constructor(options: ComplianceStateOptions) {
    requireAmounts({ gapGraceMs: options.gapGraceMs })
    this.#options = options
    this.#parts = {
      store: options.store,
      onChange: async (change) => options.onChange?.(change),
      memory: { told: new Map(), refusals: 0 },
    }
    this.#gaps = createGapWatch({
      graceMs: options.gapGraceMs ?? GAP_GRACE_MS,
      onGap: (gap) => this.#closeGap(gap),
      onError: (error) => tellListener(options.onError, error),
    })
    void this.#inTurn(() => this.#watchStoredGap()).catch((error: unknown) =>
      tellListener(options.onError, error),
    )
  }

  apply(set: VerifiedSet): Promise<ApplyOutcome> {
    return this.#inTurn(async () => {
      const { outcome, position } = await commitJudged(this.#parts, (tell) =>
        this.#judge(set, tell),
      )
      const sequence = readStreamSequence(set.claims)
      if (sequence !== undefined) this.#reconciling?.appliedNumbers.push(sequence)
      if (position !== undefined) this.#gaps.update(position)
      return outcome
    })
  }

  async statusOf(subject: SubjectIdentifier): Promise<ComplianceStatus | undefined> {
    return (await this.find(subject))?.status
  }

  async find(subject: SubjectIdentifier): Promise<ComplianceEntry | undefined> {
    return this.#options.store.find(toComplianceKey(subject))
  }

  async reconcile(options: CallOptions = {}): Promise<ReconcileReport> {
    const { source } = this.#options
    if (source === undefined) throw new TypeError('a reconciliation needs a source')
    const shared = (this.#reconciling ??= this.#beginReconciling(source, options))
    shared.waiting += 1
    try {
      return await untilAborted(shared.report, options.signal)
    } finally {
      shared.waiting -= 1
      // When nobody waits any more it is for nothing.
      if (shared.waiting === 0) shared.abort()
    }
  }

  async close(): Promise<void> {
    this.#gaps.close()
    this.#closing.abort()
    await this.#turn
  }

  #beginReconciling(source: StateSource, { timeoutMs }: CallOptions): SharedRun {
    const controller = new AbortController()
    const call = { signal: controller.signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    const appliedNumbers: number[] = []
    const report = reconcileWithState({
      ...this.#parts,
      readPages: () => source(call),
      appliedNumbers,
      signal: controller.signal,
      inTurn: (work) => this.#inTurn(work),
      onPosition: (position) => this.#gaps.update(position),
    }).finally(() => {
      if (this.#reconciling === shared) this.#reconciling = undefined
    })
    // Nobody may wait for it any more.
    report.catch(() => undefined)
    const shared: SharedRun = {
      report,
      appliedNumbers,
      waiting: 0,
      abort: () => {
        if (this.#reconciling === shared) this.#reconciling = undefined
        controller.abort()
      },
    }
    return shared
  }

  /** A gap that was open when the process ended is open still. */
  async #watchStoredGap(): Promise<void> {
    const position = await this.#options.store.readPosition()
    if (position !== undefined) this.#gaps.update(position)
  }

  async #judge(set: VerifiedSet, tell: TellChange): Promise<Judgement<JudgedEvent>> {
    const { store } = this.#parts
    const sequence = readStreamSequence(set.claims)
    const before = sequence === undefined ? undefined : await store.readPosition()
    const position = sequence === undefined ? undefined : noteSequence(before, sequence)
    const moved = position === before ? undefined : position
    const entry = toComplianceEntry(set)
    if (entry === undefined) {
      return { changes: { position: moved }, value: { outcome: 'ignored', position } }
    }
    const { subject } = entry
    const key = toComplianceKey(subject)
    const known = await store.find(key)
    if (known !== undefined && isOutdated(entry, known)) {
      await tell({ key, subject, known, current: known.status })
      return { changes: { position: moved }, value: { outcome: 'outdated', position } }
    }
    await tell({ key, subject, known, current: entry.status })
    const entries = new Map([[key, entry]])
    return { changes: { entries, position: moved }, value: { outcome: 'applied', position } }
  }

  async #closeGap(gap: SequenceGap): Promise<void> {
    tellListener(this.#options.onGap, gap)
    if (this.#options.source !== undefined) {
      await this.reconcile({ signal: this.#closing.signal })
      return
    }
    await this.#inTurn(async () => {
      const position = await commitJudged(this.#parts, async () => {
        const before = await this.#parts.store.readPosition()
        const skipped = skipTo(before, gap.to)
        return { changes: { position: skipped === before ? undefined : skipped }, value: skipped }
      })
      this.#gaps.update(position)
    })
  }

  /** One at a time, in the order of the calls: each reads what the one before has written. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }
}
