/**
 * One in-memory SQLite database per platform for any number of nodes. Each osquery table is a view
 * over a base table; the view shows the rows of the node whose query runs. A node shares the rows of
 * its template until one of them changes for it alone.
 */
import { DatabaseSync, constants } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { toCellText } from './cell-text.ts'
import { registerOsqueryFunctions } from './osquery-functions.ts'
import type { AgentTables, QueryOutcome, Row } from '../osquery-client/agent-tables.ts'
import type { Platform } from '../platform.ts'
import { TABLES_BY_PLATFORM } from '../tables/platform-tables.ts'
import type { TableDefinition } from '../tables/table-definition.ts'
import { COMPUTED_VIEWS } from './computed-views.ts'

/** A value of a stored row. */
export type Cell = string | number | null

/** Columns that are set; the others are null. */
export type StoredRow = Readonly<Record<string, Cell>>

/** A change of the rows of one node. Each kind can be repeated without further effect. */
export type RowChange =
  | {
      readonly kind: 'set'
      readonly table: string
      readonly to: StoredRow
      readonly where: StoredRow
    }
  | {
      readonly kind: 'put'
      readonly table: string
      readonly row: StoredRow
      readonly key: readonly string[]
    }
  | { readonly kind: 'remove'; readonly table: string; readonly where: StoredRow }

/** Rows by table name. */
export type TableRows = Readonly<Record<string, readonly StoredRow[]>>

export interface PlatformDatabaseOptions {
  readonly platform: Platform
  /** Milliseconds since the epoch; what `time` and `uptime` say follows it. */
  readonly nowMs: () => number
  /** A statement that runs longer fails as interrupted. */
  readonly queryMsMax?: number
  /** A statement that returns more rows fails. */
  readonly rowsMax?: number
}

/** Nodes are numbered from 1 in the order in which they were added. */
export interface PlatformDatabase {
  readonly platform: Platform
  /** Adds a node whose rows are shared with `templateNode` except for the given tables. */
  addNode(rows: TableRows, templateNode?: number): number
  /** Replaces all rows of a table of one node. */
  replaceRows(node: number, table: string, rows: readonly StoredRow[]): void
  /** Changes rows of one node; the other nodes do not see it. */
  applyChanges(node: number, changes: readonly RowChange[]): void
  /** The tables of one node as its agent queries them: read-only, bounded in time and rows. */
  tablesOf(node: number): AgentTables
  close(): void
}

const STATEMENTS_CACHED_MAX = 500
const SQLITE_INTERRUPT = 9
const SQLITE_TOOBIG = 18
const READ_ONLY_ACTIONS = new Set<number>([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
])

function quote(name: string): string {
  return `"${name}"`
}

function baseTable(name: string): string {
  return `rows_${name}`
}

/** Node to template, and the tables of which a node has rows of its own. */
class RowOwners {
  readonly #templates: number[] = [0]
  readonly #owned = new Map<number, Set<string>>()

  add(template: number | undefined): number {
    const node = this.#templates.length
    this.#templates.push(template ?? node)
    return node
  }

  ownerOf(node: number, table: string): number {
    return this.#owned.get(node)?.has(table) === true ? node : (this.#templates[node] ?? node)
  }

  own(node: number, table: string): void {
    const owned = this.#owned.get(node) ?? new Set()
    this.#owned.set(node, owned.add(table))
  }
}

function createSchema(database: DatabaseSync, table: TableDefinition): void {
  const base = quote(baseTable(table.name))
  const columns = table.columns.map(
    ({ name, type, isNoCase }) => `${quote(name)} ${type}${isNoCase ? ' COLLATE NOCASE' : ''}`,
  )
  const names = table.columns.map(({ name }) => quote(name)).join(', ')
  database.exec(`
    CREATE TABLE ${base} (device_node INTEGER NOT NULL, ${columns.join(', ')});
    CREATE INDEX ${quote(`index_${table.name}`)} ON ${base} (device_node);
    CREATE VIEW ${quote(table.name)} AS
      ${COMPUTED_VIEWS[table.name] ?? `SELECT ${names} FROM ${base}`}
      WHERE device_node = rows_owner('${table.name}');`)
}

