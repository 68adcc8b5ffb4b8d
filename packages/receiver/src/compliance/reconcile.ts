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

/** What a page says, by the keys of its subjects. */
interface PageStatements {
  readonly page: StateFloor
  readonly stated: ReadonlyMap<string, ComplianceEntry>
}

type PageCounts = Pick<ReconcileReport, 'added' | 'changed' | 'unchanged'>

/** What comparing a page came to. */
interface PageFindings {
  readonly counts: PageCounts
  readonly putOff: PageStatements
}

/** How a run through all pages began, and what it has seen. */
interface ReconcileRun {
  /** Whether the pages are not read anew after it. */
  readonly isFinal: boolean
  readonly before: StreamPosition | undefined
  readonly refusalsBefore: number
  /** The newest of what the pages have said of each of their subjects. */
  readonly newest: Map<string, ComplianceEntry>
  /** Those of them that were known. */
  readonly knownKeys: Set<string>
  /** Whether the stream counts from the beginning again. */
  isAnew: boolean
}

/** How often the pages are read where another process may have removed what they tell of. */
const RUNS_MAX = 3

/** A page tells of a subject that another process may have removed since. */
class PageOutdatedError extends StoreChangedError {}

/**
 * Makes a store agree with the state of a stream, page by page; what events have told since a page
 * was read stays. Subjects are removed only after the last page, so that a state that breaks off
 * removes nothing. The pages are read anew where another process may have removed what one of them tells of; in the
 * end only a subject that was known counts as removed, and any other one as new.
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
  const counts = { added: 0, changed: 0, unchanged: 0 }
  const compare = async (statements: PageStatements, isLast: boolean) => {
    parts.signal.throwIfAborted()
    const found = await parts.inTurn(() =>
      commitJudged(parts, (tell) => judgePage(parts, { ...statements, isLast, run, tell })),
    )
    counts.added += found.counts.added
    counts.changed += found.counts.changed
    counts.unchanged += found.counts.unchanged
    return found.putOff
  }
  const putOff: PageStatements[] = []
  let floor: StateFloor | undefined
  for await (const page of parts.readPages()) {
    parts.signal.throwIfAborted()
    run.isAnew ||= floor === undefined && isCountedAnew(run.before, page)
    floor = {
      as_of: Math.min(page.as_of, floor?.as_of ?? page.as_of),
      as_of_sequence: Math.min(page.as_of_sequence, floor?.as_of_sequence ?? page.as_of_sequence),
    }
    putOff.push(await compare(newestOf(page, run.newest), false))
  }
  for (const statements of putOff) {
    if (statements.stated.size > 0) await compare(statements, true)
  }
  parts.signal.throwIfAborted()
  if (floor === undefined) {
    throw new TransmitterError('bad_response', 'the state of the stream has no page')
  }
  const removed = await removeOthers(parts, run, floor)
  return { ...counts, removed, asOfSequence: floor.as_of_sequence }
}

/**
 * Compares what is known with a page. What it says that is older than what is known is put off until all pages are
 * read: another page may say of the same subject what is known.
 */
async function judgePage(
  { store, memory }: ReconcileParts,
  {
    page,
    stated,
    isLast,
    run,
    tell,
  }: PageStatements & {
    readonly isLast: boolean
    readonly run: ReconcileRun
    readonly tell: TellChange
  },
): Promise<Judgement<PageFindings>> {
  const putOff = new Map<string, ComplianceEntry>()
  const counts = { added: 0, changed: 0, unchanged: 0 }
  const entries = new Map<string, ComplianceEntry>()
  const held = run.isAnew ? withoutNumber(page) : page
  const isOvertaken =
    !run.isFinal &&
    memory.refusals > run.refusalsBefore &&
    ((await store.readPosition())?.sequence ?? 0) > page.as_of_sequence
  for (const [key, entry] of stated) {
    if (run.newest.get(key) !== entry) continue
    const known = await store.find(key)
    if (known === undefined && (isOvertaken || run.knownKeys.has(key))) {
      throw new PageOutdatedError('another process may have removed what the state tells of')
    }
    if (known !== undefined) run.knownKeys.add(key)
    const current = currentOf(known, entry, { held, isLast })
    if (current === undefined) {
      putOff.set(key, entry)
      continue
    }
    counts[toCount(known, current)] += 1
    await tell({ key, subject: current.subject, known, current: current.status })
    if (isToBeStored(known, current)) entries.set(key, current)
  }
  return { changes: { entries }, value: { counts, putOff: { page, stated: putOff } } }
}

/**
 * What a page says of each subject that is not older than what it, or a page before it, says of the same one: a person
 * with two devices may be in the state twice.
 */
function newestOf(
  { subjects, ...page }: StreamState,
  newest: Map<string, ComplianceEntry>,
): PageStatements {
  const stated = new Map<string, ComplianceEntry>()
  for (const state of subjects) {
    const entry = fromSubjectState(state, page)
    const key = toComplianceKey(entry.subject)
    const earlier = newest.get(key)
    if (earlier !== undefined && isOutdated(entry, earlier)) continue
    newest.set(key, entry)
    stated.set(key, entry)
  }
  return { page, stated }
}

/** What counts of a subject, what is known or what a page says; undefined where other pages have to be read first. */
function currentOf(
  known: ComplianceEntry | undefined,
  entry: ComplianceEntry,
  { held, isLast }: { readonly held: StateFloor; readonly isLast: boolean },
): ComplianceEntry | undefined {
  if (known === undefined) return entry
  if (outlastsPage(known, entry, held)) return known
  return isLast || !isOutdated(entry, known) ? entry : undefined
}

function isToBeStored(known: ComplianceEntry | undefined, current: ComplianceEntry): boolean {
  if (known === undefined) return true
  return known !== current && !isSaidAgain(known, current)
}

function toCount(known: ComplianceEntry | undefined, entry: ComplianceEntry): keyof PageCounts {
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
