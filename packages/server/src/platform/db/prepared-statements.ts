/*
 * Prepared statements: a statement that runs over and over is parsed and planned once per connection,
 * which for the short statements of a change is most of what it costs the server. Owns which
 * statements get a name and what happens when a name has become worthless; not what they say.
 */
import { createHash } from 'node:crypto'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { errorCodeOf } from '../error-code-of.ts'

/** A text gets a name when it is met for this time: those that are built for one occasion never do. */
const USES_BEFORE_NAMING = 2
/** Every name takes memory in every connection of the server. */
const NAMES_MAX = 400
/** How many texts are counted at once. */
const TEXTS_MAX = 2_000

/** Not what begins and ends transactions: there is nothing to plan. */
const PLANNED = /^\s*(?:select|with|insert|update|delete)\b/i

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

/**
 * The pool as the query builder takes it, with repeated statements prepared. An outdated one is run
 * again at once; inside a transaction, which it has broken, that is for whoever runs the transaction.
 */
export function prepareStatements(
  pool: Pick<Pool, 'options'> & {
    readonly connect: () => Promise<PoolClient>
    readonly end: () => Promise<void>
  },
): PostgresPool {
  const names = new StatementNames()
  const clients = new WeakMap<PoolClient, PreparingClient>()
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect()
      const known = clients.get(client)
      if (known !== undefined) return known
      const preparing = new PreparingClient(client, names)
      clients.set(client, preparing)
      return preparing
    },
  }
}

class PreparingClient implements PostgresPoolClient {
  /** Cursors are not used. */
  readonly query = ((text: string, values: unknown[]) =>
    this.#run(text, values)) as PostgresPoolClient['query']
  readonly #client: PoolClient
  readonly #names: StatementNames

  constructor(client: PoolClient, names: StatementNames) {
    this.#client = client
    this.#names = names
  }

  release(isBroken?: boolean): void {
    this.#client.release(isBroken)
  }

  async #run(text: string, values: unknown[]): Promise<unknown> {
    const name = this.#names.nameOf(text)
    if (name === undefined) return this.#client.query(text, values)
    try {
      return await this.#client.query({ name, text, values })
    } catch (error) {
      if (isForgottenStatement(error)) this.#names.abandon()
      else if (isOutdatedStatement(error)) this.#names.renew()
      else throw error
      if (this.#client.getTransactionStatus() !== 'I') throw error
      return this.#client.query(text, values)
    }
  }
}
