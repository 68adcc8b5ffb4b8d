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

/** What the commits to one store leave for those after them. */
export interface CommitMemory {
  /** What was told last of the subjects that are neither stored like that nor corrected yet. */
  readonly told: Map<string, JudgedSubject>
  /** How often another process had changed the store before a commit. */
  refusals: number
}

/** What a commit of what was judged works with. */
export interface JudgedCommitParts {
  readonly store: ComplianceStore
  readonly onChange: (change: ComplianceChange) => Promise<void>
  readonly memory: CommitMemory
  /** Once it is aborted nothing more is told. */
  readonly signal?: AbortSignal
}

/** How often something is judged that others always change the store before. */
const ATTEMPTS_MAX = 10

/**
 * Judges by what the store knows and commits what changes, if anything does; both once more where another process
 * has changed the store meanwhile. What is told last of a subject is what is stored in the end; where it ends before
 * that, the next one that judges the subject tells what is so.
 *
 * @throws StoreChangedError when others change the store before each attempt; what `judge` and the store throw.
 */
export async function commitJudged<Value>(
  parts: JudgedCommitParts,
  judge: (tell: TellChange) => Promise<Judgement<Value>>,
): Promise<Value> {
  const { store, memory } = parts
  for (let attempt = 1; ; attempt += 1) {
    const judgedKeys: string[] = []
    const { changes, value } = await judge(async (judged) => {
      await tellChange(parts, judged)
      judgedKeys.push(judged.key)
    })
    try {
      await commitChanges(store, changes)
      for (const key of judgedKeys) memory.told.delete(key)
      return value
    } catch (error) {
      if (!(error instanceof StoreChangedError)) throw error
      memory.refusals += 1
      if (attempt === ATTEMPTS_MAX) throw error
    }
  }
}

async function commitChanges(
  store: ComplianceStore,
  { entries = new Map(), removedKeys = [], position }: Partial<ComplianceChanges>,
): Promise<void> {
  if (entries.size + removedKeys.length === 0 && position === undefined) return
  await store.commit({ entries, removedKeys, position })
}

/** Tells what differs from what was told last, which may not have been stored. */
async function tellChange(
  { onChange, memory: { told }, signal }: JudgedCommitParts,
  judged: JudgedSubject,
): Promise<void> {
  signal?.throwIfAborted()
  const { key, subject, known, current } = judged
  const earlier = told.get(key)
  // Whoever has stored something else since has told of that: what was told before it may have come too early.
  const isLastTold =
    earlier !== undefined && (known?.status === current || isSameEntry(earlier.known, known))
  const previous = isLastTold ? earlier.current : known?.status
  if (previous === current) return
  await onChange({ subject, previous, current })
  told.set(key, judged)
}
