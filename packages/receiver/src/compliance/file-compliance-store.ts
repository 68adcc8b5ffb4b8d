import { randomUUID } from 'node:crypto'
import { sleep } from '../back-off.ts'
import { StoreChangedError } from '../errors.ts'
import { openLineFile, type LineState } from '../line-file.ts'
import type { ComplianceEntry } from './compliance-entry.ts'
import { applyChanges, type ComplianceChanges, type ComplianceStore } from './compliance-store.ts'
import type { StreamPosition } from './stream-position.ts'

/** A {@link ComplianceStore} that keeps a file open. */
export interface FileComplianceStore extends ComplianceStore {
  /** Waits for pending writes and closes the file. */
  close(): Promise<void>
}

/**
 * One commit, as a line of the file. It counts when it stands behind the commit that its writer knew as the last one:
 * otherwise it was judged by what is no longer true. All processes read the same lines in the same order, so that all
 * of them agree on which count.
 */
interface CommitLine {
  /** Lines of former versions have none. */
  readonly id?: string
  /** The commit that was the last one to count, null before the first; a line that does not say so counts anywhere. */
  readonly after?: string | null
  readonly entries?: readonly (readonly [string, ComplianceEntry])[]
  readonly removedKeys?: readonly string[]
  readonly position?: StreamPosition
  /** In what takes the place of many lines: the last commits that counted, in their order. */
  readonly countedIds?: readonly string[]
}

/** How many commits of others may count while one waits to know whether it did. */
const COUNTED_IDS_MAX = 100
/** How long a process that came first gives way to one that came second: that judges anew, and comes first then. */
const GIVE_WAY_MS = 5
const NO_SIGNAL = new AbortController().signal
/** What the file may hold beyond twice what is known, before it is rewritten. */
const SPARE_LOAD = 1_000
const ENTRIES_PER_LINE = 100

/**
 * Keeps everything in memory and in a file, one line per commit, which is on disk when `commit`
 * returns. The file is rewritten when most of what it holds is out of date. Two processes may use the file, as in a
 * rolling restart. What the other one committed is known from the next commit of this one on: that commit rejects,
 * because it was judged without it, and changes nothing; the next one is judged by it. On a local disk.
 */
export async function createFileComplianceStore(options: {
  readonly path: string
}): Promise<FileComplianceStore> {
  /**
   * The commits of this process that are not yet written, each of which counts behind the one before it alone. They are
   * not found before that: whoever judges by what is found waits for its last commit, as a compliance state does.
   */
  const queue: string[] = []
  const state = new CommittedState({ isOwn: (id) => queue.includes(id) })
  const file = await openLineFile(options.path, state)
  let pending: Promise<void> = Promise.resolve()

  async function write(id: string, line: CommitLine): Promise<void> {
    try {
      if (state.takeRefusal()) await sleep(GIVE_WAY_MS, NO_SIGNAL)
      await file.append(JSON.stringify(line))
      if (state.hasCounted(id)) return
      throw new StoreChangedError('another process has changed the state meanwhile')
    } finally {
      queue.shift()
    }
  }

  return {
    find: (key) => state.entries.get(key),
    list: () => new Map(state.entries),
    readPosition: () => state.position,
    commit(changes) {
      const id = randomUUID()
      const line = { ...toLine(changes), id, after: queue.at(-1) ?? state.lastId ?? null }
      queue.push(id)
      const written = pending.then(() => write(id, line))
      pending = written.catch(() => undefined)
      return written
    },
    async close() {
      await pending
      await file.close()
    },
  }
}

/** What the commits that count come to. */
class CommittedState implements LineState {
  readonly entries = new Map<string, ComplianceEntry>()
  position: StreamPosition | undefined
  /** The last commit that counted; undefined when that is none, or one of a former version. */
  lastId: string | undefined
  /** The last commits that counted; known also when the file is replaced by fewer lines. */
  readonly countedIds = new Set<string>()
  readonly #isOwn: (id: string) => boolean
  #hasRefusedOthers = false

  constructor({ isOwn }: { readonly isOwn: (id: string) => boolean }) {
    this.#isOwn = isOwn
  }

  /** Whether a commit of another process did not count since this was asked last. */
  takeRefusal(): boolean {
    const hasRefused = this.#hasRefusedOthers
    this.#hasRefusedOthers = false
    return hasRefused
  }

  hasCounted(id: string): boolean {
    return this.countedIds.has(id)
  }

  clear(): void {
    this.entries.clear()
    this.position = undefined
    this.lastId = undefined
    this.countedIds.clear()
  }

  take(line: string): number {
    const commit = parseLine(line)
    if (commit === undefined) return 1
    this.#apply(commit)
    return loadOf(commit)
  }

  #apply(commit: CommitLine): void {
    if (commit.after !== undefined && commit.after !== (this.lastId ?? null)) {
      this.#hasRefusedOthers ||= commit.id !== undefined && !this.#isOwn(commit.id)
      return
    }
    applyChanges(this.entries, toChanges(commit))
    this.position = commit.position ?? this.position
    this.lastId = commit.id
    for (const id of commit.countedIds ?? []) this.#count(id)
    if (commit.id !== undefined) this.#count(commit.id)
  }

  #count(id: string): void {
    this.countedIds.add(id)
    const [oldest] = this.countedIds
    if (this.countedIds.size > COUNTED_IDS_MAX && oldest !== undefined) {
      this.countedIds.delete(oldest)
    }
  }

  toLines(): string[] {
    return toLines(this)
  }

  loadMax(): number {
    return 2 * (this.entries.size + (this.position?.ahead.length ?? 0)) + SPARE_LOAD
  }
}

/** How much a line holds: one of a reconciliation may hold as much as a thousand others. */
function loadOf({ entries = [], removedKeys = [], position }: CommitLine): number {
  return 1 + entries.length + removedKeys.length + (position?.ahead.length ?? 0)
}

function toLine({ entries, removedKeys, position }: ComplianceChanges): CommitLine {
  return {
    ...(entries.size === 0 ? {} : { entries: [...entries] }),
    ...(removedKeys.length === 0 ? {} : { removedKeys }),
    ...(position === undefined ? {} : { position }),
  }
}

/** The last one goes on from the commit that counted last, so that what was judged by that counts still. */
function toLines({ entries, position, lastId, countedIds }: CommittedState): string[] {
  const all = [...entries]
  const lines: CommitLine[] = []
  for (let start = 0; start < all.length; start += ENTRIES_PER_LINE) {
    lines.push({ entries: all.slice(start, start + ENTRIES_PER_LINE) })
  }
  if (position !== undefined || lastId !== undefined) {
    lines.push({
      ...(position === undefined ? {} : { position }),
      ...(lastId === undefined ? {} : { id: lastId, countedIds: [...countedIds] }),
    })
  }
  return lines.map((line) => JSON.stringify(line))
}

function toChanges({ entries = [], removedKeys = [], position }: CommitLine): ComplianceChanges {
  return { entries: new Map(entries), removedKeys, position }
}

/** A line that was cut off by a crash says nothing: its SET was not yet acknowledged. */
function parseLine(line: string): CommitLine | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
