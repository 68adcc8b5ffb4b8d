// A file of lines that is appended to, for stores that must survive the process and a loss of power. Several
// processes may have it open, as in a rolling restart: whole lines of them stand one after the other, and each reads
// what the others wrote when it writes next. A file that has grown is replaced by what is left of its lines; whoever
// replaces it first says so in a line of it. Who has written behind such a line takes the new file away, unless it is
// in its place already, and then writes to that one: so nothing that was acknowledged is lost, whoever dies when.
import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/** A file of lines that is kept open. Operations are to be done one after the other. */
export interface LineFile {
  /** Adds a line; resolves when it is on disk and taken. Rejects once the file is closed. */
  append(line: string): Promise<void>
  /** Closes the file. */
  close(): Promise<void>
}

/** What the lines of a file say, in memory. */
export interface LineState {
  /** Forgets everything; all lines follow. */
  clear(): void
  /**
   * Takes a line of the file, of this process or of another one; it may have been cut off by a crash. Answers how much
   * the line holds, in what `loadMax` counts.
   */
  take(line: string): number
  /** Lines that say the same, as few as may be. */
  toLines(): readonly string[]
  /** From how much in its lines on the file is replaced by these. */
  loadMax(): number
}

/** Opens a file, which is made when there is none, and has its lines taken. */
export async function openLineFile(path: string, state: LineState): Promise<LineFile> {
  const whole = resolve(path)
  await removeRemains(whole)
  const file = new SharedLineFile(whole, state)
  await file.open()
  return file
}

const ATTEMPTS_MAX = 10
const REPLACEMENT = /^\{"replacedBy":"([0-9a-f-]{36})"\}$/
const REMAINS = /^[0-9a-f-]{36}\.new$/

class SharedLineFile implements LineFile {
  readonly #path: string
  readonly #state: LineState
  #file: FileHandle | undefined
  /** Where the whole lines end that were taken. */
  #end = 0
  /** How much its lines hold. */
  #load = 0
  /** Whether something without an end stands behind them, which would swallow the next line. */
  #hasBrokenEnd = false
  /** From how much on a replacement is tried again. */
  #replacedFrom = 0
  #isClosed = false

  constructor(path: string, state: LineState) {
    this.#path = path
    this.#state = state
  }

