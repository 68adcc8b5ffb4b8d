import type { StreamState } from '@heliograph/ssf'
import { StoreChangedError, TransmitterError } from '../errors.ts'
import {
  commitJudged,
  type JudgedCommitParts,
  type Judgement,
  type TellChange,
} from './commit-judged.ts'
import {
  fromSubjectState,
  isAfterPage,
  isOutdated,
  isSaidAgain,
  outlastsPage,
  toComplianceKey,
  type ComplianceEntry,
} from './compliance-entry.ts'
import { isSamePosition, noteSequence, skipTo, type StreamPosition } from './stream-position.ts'

/** What a reconciliation found. All but `unchanged` was different and has been corrected. */
export interface ReconcileReport {
  /** Subjects that were not known. */
  readonly added: number
  /** Subjects whose status was another. */
  readonly changed: number
  /** Subjects that the transmitter no longer has. */
  readonly removed: number
  readonly unchanged: number
  /** Every SET up to this number is accounted for; 0 when the stream is not numbered. */
  readonly asOfSequence: number
}

/** What a reconciliation works with. */
export interface ReconcileParts extends JudgedCommitParts {
  /** Reads the state of the stream from its first page on. */
  readonly readPages: () => AsyncIterable<StreamState>
  /** Ends the reconciliation, also where the source of the pages does not look at it. */
  readonly signal: AbortSignal
  /** Runs work when no event is being applied. */
  readonly inTurn: <Value>(work: () => Promise<Value>) => Promise<Value>
  readonly onPosition: (position: StreamPosition) => void
  /** The numbers of the events that were applied since the reconciliation began. */
  readonly appliedNumbers: readonly number[]
}

/** Since when the state of a stream holds. */
type StateFloor = Pick<StreamState, 'as_of' | 'as_of_sequence'>

/** What the state says of a subject, with the page that says it. */
interface Statement {
  readonly entry: ComplianceEntry
  readonly page: StateFloor
}

type SubjectCounts = Pick<ReconcileReport, 'added' | 'changed' | 'unchanged'>

/** How a run through all pages began, and what it has seen. */
interface ReconcileRun {
  /** Whether the pages are not read anew after it. */
  readonly isFinal: boolean
  readonly before: StreamPosition | undefined
  readonly refusalsBefore: number
  /** The newest of what the pages have said of each of their subjects. */
  readonly newest: Map<string, Statement>
  /** Those of them that were known. */
  readonly knownKeys: Set<string>
  /** Whether the stream counts from the beginning again. */
  isAnew: boolean
}

/** How often the pages are read where another process may have removed what they tell of. */
const RUNS_MAX = 3

/** How many subjects are compared and stored at once. */
const SUBJECTS_AT_ONCE = 1_000

/** A page tells of a subject that another process may have removed since. */
class PageOutdatedError extends StoreChangedError {}

/**
 * Makes a store agree with the state of a stream, once all its pages are read: a person with two devices may be on two
 * of them. What events have told since a page was read stays. The pages are read anew where another process may have
 * removed what one of them tells of; in the end only a subject that was known counts as removed, and any other one as
 * new.
 *
 * @throws StoreChangedError when other processes change the store all the time.
 */
export async function reconcileWithState(parts: ReconcileParts): Promise<ReconcileReport> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await reconcileOnce(parts, runs === RUNS_MAX)
    } catch (error) {
      if (!(error instanceof PageOutdatedError) || runs === RUNS_MAX) throw error
    }
  }
}

async function reconcileOnce(parts: ReconcileParts, isFinal: boolean): Promise<ReconcileReport> {
  const run: ReconcileRun = {
    isFinal,
    before: await parts.inTurn(async () => parts.store.readPosition()),
    refusalsBefore: parts.memory.refusals,
    newest: new Map(),
    knownKeys: new Set(),
    isAnew: false,
  }
  let floor: StateFloor | undefined
  for await (const page of parts.readPages()) {
    parts.signal.throwIfAborted()
    run.isAnew ||= floor === undefined && isCountedAnew(run.before, page)
    floor = {
      as_of: Math.min(page.as_of, floor?.as_of ?? page.as_of),
      as_of_sequence: Math.min(page.as_of_sequence, floor?.as_of_sequence ?? page.as_of_sequence),
    }
    noteNewest(page, run.newest)
  }
  parts.signal.throwIfAborted()
  if (floor === undefined) {
    throw new TransmitterError('bad_response', 'the state of the stream has no page')
  }
  const counts = await compareSubjects(parts, run)
  const removed = await removeOthers(parts, run, floor)
  return { ...counts, removed, asOfSequence: floor.as_of_sequence }
}

/** Notes what a page says of each subject, unless it is older than what was said of the same one before. */
function noteNewest({ subjects, ...page }: StreamState, newest: Map<string, Statement>): void {
  for (const state of subjects) {
    const entry = fromSubjectState(state, page)
    const key = toComplianceKey(entry.subject)
    const earlier = newest.get(key)
    if (earlier === undefined || !isOutdated(entry, earlier.entry)) newest.set(key, { entry, page })
  }
}