class SqlitePlatformDatabase implements PlatformDatabase {
  readonly platform: Platform
  readonly #database = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: true })
  readonly #tables: ReadonlyMap<string, TableDefinition>
  readonly #owners = new RowOwners()
  readonly #writes = new Map<string, StatementSync>()
  readonly #reads = new Map<string, StatementSync>()
  readonly #queryMsMax: number
  readonly #rowsMax: number
  #currentNode = 0
  #deadlineMs = Infinity
  #isGuarded = false

  constructor(options: PlatformDatabaseOptions) {
    this.platform = options.platform
    this.#queryMsMax = options.queryMsMax ?? 2_000
    this.#rowsMax = options.rowsMax ?? 10_000
    this.#tables = TABLES_BY_PLATFORM[options.platform].tables
    registerOsqueryFunctions(this.#database)
    this.#database.function('rows_owner', (table) => this.#currentOwner(String(table)))
    this.#database.function('device_now', () => BigInt(Math.floor(options.nowMs() / 1_000)))
    for (const table of this.#tables.values()) createSchema(this.#database, table)
    this.#database.setAuthorizer((action, name, _detail, _database, view) =>
      this.#authorize(action, name, view),
    )
  }

  addNode(rows: TableRows, templateNode?: number): number {
    const node = this.#owners.add(templateNode)
    for (const [table, tableRows] of Object.entries(rows)) this.replaceRows(node, table, tableRows)
    return node
  }

  replaceRows(node: number, table: string, rows: readonly StoredRow[]): void {
    this.#owners.own(node, table)
    this.#write(`DELETE FROM ${quote(baseTable(table))} WHERE device_node = ?`, [node])
    for (const row of rows) this.#insert(node, table, row)
  }

  applyChanges(node: number, changes: readonly RowChange[]): void {
    for (const change of changes) {
      this.#copyForWrite(node, change.table)
      switch (change.kind) {
        case 'set':
          this.#update(node, change.table, change.to, change.where)
          break
        case 'put':
          this.#delete(node, change.table, pickColumns(change.row, change.key))
          this.#insert(node, change.table, change.row)
          break
        case 'remove':
          this.#delete(node, change.table, change.where)
          break
      }
    }
  }

  tablesOf(node: number): AgentTables {
    return { query: (sql) => this.#query(node, sql) }
  }

  close(): void {
    this.#database.close()
  }

  #currentOwner(table: string): bigint {
    if (performance.now() > this.#deadlineMs) throw new Error('interrupted')
    return BigInt(this.#owners.ownerOf(this.#currentNode, table))
  }

  #authorize(action: number, name: string | null, view: string | null): number {
    if (!this.#isGuarded) return constants.SQLITE_OK
    if (!READ_ONLY_ACTIONS.has(action)) return constants.SQLITE_DENY
    const isHidden = name?.startsWith('rows_') === true || name?.startsWith('sqlite_') === true
    const isDirectRead = action === constants.SQLITE_READ && isHidden && view === null
    return isDirectRead ? constants.SQLITE_DENY : constants.SQLITE_OK
  }

  #query(node: number, sql: string): QueryOutcome {
    this.#currentNode = node
    this.#deadlineMs = performance.now() + this.#queryMsMax
    try {
      return this.#readRows(this.#prepareRead(sql))
    } catch (error) {
      // One that failed in a function of ours would fail once more, with its former error.
      this.#reads.delete(sql)
      return toFailure(error)
    } finally {
      this.#deadlineMs = Infinity
    }
  }

  #readRows(statement: StatementSync): QueryOutcome {
    const names = statement.columns().map(({ name }) => name)
    const rows: Row[] = []
    for (const values of statement.iterate() as Iterable<unknown>) {
      if (rows.length >= this.#rowsMax) {
        return { outcome: 'error', status: SQLITE_TOOBIG, message: 'too many rows' }
      }
      if (performance.now() > this.#deadlineMs) throw new Error('interrupted')
      const cells = values as Parameters<typeof toCellText>[0][]
      const row: Row = {}
      names.forEach((name, index) => (row[name] = toCellText(cells[index] ?? null)))
      rows.push(row)
    }
    return { outcome: 'rows', rows }
  }

  #prepareRead(sql: string): StatementSync {
    const cached = this.#reads.get(sql)
    if (cached !== undefined) return cached
    this.#isGuarded = true
    try {
      const statement = this.#database.prepare(sql)
      statement.setReturnArrays(true)
      statement.setReadBigInts(true)
      const [oldest] = this.#reads.keys()
      if (this.#reads.size >= STATEMENTS_CACHED_MAX && oldest !== undefined) {
        this.#reads.delete(oldest)
      }
      this.#reads.set(sql, statement)
      return statement
    } finally {
      this.#isGuarded = false
    }
  }

  #write(sql: string, values: readonly SQLInputValue[]): void {
    let statement = this.#writes.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#writes.set(sql, statement)
    }
    statement.run(...values)
  }

  #copyForWrite(node: number, table: string): void {
    const owner = this.#owners.ownerOf(node, table)
    if (owner === node) return
    this.#owners.own(node, table)
    const names = this.#columnsOf(table).map(quote).join(', ')
    const base = quote(baseTable(table))
    this.#write(
      `INSERT INTO ${base} (device_node, ${names}) SELECT ?, ${names} FROM ${base} WHERE device_node = ?`,
      [node, owner],
    )
  }

  #columnsOf(table: string): string[] {
    const definition = this.#tables.get(table)
    if (definition === undefined) throw new Error(`no such table: ${table}`)
    return definition.columns.map(({ name }) => name)
  }

  #insert(node: number, table: string, row: StoredRow): void {
    const names = Object.keys(row)
    const marks = names.map(() => '?')
    this.#write(
      `INSERT INTO ${quote(baseTable(table))} (${['device_node', ...names.map(quote)].join(', ')})
       VALUES (${['?', ...marks].join(', ')})`,
      [node, ...Object.values(row)],
    )
  }

  #update(node: number, table: string, to: StoredRow, where: StoredRow): void {
    const assignments = Object.keys(to).map((name) => `${quote(name)} = ?`)
    this.#write(
      `UPDATE ${quote(baseTable(table))} SET ${assignments.join(', ')}
       WHERE ${renderConditions(where)}`,
      [...Object.values(to), node, ...Object.values(where)],
    )
  }

  #delete(node: number, table: string, where: StoredRow): void {
    this.#write(`DELETE FROM ${quote(baseTable(table))} WHERE ${renderConditions(where)}`, [
      node,
      ...Object.values(where),
    ])
  }
}

function renderConditions(where: StoredRow): string {
  return ['device_node = ?', ...Object.keys(where).map((name) => `${quote(name)} IS ?`)].join(
    ' AND ',
  )
}

function pickColumns(row: StoredRow, names: readonly string[]): StoredRow {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]))
}

function toFailure(error: unknown): QueryOutcome {
  const message = error instanceof Error ? error.message : 'unknown error'
  if (message === 'interrupted') return { outcome: 'error', status: SQLITE_INTERRUPT, message }
  const code: unknown =
    typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : 1
  return { outcome: 'error', status: typeof code === 'number' && code > 0 ? code : 1, message }
}

/**
 * Opens a database with the tables of one platform and no nodes. Queries may only read, cannot see
 * other nodes' rows, and cannot be recursive; a failing one answers with SQLite's code and message.
 */
export function createPlatformDatabase(options: PlatformDatabaseOptions): PlatformDatabase {
  return new SqlitePlatformDatabase(options)
}
