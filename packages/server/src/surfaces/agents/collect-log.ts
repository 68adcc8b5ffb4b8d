/*
 * A log message, taken line by line as it arrives. Keeps the lines that may be snapshots of reported tables,
 * within bounds, and a sample of the status lines; the other lines are never parsed. Owns what is left out
 * and that it is counted.
 */
import { setImmediate } from 'node:timers/promises'
import type { SnapshotContent } from '../../posture/reporting/bound-snapshot.ts'
import type { JsonPlace } from './json-splitter.ts'
import type { MessageCollector } from './message-collector.ts'
import { isObject, parseJson, toCount, toText, type JsonObject } from './parse-agent-message.ts'

/** Lines of a message that are kept for the log of the service, if they are status lines. */
const STATUS_LINES_MAX = 20
const STATUS_LINE_BYTES_MAX = 4_096
/** What is held of one message. A held line costs more than its text. */
const HELD_BYTES_MAX = 16 * 1024 * 1024
const LINE_OVERHEAD_BYTES = 64
/** How osquery's TLS logger says that it dropped a line (tls_logger.cpp). */
const DROPPED_BY_AGENT = 'Linesize exceeds TLS logger maximum'
/** After how many characters others get their turn. */
const PARSED_AT_ONCE = 1024 * 1024

/** A snapshot of a table that the device reports by schedule. */
export interface ReportedSnapshot {
  readonly tableName: string
  readonly unixTime: number
  readonly epoch: number
  readonly counter: number
  readonly content: SnapshotContent
}

/** The first status lines of a message, and how many lines there were. */
export interface StatusLines {
  readonly lineCount: number
  readonly lines: readonly JsonObject[]
}

export interface LogReading {
  /** With what the names of reported tables begin. */
  readonly prefix: string
  /** What is kept of the rows of a table; undefined for a table that nobody asked for. */
  readonly boundSnapshot: (
    tableName: string,
    rows: readonly unknown[],
  ) => SnapshotContent | undefined
}

/** Lines of reported tables that were not taken. */
export interface UntakenLines {
  /** Longer than lines may be. Which table they are of is not known. */
  readonly tooLong: number
  /** Beyond what is held of one message. */
  readonly beyond: number
  /** Lines that the agent itself dropped as too long, by its own words. */
  readonly droppedByAgent: number
  /** Rows of snapshots as lines of their own, as the option `logger_snapshot_event_type` makes them. */
  readonly asEvents: number
}

/** Collects one log message. */
export class LogCollector implements MessageCollector {
  static readonly cutMembers: ReadonlySet<string> = new Set(['data'])
  readonly #prefix: string
  readonly #statusTexts: string[] = []
  readonly #lines: string[] = []
  #type = ''
  #lineCount = 0
  #tooLong = 0
  #beyond = 0
  #droppedByAgent = 0
  #heldBytes = 0
  #statusBytes = 0

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  get heldBytes(): number {
    return this.#heldBytes + this.#statusBytes
  }

  take({ member, isPart }: JsonPlace, text: string | undefined): void {
    if (member === 'log_type' && text !== undefined) this.#type = toText(parseJson(text))
    if (member === 'data' && isPart) this.#takeLine(text)
  }

  #takeLine(text: string | undefined): void {
    this.#lineCount += 1
    if (text === undefined) {
      this.#tooLong += 1
      return
    }
    if (this.#statusTexts.length < STATUS_LINES_MAX && text.length <= STATUS_LINE_BYTES_MAX) {
      this.#statusTexts.push(text)
      this.#statusBytes += text.length
    }
    if (text.includes(DROPPED_BY_AGENT)) this.#droppedByAgent += 1
    if (!text.includes(this.#prefix)) return
    const bytes = text.length + LINE_OVERHEAD_BYTES
    if (this.#heldBytes + bytes > HELD_BYTES_MAX) this.#beyond += 1
    else {
      this.#heldBytes += bytes
      this.#lines.push(text)
    }
  }

  /** The status lines, when the message holds those. */
  readStatus(): StatusLines | undefined {
    if (this.#type !== 'status') return undefined
    const lines = this.#statusTexts.map(parseJsonIfValid).filter(isObject)
    return { lineCount: this.#lineCount, lines }
  }

  /**
   * The newest snapshot of each reported table, and what was not taken. `isCut` says that the end of the
   * message was not read; its type may have stood there.
   */
  async readResults(
    reading: LogReading,
    isCut: boolean,
  ): Promise<{ snapshots: ReportedSnapshot[]; untaken: UntakenLines }> {
    const isStatus = this.#type === 'status'
    const isResult = this.#type === 'result' || (isCut && this.#type === '')
    const { snapshots, asEvents } = isResult
      ? await this.#readSnapshots(reading)
      : { snapshots: [], asEvents: 0 }
    const untaken = {
      tooLong: isStatus ? 0 : this.#tooLong,
      beyond: isResult ? this.#beyond : 0,
      droppedByAgent: isStatus ? this.#droppedByAgent : 0,
      asEvents,
    }
    return { snapshots, untaken }
  }

  async #readSnapshots(
    reading: LogReading,
  ): Promise<{ snapshots: ReportedSnapshot[]; asEvents: number }> {
    const newest = new Map<string, NewestLine>()
    const isOnlyLine = this.#lines.length === 1
    let asEvents = 0
    let parsed = 0
    for (const text of this.#lines) {
      parsed += text.length
      if (parsed > PARSED_AT_ONCE) {
        parsed = 0
        await setImmediate()
      }
      const line = parseReportLine(text, reading.prefix)
      if (line === undefined) continue
      if (line['action'] === 'snapshot' && isObject(line['columns'])) asEvents += 1
      if (toRows(line) === undefined) continue
      const name = toText(line['name'])
      const unixTime = toCount(line['unixTime'])
      if ((newest.get(name)?.unixTime ?? unixTime) > unixTime) continue
      newest.set(name, { unixTime, text, line: isOnlyLine ? line : undefined })
    }
    // Of several lines each is parsed once more, so that the rows of no more than one snapshot are held at once.
    const snapshots = [...newest.values()].flatMap(({ line, text }) =>
      toSnapshot(line ?? parseReportLine(text, reading.prefix), reading),
    )
    return { snapshots, asEvents }
  }
}

/** The newest line of a table; parsed where it is the only one of its message. */
interface NewestLine {
  readonly unixTime: number
  readonly text: string
  readonly line: JsonObject | undefined
}

/** A line of a query whose name begins so. */
function parseReportLine(text: string, prefix: string): JsonObject | undefined {
  const line = parseJsonIfValid(text)
  return isObject(line) && toText(line['name']).startsWith(prefix) ? line : undefined
}

/** The rows of a snapshot; undefined for a line of another kind. */
function toRows({ snapshot }: JsonObject): readonly unknown[] | undefined {
  // Old agents write no rows as a text.
  if (snapshot === '') return []
  return Array.isArray(snapshot) ? snapshot : undefined
}

function toSnapshot(line: JsonObject | undefined, reading: LogReading): ReportedSnapshot[] {
  const rows = line === undefined ? undefined : toRows(line)
  if (line === undefined || rows === undefined) return []
  const tableName = toText(line['name']).slice(reading.prefix.length)
  const content = reading.boundSnapshot(tableName, rows)
  if (content === undefined) return []
  return [
    {
      tableName,
      unixTime: toCount(line['unixTime']),
      epoch: toCount(line['epoch']),
      counter: toCount(line['counter']),
      content,
    },
  ]
}

/** One line that is no JSON must not keep the others back: the agent would send them all again. */
function parseJsonIfValid(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
