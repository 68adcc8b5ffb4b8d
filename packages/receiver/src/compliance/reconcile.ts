import type { StreamState } from '@heliograph/ssf'
import {
  fromSubjectState,
  isAfterPage,
  outlastsPage,
  toComplianceKey,
  type ComplianceChange,
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
export interface ReconcileParts {
  readonly pages: AsyncIterable<StreamState>
  /** Ends the reconciliation, also where the source of the pages does not look at it. */
  readonly signal: AbortSignal
  readonly store: ComplianceStore
  /** Runs work when no event is being applied. */
  readonly inTurn: <Value>(work: () => Promise<Value>) => Promise<Value>
  readonly onChange: (change: ComplianceChange) => Promise<void>
  readonly onPosition: (position: StreamPosition) => void
}

/**
 * Makes a store agree with the state of a stream, page by page; what events have told since a page
 * was read stays. Subjects are removed only after the last page, so that a state that breaks off
 * removes nothing.
 */
export async function reconcileWithState(parts: ReconcileParts): Promise<ReconcileReport> {
  const counts = { added: 0, changed: 0, removed: 0, unchanged: 0 }
  const keys = new Set<string>()
  let floor: Pick<StreamState, 'as_of' | 'as_of_sequence'> | undefined
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
    await parts.inTurn(async () => {
      const entries = new Map<string, ComplianceEntry>()
      for (const subject of page.subjects) {
        const entry = fromSubjectState(subject, page)
        const key = toComplianceKey(entry.subject)
        keys.add(key)
        const known = await parts.store.find(key)
        if (known !== undefined && outlastsPage(known, entry, held)) {
          counts.unchanged += 1
          continue
        }
        counts[await tell(parts, entry, known)] += 1
        entries.set(key, entry)
      }
      await parts.store.commit({ entries, removedKeys: [], position: undefined })
    })
  }
  parts.signal.throwIfAborted()
  if (floor === undefined) throw new RangeError('the state of the stream has no page')
  counts.removed = await removeOthers(parts, keys, { ...floor, isAnew })
  return { ...counts, asOfSequence: floor.as_of_sequence }
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

/** Tells of one subject's change, if it is one, and says what it is. */
async function tell(
  { onChange }: ReconcileParts,
  entry: ComplianceEntry,
  known: ComplianceEntry | undefined,
): Promise<'added' | 'changed' | 'unchanged'> {
  if (known?.status === entry.status) return 'unchanged'
  await onChange({ subject: entry.subject, previous: known?.status, current: entry.status })
  return known === undefined ? 'added' : 'changed'
}

async function removeOthers(
  { store, inTurn, onChange, onPosition }: ReconcileParts,
  keys: ReadonlySet<string>,
  floor: Pick<StreamState, 'as_of' | 'as_of_sequence'> & { readonly isAnew: boolean },
): Promise<number> {
  return inTurn(async () => {
    const removedKeys: string[] = []
    const held = floor.isAnew ? withoutNumber(floor) : floor
    for await (const [key, known] of store.list()) {
      // What came in the very second in which the first page was read may have come after it.
      const isNewer = isAfterPage(known, { ...held, as_of: held.as_of - 1 })
      if (keys.has(key) || isNewer) continue
      await onChange({ subject: known.subject, previous: known.status, current: undefined })
      removedKeys.push(key)
    }
    const position = floor.isAnew
      ? { sequence: floor.as_of_sequence, ahead: [] }
      : floor.as_of_sequence === 0
        ? undefined
        : skipTo(await store.readPosition(), floor.as_of_sequence)
    await store.commit({ entries: new Map(), removedKeys, position })
    if (position !== undefined) onPosition(position)
    return removedKeys.length
  })
}
