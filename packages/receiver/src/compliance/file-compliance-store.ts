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
 * returns. The file is rewritten when most of its lines are out of date. One process at a time may
 * use the file: when another one opens it, `commit` of the former rejects, and the SET comes again.
 */
export async function createFileComplianceStore(options: {
  readonly path: string
}): Promise<FileComplianceStore> {
  const entries = new Map<string, ComplianceEntry>()
  let position: StreamPosition | undefined
  const file = await openLineFile(options.path, (held) => {
    for (const line of held) {
      const commit = parseLine(line)
      applyChanges(entries, toChanges(commit))
      position = commit.position ?? position
    }
    return toLines(entries, position)
  })
  let pending: Promise<void> = Promise.resolve()

  async function write(changes: ComplianceChanges): Promise<void> {
    await file.append(toLine(changes))
    applyChanges(entries, changes)
    position = changes.position ?? position
    if (file.lineCount > entries.size * 2 + SPARE_LINES) {
      await file.replace(toLines(entries, position))
    }
  }

  return {
    find: (key) => entries.get(key),
    list: () => new Map(entries),
    readPosition: () => position,
    commit(changes) {
      const written = pending.then(() => write(changes))
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
