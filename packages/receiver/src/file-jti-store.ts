import { open, readFile, rename, type FileHandle } from 'node:fs/promises'
import { toSeenKey, type JtiStore } from './jti-store.ts'

/** A {@link JtiStore} that keeps a file open. */
export interface FileJtiStore extends JtiStore {
  /** Waits for pending writes and closes the file. */
  close(): Promise<void>
}

/**
 * Remembers entries in a file, one per line, so that they survive the process; `markSeen` returns
 * after the line is on disk. The file is rewritten when it holds twice as many entries as are
 * kept. One process at a time may use the file.
 *
 * @param options.entriesMax How many of the latest entries are kept. Default 100000.
 */
export async function createFileJtiStore(options: {
  readonly path: string
  readonly entriesMax?: number
}): Promise<FileJtiStore> {
  const entriesMax = options.entriesMax ?? 100_000
  const seen = await readEntries(options.path)
  forgetOldest(seen, entriesMax)
  let file = await rewrite(options.path, seen)
  let lines = seen.size
  let pending: Promise<void> = Promise.resolve()

  async function append(key: string): Promise<void> {
    await file.appendFile(`${key}\n`)
    await file.datasync()
    seen.add(key)
    forgetOldest(seen, entriesMax)
    lines += 1
    if (lines >= entriesMax * 2) {
      await file.close()
      file = await rewrite(options.path, seen)
      lines = seen.size
    }
  }

  return {
    isSeen: (jti, iss) => seen.has(toSeenKey(jti, iss)),
    markSeen(jti, iss) {
      const key = toSeenKey(jti, iss)
      // Writes are queued, each on its own: one that fails does not fail those after it.
      const written = pending.then(() => (seen.has(key) ? undefined : append(key)))
      pending = written.catch(() => undefined)
      return written
    },
    async close() {
      await pending
      await file.close()
    },
  }
}

async function readEntries(path: string): Promise<Set<string>> {
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  const seen = new Set<string>()
  for (const line of content.split('\n')) {
    if (isEntry(line)) seen.add(line)
  }
  return seen
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

/** Writes a complete file beside the old one, then puts it in its place and keeps it open. */
async function rewrite(path: string, seen: ReadonlySet<string>): Promise<FileHandle> {
  const temporary = `${path}.new`
  const draft = await open(temporary, 'w', 0o600)
  try {
    await draft.writeFile([...seen].map((key) => `${key}\n`).join(''))
    await draft.sync()
  } finally {
    await draft.close()
  }
  await rename(temporary, path)
  return open(path, 'a', 0o600)
}
