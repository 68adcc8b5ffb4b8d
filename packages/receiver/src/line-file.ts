// A file of lines that is appended to and now and then replaced as a whole, for stores that must
// survive the process and a loss of power. One process at a time may use a file.
import { open, readFile, rename, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file of lines that is kept open. Operations are done one after the other. */
export interface LineFile {
  /** Lines in the file, blank and broken ones not counted. */
  readonly lineCount: number
  /** Adds a line; resolves when it is on disk. */
  append(line: string): Promise<void>
  /** Replaces all lines; a loss of power leaves either the old ones or the new ones. */
  replace(lines: Iterable<string>): Promise<void>
  /** Closes the file. */
  close(): Promise<void>
}

/** Reads the lines of a file; none when there is no file. The last may have been cut off by a crash. */
export async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Opens a file with these lines in place of what it held. */
export async function openLineFile(path: string, lines: readonly string[]): Promise<LineFile> {
  let file = await writeWhole(path, lines)
  let lineCount = lines.length
  let hasBrokenEnd = false

  async function append(line: string): Promise<void> {
    // What a failed write has left behind would swallow the next line.
    await file.appendFile(hasBrokenEnd ? `\n${line}\n` : `${line}\n`).catch((error: unknown) => {
      hasBrokenEnd = true
      throw error
    })
    await file.datasync()
    hasBrokenEnd = false
    lineCount += 1
  }

  async function replace(next: Iterable<string>): Promise<void> {
    const all = [...next]
    const replaced = await writeWhole(path, all)
    await file.close()
    file = replaced
    lineCount = all.length
    hasBrokenEnd = false
  }

  return {
    get lineCount() {
      return lineCount
    },
    append,
    replace,
    close: () => file.close(),
  }
}

/** Writes a complete file beside the old one, then puts it in its place and keeps it open. */
async function writeWhole(path: string, lines: readonly string[]): Promise<FileHandle> {
  const temporary = `${path}.new`
  const draft = await open(temporary, 'w', 0o600)
  try {
    await draft.writeFile(lines.map((line) => `${line}\n`).join(''))
    await draft.sync()
  } finally {
    await draft.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
  return open(path, 'a', 0o600)
}

/** Makes the renaming durable; some systems cannot open folders, and some need not. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  try {
    await folder?.sync()
  } catch {
    return
  } finally {
    await folder?.close()
  }
}
