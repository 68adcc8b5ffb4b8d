// A file of lines that is appended to and now and then replaced as a whole, for stores that must
// survive the process and a loss of power. The process that opened a file last has it: what another one writes after
// that fails, and what it wrote before is read.
import { open, rename, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file of lines that is kept open. Operations are done one after the other. */
export interface LineFile {
  /** Lines in the file, blank and broken ones not counted. */
  readonly lineCount: number
  /** Adds a line; resolves when it is on disk. Rejects when the file was replaced or removed by others. */
  append(line: string): Promise<void>
  /** Replaces all lines; a loss of power leaves either the old ones or the new ones. */
  replace(lines: Iterable<string>): Promise<void>
  /** Closes the file. */
  close(): Promise<void>
}

/**
 * Opens a file with lines in place of what it held.
 *
 * @param toLines Makes them of the lines that it held, none when there was no file; the last may have been cut off by a
 *   crash. Called again with all of them when another process has written in the meantime.
 */
export async function openLineFile(
  path: string,
  toLines: (held: readonly string[]) => readonly string[],
): Promise<LineFile> {
  const former = await openFormer(path)
  let lines: readonly string[]
  let file: FileHandle
  try {
    const held = (await former?.readFile()) ?? Buffer.alloc(0)
    lines = toLines(splitLines(held))
    file = await writeWhole(path, lines)
    const heldSince = await former?.readFile()
    if (heldSince !== undefined && heldSince.length > 0) {
      await file.close()
      lines = toLines(splitLines(Buffer.concat([held, heldSince])))
      file = await writeWhole(path, lines)
    }
  } finally {
    await former?.close()
  }
  return keepLineFile(path, file, lines)
}

function keepLineFile(path: string, opened: FileHandle, lines: readonly string[]): LineFile {
  let file = opened
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
    await requireInPlace(path, file)
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

async function openFormer(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function splitLines(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}

/** What is written to a file that is no longer in its place is lost. */
async function requireInPlace(path: string, file: FileHandle): Promise<void> {
  const own = await file.stat({ bigint: true })
  const there = await stat(path, { bigint: true }).catch(() => undefined)
  if (there?.ino === own.ino && there.dev === own.dev) return
  throw new Error(`${path} was replaced or removed; another process may have opened it`)
}

/** Writes a complete file beside the old one, then puts it in its place and keeps it open. */
async function writeWhole(path: string, lines: readonly string[]): Promise<FileHandle> {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(lines.map((line) => `${line}\n`).join(''))
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await file.close()
    throw error
  }
  await syncFolder(dirname(path))
  return file
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
