import type { ComplianceEntry } from './compliance-entry.ts'
import type { StreamPosition } from './stream-position.ts'

/** What one commit changes. */
export interface ComplianceChanges {
  readonly entries: ReadonlyMap<string, ComplianceEntry>
  readonly removedKeys: readonly string[]
  /** Undefined leaves it as it is. */
  readonly position: StreamPosition | undefined
}

/**
 * Keeps the compliance of the subjects of one stream. Entries and position are JSON values. Where
 * several processes may change a store, `commit` has to refuse what was judged without the changes of another one.
 */
export interface ComplianceStore {
  find(key: string): ComplianceEntry | undefined | Promise<ComplianceEntry | undefined>
  list():
    | Iterable<readonly [key: string, entry: ComplianceEntry]>
    | AsyncIterable<readonly [key: string, entry: ComplianceEntry]>
  readPosition(): StreamPosition | undefined | Promise<StreamPosition | undefined>
  /**
   * Makes all changes or none; resolves when they are durable. It rejects with a `StoreChangedError` when another
   * process has changed what was read for them: they are judged anew then.
   */
  commit(changes: ComplianceChanges): void | Promise<void>
}

/** Keeps everything in memory; lost with the process. */
export function createMemoryComplianceStore(): ComplianceStore {
  const entries = new Map<string, ComplianceEntry>()
  let position: StreamPosition | undefined
  return {
    find: (key) => entries.get(key),
    list: () => new Map(entries),
    readPosition: () => position,
    commit(changes) {
      applyChanges(entries, changes)
      position = changes.position ?? position
    },
  }
}

/** Changes a map as a commit says. */
export function applyChanges(
  entries: Map<string, ComplianceEntry>,
  changes: ComplianceChanges,
): void {
  for (const key of changes.removedKeys) entries.delete(key)
  for (const [key, entry] of changes.entries) entries.set(key, entry)
}