async function compareSubjects(parts: ReconcileParts, run: ReconcileRun): Promise<SubjectCounts> {
  const counts = { added: 0, changed: 0, unchanged: 0 }
  const statements = [...run.newest]
  for (let from = 0; from < statements.length; from += SUBJECTS_AT_ONCE) {
    parts.signal.throwIfAborted()
    const some = statements.slice(from, from + SUBJECTS_AT_ONCE)
    const found = await parts.inTurn(() =>
      commitJudged(parts, (tell) => judgeSubjects(parts, { statements: some, run, tell })),
    )
    counts.added += found.added
    counts.changed += found.changed
    counts.unchanged += found.unchanged
  }
  return counts
}

/** Compares what is known with what the state says. */
async function judgeSubjects(
  { store, memory }: ReconcileParts,
  {
    statements,
    run,
    tell,
  }: {
    readonly statements: readonly (readonly [key: string, statement: Statement])[]
    readonly run: ReconcileRun
    readonly tell: TellChange
  },
): Promise<Judgement<SubjectCounts>> {
  const counts = { added: 0, changed: 0, unchanged: 0 }
  const entries = new Map<string, ComplianceEntry>()
  const mayBeOvertaken = !run.isFinal && memory.refusals > run.refusalsBefore
  const storedNumber = mayBeOvertaken ? ((await store.readPosition())?.sequence ?? 0) : 0
  for (const [key, { entry, page }] of statements) {
    const known = await store.find(key)
    if (known === undefined && (storedNumber > page.as_of_sequence || run.knownKeys.has(key))) {
      throw new PageOutdatedError('another process may have removed what the state tells of')
    }
    if (known !== undefined) run.knownKeys.add(key)
    const held = run.isAnew ? withoutNumber(page) : page
    const current = known !== undefined && outlastsPage(known, entry, held) ? known : entry
    counts[toCount(known, current)] += 1
    await tell({ key, subject: current.subject, known, current: current.status })
    if (isToBeStored(known, current)) entries.set(key, current)
  }
  return { changes: { entries }, value: counts }
}

function isToBeStored(known: ComplianceEntry | undefined, current: ComplianceEntry): boolean {
  if (known === undefined) return true
  return known !== current && !isSaidAgain(known, current)
}

function toCount(known: ComplianceEntry | undefined, entry: ComplianceEntry): keyof SubjectCounts {
  if (known === undefined) return 'added'
  return known.status === entry.status ? 'unchanged' : 'changed'
}

/**
 * Whether a stream counts from the beginning again, as one does that was made anew: it is not as far as it was before
 * its state was asked for. What is known then has numbers of another stream.
 */
function isCountedAnew(before: StreamPosition | undefined, page: StreamState): boolean {
  return before !== undefined && page.as_of_sequence < before.sequence
}

/** The page as that of a stream without numbers: what is known is held against it by times alone. */
function withoutNumber<Page extends Pick<StreamState, 'as_of_sequence'>>(page: Page): Page {
  return { ...page, as_of_sequence: 0 }
}

/** Removes what no page has told of, unless it came after the first one was read, and moves the position on. */
async function removeOthers(
  parts: ReconcileParts,
  run: ReconcileRun,
  floor: StateFloor,
): Promise<number> {
  return parts.inTurn(async () => {
    const { removed, position } = await commitJudged(parts, (tell) =>
      judgeOthers(parts, { run, floor, tell }),
    )
    if (position !== undefined) parts.onPosition(position)
    return removed
  })
}

async function judgeOthers(
  { store, memory, appliedNumbers }: ReconcileParts,
  {
    run,
    floor,
    tell,
  }: { readonly run: ReconcileRun; readonly floor: StateFloor; readonly tell: TellChange },
): Promise<Judgement<{ removed: number; position: StreamPosition | undefined }>> {
  const removedKeys: string[] = []
  const held = run.isAnew ? withoutNumber(floor) : floor
  const gone = new Map(memory.told)
  for (const key of run.newest.keys()) gone.delete(key)
  for await (const [key, known] of store.list()) {
    gone.delete(key)
    if (run.newest.has(key)) continue
    // What came in the very second in which the first page was read may have come after it.
    const isNewer = isAfterPage(known, { ...held, as_of: held.as_of - 1 })
    const current = isNewer ? known.status : undefined
    await tell({ key, subject: known.subject, known, current })
    if (!isNewer) removedKeys.push(key)
  }
  for (const [key, { subject }] of gone) {
    await tell({ key, subject, known: undefined, current: undefined })
  }
  const stored = await store.readPosition()
  const position = positionAfter(stored, { run, floor, appliedNumbers })
  const changes = { removedKeys, position: position === stored ? undefined : position }
  return { changes, value: { removed: removedKeys.length, position } }
}

/** How far the stream has come by its state. */
function positionAfter(
  stored: StreamPosition | undefined,
  {
    run,
    floor,
    appliedNumbers,
  }: Pick<ReconcileParts, 'appliedNumbers'> & {
    readonly run: ReconcileRun
    readonly floor: StateFloor
  },
): StreamPosition | undefined {
  const sequence = floor.as_of_sequence
  // Where another process has moved it, that one may have noticed already that the stream counts anew.
  if (run.isAnew && isSamePosition(stored, noteAll(run.before, appliedNumbers))) {
    return noteAll({ sequence, ahead: [] }, appliedNumbers)
  }
  return sequence === 0 ? stored : skipTo(stored, sequence)
}

function noteAll(
  position: StreamPosition | undefined,
  numbers: readonly number[],
): StreamPosition | undefined {
  return numbers.reduce<StreamPosition | undefined>(noteSequence, position)
}
