/*
 * Prepared statements: a statement that runs over and over is parsed and planned once per connection,
 * which for the short statements of a change is most of what it costs the server. Owns which
 * statements get a name and what happens when a name has become worthless; not what they say.
 */
import { createHash } from 'node:crypto'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { errorCodeOf } from '../error-code-of.ts'
import {
  KnownStatements,
  StatementBatch,
  type BatchStatement,
  type StatementResult,
} from './statement-batch.ts'

/** A text gets a name when it is met for this time: those that are built for one occasion never do. */
const USES_BEFORE_NAMING = 2
/** Every name takes memory in every connection of the server. */
const NAMES_MAX = 400
/** How many texts are counted at once. */
const TEXTS_MAX = 2_000

/** Not what ends transactions: there is nothing to plan. What begins one goes along with its first statement. */
const PLANNED = /^\s*(?:select|with|insert|update|delete|begin|start transaction)\b/i
const BEGINS = /^(?:begin|start transaction)\b/
const ENDS = /^(?:commit|rollback)$/

const FEATURE_NOT_SUPPORTED = '0A000'
/** invalid_sql_statement_name and duplicate_prepared_statement. */
const FORGOTTEN_CODES: ReadonlySet<string> = new Set(['26000', '42P05'])
/** With the rest of a name less than the 63 bytes that the server takes. */
const HASH_DIGITS = 32

/** The names of the statements of one process. */
class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #uses = new Map<string, number>()
  #generation = 0
  #isAbandoned = false

  /** The name for a statement; undefined while it is to run without one. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#isAbandoned || this.#names.size >= NAMES_MAX || !PLANNED.test(text)) return undefined
    const uses = (this.#uses.get(text) ?? 0) + 1
    if (uses <= USES_BEFORE_NAMING) {
      if (this.#uses.size >= TEXTS_MAX) this.#uses.clear()
      this.#uses.set(text, uses)
      return undefined
    }
    this.#uses.delete(text)
    const name = `heliograph_${this.#generation}_${hash(text)}`
    this.#names.set(text, name)
    return name
  }

  /** From now on statements have no names: something between here and the server keeps none. */
  abandon(): void {
    this.#isAbandoned = true
    this.#names.clear()
  }

  /** Gives every statement another name: what the connections know under the present ones is outdated. */
  renew(): void {
    this.#generation += 1
    this.#names.clear()
  }
}

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

/** The same name means the same statement in every process: a pooler may mix their connections. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}

/** A pool for the query builder, which takes several statements at once besides. */
export interface PreparingPool extends PostgresPool {
  /**
   * Runs statements in one round trip and one transaction, and answers the rows of each. None has had an effect when this
   * rejects.
   */
  readonly runTogether: (statements: readonly TogetherStatement[]) => Promise<readonly Rows[]>
}

/** A statement that runs beside others. */
export interface TogetherStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

type Rows = readonly Record<string, unknown>[]

/** What is prepared on the connections of a process: pools that give the same connections share it. */
export class PreparedStatements {
  readonly #names = new StatementNames()
  readonly #clients = new WeakMap<PoolClient, PreparingClient>()

  clientOf(client: PoolClient): PreparingClient {
    const known = this.#clients.get(client)
    if (known !== undefined) return known
    const preparing = new PreparingClient(client, this.#names)
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
    end: () => pool.end(),
    connect,
    async runTogether(statements) {
      const client = await connect()
      try {
        return await client.runTogether(statements)
      } finally {
        client.release()
      }
    },
  }
}

/** What of a connection of the driver its types do not show. */
interface DriverClient {
  readonly connection: { on(event: 'parseComplete', heard: () => void): void }
  readonly query: (batch: StatementBatch) => void
  readonly getTypeParser: (typeId: number, format: 'text') => (text: string) => unknown
}

class PreparingClient implements PostgresPoolClient {
  /** Cursors are not used. */
  readonly query = ((text: string, values: unknown[]) =>
    this.#run(text, values)) as PostgresPoolClient['query']
  readonly #client: PoolClient
  readonly #driver: DriverClient
  readonly #names: StatementNames
  readonly #known = new KnownStatements()
  readonly #getTypeParser: (typeId: number) => (text: string) => unknown
  /** In the order in which they were given to the driver. */
  readonly #underWay = new Set<StatementBatch>()
  /** Begins a transaction that has no statement yet. */
  #begin: BatchStatement | undefined

  constructor(client: PoolClient, names: StatementNames) {
    const driver = client as unknown as DriverClient
    this.#client = client
    this.#driver = driver
    this.#names = names
    this.#getTypeParser = (typeId) => driver.getTypeParser(typeId, 'text')
    driver.connection.on('parseComplete', () => {
      const [first] = this.#underWay
      first?.handleParseComplete()
    })
  }

  release(isBroken?: boolean): void {
    this.#begin = undefined
    this.#client.release(isBroken)
  }

  async runTogether(statements: readonly TogetherStatement[]): Promise<readonly Rows[]> {
    const batch = statements.map(({ sql, parameters }) => ({
      text: sql,
      name: this.#names.nameOf(sql),
      values: parameters,
    }))
    try {
      const results = await this.#send(batch)
      return results.map(({ rows }) => rows)
    } catch (error) {
      if (!this.#hasForgotten(error)) throw error
      const results = await this.#send(
        batch.map((statement) => ({ ...statement, name: undefined })),
      )
      return results.map(({ rows }) => rows)
    }
  }

  async #run(text: string, values: unknown[]): Promise<unknown> {
    const begin = this.#begin
    this.#begin = undefined
    if (BEGINS.test(text)) {
      // It goes along with the first statement of the transaction.
      this.#begin = { text, name: this.#names.nameOf(text), values }
      return { command: 'BEGIN', rowCount: null, rows: [] }
    }
    if (begin !== undefined) return this.#runFirst(begin, text, values)
    const name = this.#names.nameOf(text)
    if (name === undefined) return this.#client.query(text, values)
    try {
      const [result] = await this.#send([{ text, name, values }])
      return result
    } catch (error) {
      if (!this.#hasForgotten(error)) throw error
      if (this.#client.getTransactionStatus() !== 'I') throw error
      return this.#client.query(text, values)
    }
  }

  /** The first statement of a transaction, which begins with it; one that ends before there is one never begins. */
  async #runFirst(begin: BatchStatement, text: string, values: unknown[]): Promise<unknown> {
    if (ENDS.test(text)) return { command: text.toUpperCase(), rowCount: null, rows: [] }
    const name = this.#names.nameOf(text)
    if (name === undefined && values.length === 0) {
      // It may be several, which the server takes from such a text alone.
      await this.#client.query(begin.text)
      return this.#client.query(text, values)
    }
    try {
      const results = await this.#send([begin, { text, name, values }])
      return results[1]
    } catch (error) {
      this.#hasForgotten(error)
      throw error
    }
  }

  #hasForgotten(error: unknown): boolean {
    if (isForgottenStatement(error)) this.#names.abandon()
    else if (isOutdatedStatement(error)) this.#names.renew()
    else return false
    return true
  }

  #send(statements: readonly BatchStatement[]): Promise<readonly StatementResult[]> {
    return new Promise((resolve, reject) => {
      const context = { known: this.#known, getTypeParser: this.#getTypeParser }
      const batch = new StatementBatch(statements, context, (error, results = []) => {
        this.#underWay.delete(batch)
        if (error === null) resolve(results)
        else reject(error)
      })
      this.#underWay.add(batch)
      this.#driver.query(batch)
    })
  }
}
