/*
 * Prepared statements: a statement that runs over and over is parsed and planned once per connection,
 * which for the short statements of a change is most of what it costs the server. Owns what happens when a name
 * has become worthless; not which statements get one, and not what they say.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { errorCodeOf } from '../error-code-of.ts'
import {
  KnownStatements,
  OtherColumnsError,
  StatementBatch,
  type BatchStatement,
  type StatementResult,
} from './statement-batch.ts'
import { StatementNames } from './statement-names.ts'
import { isOfFrame, unawaitedStatement } from './unawaited.ts'

const BEGINS = /^(?:begin|start transaction)\b/
/** Statements that wait in memory to go along with another. */
const UNAWAITED_MAX = 8

const COMMIT = 'commit'
const ROLLBACK = 'rollback'

const FEATURE_NOT_SUPPORTED = '0A000'
/** invalid_sql_statement_name and duplicate_prepared_statement. */
const FORGOTTEN_CODES: ReadonlySet<string> = new Set(['26000', '42P05'])

/**
 * Whether a prepared statement no longer fits the tables: another version of the service has added a
 * column to what it selects. It is good again when it is prepared anew.
 */
export function isOutdatedStatement(error: unknown): boolean {
  return (
    error instanceof Error &&
    errorCodeOf(error) === FEATURE_NOT_SUPPORTED &&
    // The code alone says too little, and PostgreSQL has no other mark; the text may be translated.
    'routine' in error &&
    error.routine === 'RevalidateCachedQuery'
  )
}

/**
 * Whether the server knows nothing of a prepared statement, or of one too many: a pooler between has sent it to another
 * connection. PgBouncer keeps them apart since 1.21 (`max_prepared_statements`).
 */
export function isForgottenStatement(error: unknown): boolean {
  return FORGOTTEN_CODES.has(errorCodeOf(error))
}

/** A pool for the query builder, which takes several statements at once besides. */
export interface PreparingPool extends PostgresPool {
  /** The most connections that it opens. */
  readonly connectionsMax: number
  /**
   * Sends statements in one message, each as a transaction of its own, in their order. Each is answered as soon as it
   * is there, and fails by itself.
   */
  readonly runInTurn: (statements: readonly TogetherStatement[]) => readonly Promise<Rows>[]
}

/** A statement that runs beside others. */
export interface TogetherStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

type Rows = readonly Record<string, unknown>[]

/** Told why statements run unprepared, at several times the cost, until a time has passed. */
export type LogUnprepared = (error: unknown, afterMs: number) => void

/** What is prepared on the connections of a process: pools that give the same connections share it. */
export class PreparedStatements {
  readonly #names: StatementNames
  readonly #logUnprepared: LogUnprepared
  readonly #clients = new WeakMap<PoolClient, PreparingClient>()

  /** How long a connection lives at most. */
  constructor(connectionAgeMaxMs: number, logUnprepared: LogUnprepared) {
    this.#names = new StatementNames(connectionAgeMaxMs)
    this.#logUnprepared = logUnprepared
  }

