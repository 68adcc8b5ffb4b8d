/*
 * Prepared statements that go to the server together: one message there, one answer back, one transaction unless one is
 * open. Others may go in the same message, each as a transaction of its own. What a statement answers is described once
 * for each connection. Owns how that goes over a connection of the driver; which statements have names is for
 * `prepared-statements.ts`.
 */
import pg, { type Connection } from 'pg'
import { isOfFrame } from './unawaited.ts'

/** A statement with the name that connections know it by; without one it is sent whole. */
export interface BatchStatement {
  readonly text: string
  readonly name: string | undefined
  readonly values: readonly unknown[]
}

/** What a statement answered, as the driver says it. */
export interface StatementResult {
  readonly command: string
  readonly rowCount: number
  readonly rows: Record<string, unknown>[]
}

type ParseValue = (text: string) => unknown

/** How the rows of a statement are read. */
interface RowShape {
  readonly names: readonly string[]
  readonly parsers: readonly ParseValue[]
  /** Rows have all their members from the beginning. */
  readonly empty: Readonly<Record<string, null>>
}

/** What a connection knows of the statements that it has prepared, by their names. */
export class KnownStatements {
  readonly parsed = new Set<string>()
  /** Null for a statement that answers no rows. */
  readonly shapes = new Map<string, RowShape | null>()
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

interface BatchContext {
  readonly known: KnownStatements
  readonly getTypeParser: (typeId: number) => ParseValue
}

/** The values of a statement as the driver writes them. */
const { prepareValue } = (
  pg as unknown as { readonly utils: { readonly prepareValue: (value: unknown) => unknown } }
).utils

/** A connection as the driver has it; its types know an older form. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void; destroy(error: Error): void }
  parse(statement: { readonly text: string; readonly name: string }): void
  bind(portal: { readonly statement: string; readonly values: readonly unknown[] }): void
  describe(portal: { readonly type: 'P' }): void
  execute(): void
  sync(): void
  sendCopyFail(reason: string): void
}

/**
 * A prepared statement has answered another number of columns than before, and the server did not refuse it: a pooler
 * has prepared it anew. It has run, so nobody may run it again. Columns that have changed their type alone are not
 * noticed.
 */
export class OtherColumnsError extends Error {
  override readonly name = 'OtherColumnsError'
}

/** Statements on their way; give it to `client.query`, which calls back with the results in their order. */
export class StatementBatch {
  /** For whoever looks at what a connection sends. */
  readonly text: string
  readonly name: string | undefined
  callback: (error: Error | null, results?: readonly StatementResult[]) => void
  readonly #statements: readonly BatchStatement[]
  readonly #context: BatchContext
  readonly #results: StatementResult[] = []
  readonly #parsing: string[] = []
  #rows: Record<string, unknown>[] = []
  #shape: RowShape | null | undefined
  #fault: Error | undefined
  /** Goes in the same message. */
  #next: StatementBatch | undefined
  #isSent = false

  constructor(
    statements: readonly BatchStatement[],
    context: BatchContext,
    callback: StatementBatch['callback'],
  ) {
    this.text = statements.map(({ text }) => text).join('; ')
    this.name = statements.at(-1)?.name
    this.callback = callback
    this.#statements = statements
    this.#context = context
  }

  /**
   * Has another batch go along, with those that it takes along. The driver has to be given it when this one has ended.
   */
  takeAlong(next: StatementBatch): void {
    this.#next = next
  }

  /** How many statements are answered together, but for those that take no time of their own. */
  get workCount(): number {
    return this.#statements.filter(({ text }) => !isOfFrame(text)).length
  }

  get next(): StatementBatch | undefined {
    return this.#next
  }

  submit(connection: Connection): Error | null {
    if (this.#isSent) return null
    const wire = connection as unknown as Wire
    wire.stream.cork()
    try {
      const error = this.#send(wire, new Set())
      if (error === null) this.#sendNext(wire)
      return error
    } catch (error) {
      // Half of a message may be there.
      wire.stream.destroy(error as Error)
      return error as Error
    } finally {
      wire.stream.uncork()
    }
  }

  /** Up to one whose values cannot be sent, which says so in its turn. */
  #sendNext(wire: Wire): void {
    // What a batch prepares is not there if it fails.
    const uncertain = new Set(this.#parsing)
    for (let next = this.#next; next !== undefined; next = next.#next) {
      if (next.#send(wire, uncertain) !== null) return
      for (const name of next.#parsing) uncertain.add(name)
    }
  }

  /** Writes the statements, those without their name whose name is uncertain. */
  #send(wire: Wire, uncertain: ReadonlySet<string>): Error | null {
    const { parsed, shapes } = this.#context.known
    let values: unknown[][]
    try {
      values = this.#statements.map((statement) => statement.values.map(prepareValue))
    } catch (error) {
      return error as Error
    }
    const begun = new Set<string>()
    for (const [index, { text, name: known = '' }] of this.#statements.entries()) {
      const name = uncertain.has(known) ? '' : known
      const isNew = name === '' || !(parsed.has(name) || begun.has(name))
      if (isNew) {
        wire.parse({ text, name })
        this.#parsing.push(name)
      }
      wire.bind({ statement: name, values: values[index] ?? [] })
      if (name === '' || !(shapes.has(name) || begun.has(name))) wire.describe({ type: 'P' })
      begun.add(name)
      wire.execute()
    }
    wire.sync()
    this.#isSent = true
    return null
  }

  handleParseComplete(): void {
    const name = this.#parsing.shift()
    if (name !== undefined && name !== '') this.#context.known.parsed.add(name)
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const shape: RowShape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => this.#context.getTypeParser(dataTypeID)),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    }
    this.#shape = shape
    const name = this.#current?.name
    if (name !== undefined) this.#context.known.shapes.set(name, shape)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#fault !== undefined) return
    const shape = (this.#shape ??= this.#context.known.shapes.get(this.#current?.name ?? ''))
    if (shape?.names.length !== fields.length) {
      this.#fault = new OtherColumnsError('a prepared statement answers other columns than before')
      return
    }
    try {
      this.#rows.push(toRow(shape, fields))
    } catch (error) {
      this.#fault = error as Error
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const name = this.#current?.name
    const { shapes } = this.#context.known
    if (name !== undefined && !shapes.has(name)) shapes.set(name, null)
    const words = text.split(' ')
    this.#results.push({
      command: words[0] ?? '',
      rowCount: Number(words.at(-1)),
      rows: this.#rows,
    })
    this.#rows = []
    this.#shape = undefined
  }

  handleReadyForQuery(): void {
    if (this.#fault !== undefined) this.callback(this.#fault)
    else this.callback(null, this.#results)
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handlePortalSuspended(): void {
    // Only answers that are asked for in parts are.
  }

  handleCopyInResponse(connection: Connection): void {
    const wire = connection as unknown as Wire
    wire.sendCopyFail('nothing is copied')
  }

  handleCopyData(): void {
    // Nothing is copied.
  }

  /** How many of the statements have run. */
  get completedCount(): number {
    return this.#results.length
  }

  get #current(): BatchStatement | undefined {
    return this.#statements[this.#results.length]
  }
}

function toRow(
  { names, parsers, empty }: RowShape,
  fields: readonly (string | null)[],
): Record<string, unknown> {
  const row: Record<string, unknown> = { ...empty }
  for (let index = 0; index < fields.length; index += 1) {
    const text = fields[index]
    if (text === null || text === undefined) continue
    row[names[index] as string] = (parsers[index] as ParseValue)(text)
  }
  return row
}
