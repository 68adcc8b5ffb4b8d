import { openLineFile } from '../line-file.ts'
import type { ComplianceEntry } from './compliance-entry.ts'
import { applyChanges, type ComplianceChanges, type ComplianceStore } from './compliance-store.ts'
import type { StreamPosition } from './stream-position.ts'

/** A {@link ComplianceStore} that keeps a file open. */
export interface FileComplianceStore extends ComplianceStore {
  /** Waits for pending writes and closes the file. */
  close(): Promise<void>
}

/** One commit, as a line of the file. */
interface CommitLine {
  readonly entries?: readonly (readonly [string, ComplianceEntry])[]
  readonly removedKeys?: readonly string[]
  readonly position?: StreamPosition
}

/** Lines beyond twice the entries after which the file is rewritten. */
const SPARE_LINES = 1_000
const ENTRIES_PER_LINE = 100

/**
 * Keeps everything in memory and in a file, one line per commit, which is on disk when `commit`
 * returns. The file is rewritten when most of its lines are out of date. Several processes may use the file, as in a
 * rolling restart, and lose nothing to each other; what another one committed is known from the next commit of this
 * one on. Of two that commit to the same key at the same time the later one counts. On a local disk.
 */
export async function createFileComplianceStore(options: {
  readonly path: string
}): Promise<FileComplianceStore> {
  const entries = new Map<string, ComplianceEntry>()
  let position: StreamPosition | undefined
  const file = await openLineFile(options.path, {
    clear() {
      entries.clear()
      position = undefined
    },
    take(line) {
      const commit = parseLine(line)
      applyChanges(entries, toChanges(commit))
      position = commit.position ?? position
    },
    toLines: () => toLines(entries, position),
    linesMax: () => entries.size * 2 + SPARE_LINES,
  })
  let pending: Promise<void> = Promise.resolve()

  return {
    find: (key) => entries.get(key),
    list: () => new Map(entries),
    readPosition: () => position,
    commit(changes) {
      const written = pending.then(() => file.append(toLine(changes)))
      pending = written.catch(() => undefined)
      return written
    },
    async close() {
      await pending
      await file.close()
    },
  }
}

function toLine({ entries, removedKeys, position }: ComplianceChanges): string {
  const line: CommitLine = {
    ...(entries.size === 0 ? {} : { entries: [...entries] }),
    ...(removedKeys.length === 0 ? {} : { removedKeys }),
    ...(position === undefined ? {} : { position }),
  }
  return JSON.stringify(line)
}

function toLines(
  entries: ReadonlyMap<string, ComplianceEntry>,
  position: StreamPosition | undefined,
): string[] {
  const all = [...entries]
  const lines: string[] = []
  for (let start = 0; start < all.length; start += ENTRIES_PER_LINE) {
    const part = new Map(all.slice(start, start + ENTRIES_PER_LINE))
    lines.push(toLine({ entries: part, removedKeys: [], position: undefined }))
  }
  if (position !== undefined) lines.push(toLine({ entries: new Map(), removedKeys: [], position }))
  return lines
}

function toChanges({ entries = [], removedKeys = [], position }: CommitLine): ComplianceChanges {
  return { entries: new Map(entries), removedKeys, position }
}

/** A line that was cut off by a crash says nothing: its SET was not yet acknowledged. */
function parseLine(line: string): CommitLine {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