  clientOf(client: PoolClient): PreparingClient {
    const known = this.#clients.get(client)
    if (known !== undefined) return known
    const preparing = new PreparingClient(client, this.#names, this.#logUnprepared)
    this.#clients.set(client, preparing)
    return preparing
  }
}

/**
 * The pool as the query builder takes it, with repeated statements prepared. An outdated one is run
 * again at once; inside a transaction, which it has broken, that is for whoever runs the transaction.
 */
export function prepareStatements(
  pool: Pick<Pool, 'options'> & {
    readonly connect: () => Promise<PoolClient>
    readonly end: () => Promise<void>
  },
  prepared: PreparedStatements,
): PreparingPool {
  const connect = async () => prepared.clientOf(await pool.connect())
  return {
    options: pool.options,
    connectionsMax: pool.options.max,
    end: () => pool.end(),
    connect,
    runInTurn(statements) {
      const sent = connect().then((client) => {
        const answers = client.runInTurn(statements)
        void Promise.allSettled(answers).then(() => {
          client.release()
        })
        return { client, answers }
      })
      return statements.map(async ({ sql, parameters }, index) => {
        const { client, answers } = await sent
        try {
          return (await answers[index]) ?? []
        } catch (error) {
          if (!client.hasForgotten(error)) throw error
          // By a connection of its own: on that one are still the statements behind it.
          const another = await connect()
          try {
            return await another.runUnnamed(sql, parameters)
          } finally {
            another.release()
          }
        }
      })
    },
  }
}

/** What of a connection of the driver its types do not show. */
interface DriverClient {
  readonly connection: { on(event: 'parseComplete', heard: () => void): void }
  readonly query: (batch: StatementBatch) => void
  readonly allowSilenceOf: (statementCount: number) => void
  readonly getTypeParser: (typeId: number, format: 'text') => (text: string) => unknown
}

class PreparingClient implements PostgresPoolClient {
  /** Cursors are not used. */
  readonly query = ((text: string, values: unknown[]) =>
    this.#run(text, values)) as PostgresPoolClient['query']
  readonly #client: PoolClient
  readonly #driver: DriverClient
  readonly #names: StatementNames
  readonly #logUnprepared: LogUnprepared
  readonly #known = new KnownStatements()
  readonly #getTypeParser: (typeId: number) => (text: string) => unknown
  /** In the order in which they were given to the driver. */
  readonly #underWay = new Set<StatementBatch>()
  /** Begins a transaction that has no statement yet. */
  #begin: BatchStatement | undefined
  /** Statements of the open transaction that go along with the next. */
  #unawaited: BatchStatement[] = []
  /** Whether the transaction is open whose first statement is on its way, or that could not begin. */
  #opening: Promise<boolean> | undefined

  constructor(client: PoolClient, names: StatementNames, logUnprepared: LogUnprepared) {
    const driver = client as unknown as DriverClient
    this.#client = client
    this.#driver = driver
    this.#names = names
    this.#logUnprepared = logUnprepared
    this.#getTypeParser = (typeId) => driver.getTypeParser(typeId, 'text')
    driver.connection.on('parseComplete', () => {
      const [first] = this.#underWay
      first?.handleParseComplete()
    })
  }

  release(isBroken?: boolean): void {
    this.#begin = undefined
    this.#unawaited = []
    this.#opening = undefined
    this.#client.release(isBroken)
  }

  runInTurn(statements: readonly TogetherStatement[]): readonly Promise<Rows>[] {
    const sent = statements.map(({ sql, parameters }) =>
      this.#toBatch([{ text: sql, name: this.#names.nameOf(sql), values: parameters }]),
    )
    for (const [index, { batch }] of sent.entries()) sent[index - 1]?.batch.takeAlong(batch)
    const [first] = sent
    if (first !== undefined) this.#give(first.batch)
    return sent.map(async ({ results }) => (await results)[0]?.rows ?? [])
  }

  async runUnnamed(text: string, values: readonly unknown[]): Promise<Rows> {
    const [result] = await this.#send([{ text, name: undefined, values }])
    return result?.rows ?? []
  }

  async #run(given: string, values: readonly unknown[]): Promise<unknown> {
    const unawaitedText = unawaitedStatement(given)
    const text = unawaitedText ?? given
    if (this.#opening !== undefined && !(await this.#opening)) {
      // Nothing of it may run by itself.
      if (text !== ROLLBACK) throw new Error('the transaction could not begin')
      this.#opening = undefined
      return { command: 'ROLLBACK', rowCount: null, rows: [] }
    }
    const statement = { text, name: this.#names.nameOf(text), values }
    if (BEGINS.test(text)) {
      // It goes along with the first statement of the transaction.
      this.#begin = statement
      return { command: 'BEGIN', rowCount: null, rows: [] }
    }
    if (unawaitedText !== undefined && this.#mayWait) {
      this.#unawaited.push(statement)
      return { command: '', rowCount: null, rows: [] }
    }
    const [begin, unawaited] = [this.#begin, this.#unawaited]
    this.#begin = undefined
    this.#unawaited = []
    if (begin !== undefined) return this.#runFirst([begin, ...unawaited], statement)
    if (unawaited.length > 0 && text !== ROLLBACK) return this.#runAfter(unawaited, statement)
    return this.#runAlone(statement)
  }

  async #runAlone(statement: BatchStatement): Promise<unknown> {
    const runUnprepared = () => this.#client.query(statement.text, [...statement.values])
    if (statement.name === undefined) return runUnprepared()
    try {
      const [result] = await this.#send([statement])
      return result
    } catch (error) {
      if (!this.hasForgotten(error)) throw error
      if (this.#client.getTransactionStatus() !== 'I') throw error
      return runUnprepared()
    }
  }

  /** Whether a statement may go along with a later one of its transaction. */
  get #mayWait(): boolean {
    const isInTransaction = this.#begin !== undefined || this.#client.getTransactionStatus() !== 'I'
    return isInTransaction && this.#unawaited.length < UNAWAITED_MAX
  }

  /**
   * The first awaited statement of a transaction, which begins with it; one that ends before there is any work never
   * begins.
   */
  async #runFirst(before: readonly BatchStatement[], statement: BatchStatement): Promise<unknown> {
    const { text } = statement
    if (text === ROLLBACK || (text === COMMIT && before.every((other) => isOfFrame(other.text)))) {
      return { command: text.toUpperCase(), rowCount: null, rows: [] }
    }
    const { promise: opening, resolve: settleOpening } = Promise.withResolvers<boolean>()
    this.#opening = opening
    return this.#runAfter(before, statement, (completedCount) => {
      const isOpen = completedCount > 0
      if (isOpen) this.#opening = undefined
      settleOpening(isOpen)
    })
  }

  /**
   * A statement of a transaction with those that go along. Nothing of them runs again: that is for who runs the
   * transaction.
   */
  async #runAfter(
    before: readonly BatchStatement[],
    statement: BatchStatement,
    onEnd?: (completedCount: number) => void,
  ): Promise<unknown> {
    const { text, name, values } = statement
    try {
      if (name === undefined && values.length === 0 && text !== COMMIT) {
        // It may be several, which the server takes from such a text alone.
        await this.#send(before, onEnd)
        return await this.#client.query(text)
      }
      return (await this.#send([...before, statement], onEnd)).at(-1)
    } catch (error) {
      this.hasForgotten(error)
      throw error
    }
  }

  /** Whether the server has refused a statement for what it knows of its name, which nobody uses from then on. */
  hasForgotten(error: unknown): boolean {
    if (error instanceof OtherColumnsError) this.#names.renew()
    if (isForgottenStatement(error)) {
      const pause = this.#names.abandon()
      if (pause !== undefined) this.#logUnprepared(error, pause.afterMs)
    } else if (isOutdatedStatement(error)) this.#names.renew()
    else return false
    return true
  }

  #send(
    statements: readonly BatchStatement[],
    onEnd?: (completedCount: number) => void,
  ): Promise<readonly StatementResult[]> {
    const { batch, results } = this.#toBatch(statements, onEnd)
    this.#give(batch)
    return results
  }

  #give(batch: StatementBatch): void {
    this.#underWay.add(batch)
    this.#allowSilence(batch)
    this.#driver.query(batch)
  }

  /** After a message began or ended: the server may be silent about the largest that is under way. */
  #allowSilence(changed: StatementBatch): void {
    if (changed.workCount <= 1) return
    const workCounts = Array.from(this.#underWay, ({ workCount }) => workCount)
    this.#driver.allowSilenceOf(Math.max(1, ...workCounts))
  }

  #toBatch(
    statements: readonly BatchStatement[],
    onEnd?: (completedCount: number) => void,
  ): { readonly batch: StatementBatch; readonly results: Promise<readonly StatementResult[]> } {
    const { promise, resolve, reject } = Promise.withResolvers<readonly StatementResult[]>()
    const context = { known: this.#known, getTypeParser: this.#getTypeParser }
    const batch = new StatementBatch(statements, context, (error, results = []) => {
      this.#underWay.delete(batch)
      this.#allowSilence(batch)
      onEnd?.(batch.completedCount)
      if (error === null) resolve(results)
      else reject(error)
      if (batch.next !== undefined) this.#give(batch.next)
    })
    return { batch, results: promise }
  }
}
