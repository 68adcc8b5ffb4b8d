import { StoreChangedError } from '../errors.ts'
import { isSameEntry, type ComplianceChange, type ComplianceEntry } from './compliance-entry.ts'
import type { ComplianceChanges, ComplianceStore } from './compliance-store.ts'

/** What is judged of one subject: what the store knows of it, and what is to be known from now on. */
export interface JudgedSubject {
  readonly key: string
  readonly subject: ComplianceChange['subject']
  readonly known: ComplianceEntry | undefined
  readonly current: ComplianceChange['current']
}

/** Tells the application of a change, if it is one. */
export type TellChange = (judged: JudgedSubject) => Promise<void>

/** What judging came to. */
export interface Judgement<Value> {
  readonly changes: Partial<ComplianceChanges>
  readonly value: Value
}

/** What a commit of what was judged works with. */
export interface JudgedCommitParts {
  readonly store: ComplianceStore
  readonly onChange: (change: ComplianceChange) => Promise<void>
}

/** How often something is judged that others always change the store before. */
const ATTEMPTS_MAX = 10

/**
 * Judges by what the store knows and commits what changes, if anything does; both once more where another process
 * has changed the store meanwhile. What is told last of a subject is what is stored in the end.
 *
 * @throws StoreChangedError when others change the store before each attempt; what `judge` and the store throw.
 */
export async function commitJudged<Value>(
  { store, onChange }: JudgedCommitParts,
  judge: (tell: TellChange) => Promise<Judgement<Value>>,
): Promise<Value> {
  const tell = createTeller(onChange)
  for (let attempt = 1; ; attempt += 1) {
    const { changes, value } = await judge(tell)
    const { entries = new Map<string, ComplianceEntry>(), removedKeys = [], position } = changes
    if (entries.size + removedKeys.length === 0 && position === undefined) return value
    try {
      await store.commit({ entries, removedKeys, position })
      return value
    } catch (error) {
      if (!(error instanceof StoreChangedError) || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

/** Remembers what was told of each subject by attempts that were not stored. */
function createTeller(onChange: JudgedCommitParts['onChange']): TellChange {
  const told = new Map<string, Pick<JudgedSubject, 'known' | 'current'>>()
  return async ({ key, subject, known, current }) => {
    const earlier = told.get(key)
    // Whoever has stored something else since has told of that: what was told before it may have come too early.
    const isLastTold =
      earlier !== undefined && (known?.status === current || isSameEntry(earlier.known, known))
    const previous = isLastTold ? earlier.current : known?.status
    if (previous === current) return
    await onChange({ subject, previous, current })
    told.set(key, { known, current })
  }
}
