import { toSeenKey, type JtiStore } from './jti-store.ts'
import { openLineFile } from './line-file.ts'
import { requireAmounts } from './require-amounts.ts'

/** A {@link JtiStore} that keeps a file open. */
export interface FileJtiStore extends JtiStore {
  /** Waits for pending writes and closes the file. */
  close(): Promise<void>
}

/**
 * Remembers entries in a file, one per line, so that they survive the process; `markSeen` returns
 * after the line is on disk. The file is rewritten when it holds twice as many entries as are
 * kept. Several processes may use the file, as in a rolling restart, and lose nothing to each other; what another
 * one added is known from the next entry of this one on, so that an event may be handled by both. On a local disk.
 *
 * @param options.entriesMax How many of the latest entries are kept. Default 100000.
 * @throws TypeError when that is no number; what the file system says.
 */
export async function createFileJtiStore(options: {
  readonly path: string
  readonly entriesMax?: number
}): Promise<FileJtiStore> {
  const entriesMax = options.entriesMax ?? 100_000
  requireAmounts({ entriesMax })
  const seen = new Set<string>()
  const file = await openLineFile(options.path, {
    clear: () => seen.clear(),
    take(line) {
      if (isEntry(line)) seen.add(line)
      forgetOldest(seen, entriesMax)
      return 1
    },
    toLines: () => [...seen],
    loadMax: () => entriesMax * 2,
  })
  let pending: Promise<void> = Promise.resolve()

  async function append(key: string): Promise<void> {
    if (!seen.has(key)) await file.append(key)
  }

  return {
    isSeen: (jti, iss) => seen.has(toSeenKey(jti, iss)),
    markSeen(jti, iss) {
      const key = toSeenKey(jti, iss)
      // Writes are queued, each on its own: one that fails does not fail those after it.
      const written = pending.then(() => append(key))
      pending = written.catch(() => undefined)
      return written
    },
    async close() {
      await pending
      await file.close()
    },
  }
}

/** A line that was cut off by a crash is no entry: its SET was not yet acknowledged. */
function isEntry(line: string): boolean {
  try {
    return Array.isArray(JSON.parse(line))
  } catch {
    return false
  }
}

function forgetOldest(seen: Set<string>, entriesMax: number): void {
  for (const jti of seen) {
    if (seen.size <= entriesMax) return
    seen.delete(jti)
  }
}
