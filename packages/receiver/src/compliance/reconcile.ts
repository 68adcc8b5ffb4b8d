import type { StreamState } from '@heliograph/ssf'
import { TransmitterError } from '../errors.ts'
import {
  commitJudged,
  type JudgedCommitParts,
  type Judgement,
  type TellChange,
} from './commit-judged.ts'
import {
  fromSubjectState,
  isAfterPage,
  outlastsPage,
  toComplianceKey,
  type ComplianceEntry,
} from './compliance-entry.ts'
import type { ComplianceStore } from './compliance-store.ts'
import { skipTo, type StreamPosition } from './stream-position.ts'

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
  readonly pages: AsyncIterable<StreamState>
  /** Ends the reconciliation, also where the source of the pages does not look at it. */
  readonly signal: AbortSignal
  /** Runs work when no event is being applied. */
  readonly inTurn: <Value>(work: () => Promise<Value>) => Promise<Value>
  readonly onPosition: (position: StreamPosition) => void
}

type PageCounts = Pick<ReconcileReport, 'added' | 'changed' | 'unchanged'>

/** Since when the state of a stream holds. */
type StateFloor = Pick<StreamState, 'as_of' | 'as_of_sequence'>

/**
 * Makes a store agree with the state of a stream, page by page; what events have told since a page
 * was read stays. Subjects are removed only after the last page, so that a state that breaks off
 * removes nothing.
 */
export async function reconcileWithState(parts: ReconcileParts): Promise<ReconcileReport> {
  const counts = { added: 0, changed: 0, unchanged: 0 }
  const keys = new Set<string>()
  let floor: StateFloor | undefined
  const before = await parts.inTurn(async () => parts.store.readPosition())
  let isAnew = false
  for await (const page of parts.pages) {
    parts.signal.throwIfAborted()
    isAnew ||= floor === undefined && isCountedAnew(before, page)
    floor = {
      as_of: Math.min(page.as_of, floor?.as_of ?? page.as_of),
      as_of_sequence: Math.min(page.as_of_sequence, floor?.as_of_sequence ?? page.as_of_sequence),
    }
    const held = isAnew ? withoutNumber(page) : page
    const found = await parts.inTurn(() =>
      commitJudged(parts, (tell) => judgePage(parts.store, { page, held, keys, tell })),
    )
    counts.added += found.added
    counts.changed += found.changed
    counts.unchanged += found.unchanged
  }
  parts.signal.throwIfAborted()
  if (floor === undefined) {
    throw new TransmitterError('bad_response', 'the state of the stream has no page')
  }
  const removed = await removeOthers(parts, keys, { ...floor, isAnew })
  return { ...counts, removed, asOfSequence: floor.as_of_sequence }
}

/** Compares what is known with a page; adds the subjects of the page to `keys`. */
async function judgePage(
  store: ComplianceStore,
  parts: {
    readonly page: StreamState
    /** The page as what is known is held against it. */
    readonly held: StreamState
    readonly keys: Set<string>
    readonly tell: TellChange
  },
): Promise<Judgement<PageCounts>> {
  const counts = { added: 0, changed: 0, unchanged: 0 }
  const entries = new Map<string, ComplianceEntry>()
  for (const state of parts.page.subjects) {
    const entry = fromSubjectState(state, parts.page)
    const { subject } = entry
    const key = toComplianceKey(subject)
    parts.keys.add(key)
    const known = await store.find(key)
    if (known !== undefined && outlastsPage(known, entry, parts.held)) {
      counts.unchanged += 1
      await parts.tell({ key, subject: known.subject, known, current: known.status })
      continue
    }
    counts[toCount(known, entry)] += 1
    await parts.tell({ key, subject, known, current: entry.status })
    entries.set(key, entry)
  }
  return { changes: { entries }, value: counts }
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
  keys: ReadonlySet<string>,
  floor: StateFloor & { readonly isAnew: boolean },
): Promise<number> {
  return parts.inTurn(async () => {
    const { removed, position } = await commitJudged(parts, (tell) =>
      judgeOthers(parts.store, { keys, floor, tell }),
    )
    if (position !== undefined) parts.onPosition(position)
    return removed
  })
}

async function judgeOthers(
  store: ComplianceStore,
  {
    keys,
    floor,
    tell,
  }: {
    readonly keys: ReadonlySet<string>
    readonly floor: StateFloor & { readonly isAnew: boolean }
    readonly tell: TellChange
  },
): Promise<Judgement<{ removed: number; position: StreamPosition | undefined }>> {
  const removedKeys: string[] = []
  const held = floor.isAnew ? withoutNumber(floor) : floor
  for await (const [key, known] of store.list()) {
    if (keys.has(key)) continue
    // What came in the very second in which the first page was read may have come after it.
    const isNewer = isAfterPage(known, { ...held, as_of: held.as_of - 1 })
    const current = isNewer ? known.status : undefined
    await tell({ key, subject: known.subject, known, current })
    if (!isNewer) removedKeys.push(key)
  }
  const before = await store.readPosition()
  const position = positionAfter(before, floor)
  const changes = { removedKeys, position: position === before ? undefined : position }
  return { changes, value: { removed: removedKeys.length, position } }
}

/** How far the stream has come by its state. */
function positionAfter(
  before: StreamPosition | undefined,
  floor: StateFloor & { readonly isAnew: boolean },
): StreamPosition | undefined {
  if (floor.isAnew) return { sequence: floor.as_of_sequence, ahead: [] }
  return floor.as_of_sequence === 0 ? before : skipTo(before, floor.as_of_sequence)
}
