/*
 * A distributed write, taken answer by answer as it arrives. An answer that is too large becomes an error of
 * its query, in words, and the others count: the agent would send a refused message again for ever.
 */
import type { DistributedResult } from '../../posture/osquery/agent-message.ts'
import type { JsonPlace } from './json-splitter.ts'
import type { MessageCollector } from './message-collector.ts'
import { parseJson } from './parse-agent-message.ts'

/** How many answers of one write are looked at. */
const RESULTS_MAX = 10_000
const MESSAGE_LENGTH_MAX = 4_000
/** What is held of the rows of one write. */
const HELD_BYTES_MAX = 8 * 1024 * 1024
/** How many rows of one write are looked at; what is beyond makes its query an error. */
const ROWS_MAX = 50_000
const ANSWER_OVERHEAD_BYTES = 64

/** Collects one distributed write. */
export class WriteCollector implements MessageCollector {
  static readonly cutMembers: ReadonlySet<string> = new Set(['queries', 'statuses', 'messages'])
  readonly #isAsked: (id: string) => boolean
  /** The rows of each query as text; undefined where they are too many. */
  readonly #rows = new Map<string, string | undefined>()
  readonly #statuses = new Map<string, string>()
  readonly #messages = new Map<string, string>()
  readonly #ids = new Set<string>()
  #heldBytes = 0

  /** Answers to queries that nobody asked are not held. */
  constructor(isAsked: (id: string) => boolean) {
    this.#isAsked = isAsked
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  take({ member, name: id, isPart }: JsonPlace, text: string | undefined): void {
    if (!isPart || id === undefined || !(this.#ids.has(id) || this.#isAsked(id))) return
    if (member === 'messages') {
      if (this.#ids.has(id) || this.#ids.size < RESULTS_MAX) this.#hold(this.#messages, id, text)
      return
    }
    if (!this.#ids.has(id) && this.#ids.size >= RESULTS_MAX) return
    this.#ids.add(id)
    if (member === 'statuses') this.#hold(this.#statuses, id, text ?? 'null')
    else if (!this.#hold(this.#rows, id, text)) this.#rows.set(id, undefined)
  }

  #hold(texts: Map<string, string | undefined>, id: string, text: string | undefined): boolean {
    if (text === undefined) return false
    const bytes = text.length + id.length + ANSWER_OVERHEAD_BYTES
    if (this.#heldBytes + bytes > HELD_BYTES_MAX) return false
    this.#heldBytes += bytes
    texts.set(id, text)
    return true
  }

  /**
   * The answers; those without a status count as successful. `isCut` says that the end of the message was
   * not read: then nothing is known in favour of what has no status.
   *
   * @throws AppError `malformed_json`
   */
  read(isCut: boolean): { results: DistributedResult[]; tooLargeCount: number } {
    let rowsLeft = ROWS_MAX
    let tooLargeCount = 0
    const results = [...this.#ids].map((id): DistributedResult => {
      const rows = this.#readRows(id, rowsLeft)
      const isLost = isCut && !this.#statuses.has(id)
      if (rows === undefined || isLost) {
        tooLargeCount += 1
        return { id, rows: [], statusCode: 1, message: this.#messageOf(id) || TOO_LARGE }
      }
      rowsLeft -= rows.length
      const statusCode = toStatusCode(this.#statuses.get(id))
      return { id, rows, statusCode, message: this.#messageOf(id) }
    })
    return { results, tooLargeCount }
  }

  /** The rows of a query; undefined when they are too many or too large. */
  #readRows(id: string, rowsMax: number): readonly unknown[] | undefined {
    if (!this.#rows.has(id)) return []
    const text = this.#rows.get(id)
    if (text === undefined) return undefined
    const rows = parseJson(text)
    // Old agents write no rows as a text.
    if (!Array.isArray(rows)) return []
    return rows.length > rowsMax ? undefined : rows
  }

  #messageOf(id: string): string {
    const text = this.#messages.get(id)
    const message = text === undefined ? undefined : parseJson(text)
    return typeof message === 'string' ? message.slice(0, MESSAGE_LENGTH_MAX) : ''
  }
}

const TOO_LARGE = 'The answer of the device is too large: it was not read.'

/** A status that is no number is an error: nothing is known in favour of the result. */
function toStatusCode(text: string | undefined): number {
  if (text === undefined || text === '0') return 0
  const status = parseJson(text)
  if (status === null) return 0
  const code = Number(status)
  return Number.isInteger(code) && status !== '' ? code : 1
}