  async open(): Promise<FileHandle> {
    await this.#letGo()
    const file = await open(this.#path, 'a+', 0o600)
    try {
      await syncFolder(dirname(this.#path))
      await this.#readAll(file)
    } catch (error) {
      await file.close()
      throw error
    }
    this.#file = file
    return file
  }

  async append(line: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const file = await this.#present()
      await this.#readNew(file)
      await this.#write(file, line)
      await file.datasync()
      const read = await this.#readNew(file)
      if (read.includes(line) && (await this.#isInPlace(file))) {
        // The line is stored: a replacement that fails, as on a full disk, is tried again later.
        return this.#replaceWhenLong(file).catch(() => undefined)
      }
      await this.#letGo()
    }
    throw new Error(`${this.#path} is replaced again and again`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#letGo()
  }

  async #letGo(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #present(): Promise<FileHandle> {
    if (this.#isClosed) throw new Error(`${this.#path} is closed`)
    const file = this.#file
    return file !== undefined && (await this.#isInPlace(file)) ? file : this.open()
  }

  /** What is written to a file that is no longer in its place is lost. */
  async #isInPlace(file: FileHandle): Promise<boolean> {
    const own = await file.stat({ bigint: true })
    const there = await stat(this.#path, { bigint: true }).catch(ignoreAbsence)
    return there?.ino === own.ino && there.dev === own.dev && own.size >= this.#end
  }

  async #write(file: FileHandle, line: string): Promise<void> {
    await file.appendFile(this.#hasBrokenEnd ? `\n${line}\n` : `${line}\n`)
  }

  /** A file that was removed is written anew from what is known. */
  async #readAll(file: FileHandle): Promise<void> {
    this.#end = 0
    this.#load = 0
    this.#hasBrokenEnd = false
    const { size } = await file.stat()
    if (size === 0) {
      await file.appendFile(toText(this.#state.toLines()))
      await file.datasync()
    }
    await this.#readNew(file, { isWhole: true })
  }

  /** Has the lines taken that were added since, and answers them; keeps others from replacing the file by fewer. */
  async #readNew(
    file: FileHandle,
    { isWhole = false, ownReplacement = '' } = {},
  ): Promise<readonly string[]> {
    const { lines, length, hasBrokenEnd } = await readLines(file, this.#end)
    for (const line of lines) {
      const name = REPLACEMENT.exec(line)?.[1]
      if (name === undefined || name === ownReplacement) continue
      await rm(this.#besides(name), { force: true })
    }
    if (isWhole) this.#state.clear()
    for (const line of lines) this.#load += REPLACEMENT.test(line) ? 1 : this.#state.take(line)
    this.#end += length
    this.#hasBrokenEnd = hasBrokenEnd
    return lines
  }

  async #replaceWhenLong(file: FileHandle): Promise<void> {
    const loadMax = this.#state.loadMax()
    if (this.#load < Math.max(loadMax, this.#replacedFrom)) return
    this.#replacedFrom = this.#load + Math.ceil(loadMax / 10)
    const name = randomUUID()
    try {
      if (!(await this.#prepare(file, name))) return
      // Some systems rename over no file that is open.
      await this.#letGo()
      await rename(this.#besides(name), this.#path).catch(ignoreHindrance)
    } finally {
      await rm(this.#besides(name), { force: true })
    }
    await this.open()
    if (this.#load < loadMax) this.#replacedFrom = 0
  }

  /** Writes the new file beside the present one, with what others add until they can know of it. */
  async #prepare(file: FileHandle, name: string): Promise<boolean> {
    const next = await open(this.#besides(name), 'ax', 0o600)
    try {
      await next.appendFile(toText(this.#state.toLines()))
      await next.sync()
      const announcement = JSON.stringify({ replacedBy: name })
      await this.#write(file, announcement)
      const added = await this.#readNew(file, { ownReplacement: name })
      if (!added.includes(announcement) || !(await this.#isInPlace(file))) return false
      await next.appendFile(toText(added.filter((line) => !REPLACEMENT.test(line))))
      await next.sync()
      return true
    } finally {
      await next.close()
    }
  }

  #besides(name: string): string {
    return `${this.#path}.${name}.new`
  }
}

/** What is read at once: a file may be longer than a text can be. */
const CHUNK_BYTES = 16 * 1024 * 1024

/** The whole lines from a place on, how many bytes they take, and whether something without an end follows. */
async function readLines(
  file: FileHandle,
  start: number,
): Promise<{ lines: string[]; length: number; hasBrokenEnd: boolean }> {
  const lines: string[] = []
  let length = 0
  let rest = Buffer.alloc(0)
  for (;;) {
    const chunk = await readChunk(file, start + length + rest.length)
    const bytes = Buffer.concat([rest, chunk])
    const wholeLength = bytes.lastIndexOf('\n') + 1
    for (const line of bytes.toString('utf8', 0, wholeLength).split('\n')) {
      if (line !== '') lines.push(line)
    }
    length += wholeLength
    rest = bytes.subarray(wholeLength)
    if (chunk.length < CHUNK_BYTES) return { lines, length, hasBrokenEnd: rest.length > 0 }
  }
}

async function readChunk(file: FileHandle, start: number): Promise<Buffer> {
  const { size } = await file.stat()
  const bytes = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(0, size - start)))
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, start + length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function ignoreAbsence(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}

/** Another process has taken the new file away, or holds the present one open where that counts. */
function ignoreHindrance(error: unknown): void {
  if (!['ENOENT', 'EPERM', 'EACCES', 'EBUSY'].includes(String(codeOf(error)))) throw error
}

/**
 * What a crash has left beside a file; whoever is about to replace the file by it does so later. It hinders nobody: a
 * folder that may not be listed keeps it.
 */
async function removeRemains(path: string): Promise<void> {
  const prefix = `${basename(path)}.`
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    const isRemains = name.startsWith(prefix) && REMAINS.test(name.slice(prefix.length))
    if (isRemains) await rm(join(dirname(path), name), { force: true }).catch(() => undefined)
  }
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
