/*
 * A list: where its rows are, what they can be searched by, and how the rows of a page are found, by one
 * statement for all lists. What a field means in SQL is `search-to-sql.ts`; which index answers it is for
 * PostgreSQL.
 *
 *     export const DEVICE_LIST = new RecordList({
 *       noun: 'device',
 *       table: 'device',
 *       fields: {
 *         name: 'text',
 *         registered_at: 'timestamp',
 *         id: 'id',
 *         device_type: { type: 'enum', values: ['Mac', 'Linux'], column: 'platform' },
 *       },
 *       select: (db: Kysely<Schema>) => db.selectFrom('device').selectAll(),
 *     })
 */
import {
  sql,
  type CompiledQuery,
  type Expression,
  type Kysely,
  type RawBuilder,
  type SqlBool,
} from 'kysely'
import { notFound } from '../app-error.ts'
import {
  afterKey,
  inOrder,
  PER_PAGE_DEFAULT,
  PER_PAGE_MAX,
  type PageWindow,
  type RowQuery,
} from '../db/page.ts'
import { toPreparedDb } from '../db/database.ts'
import { readRows, type ReadAhead } from '../db/read-ahead.ts'
import { toOwnName, toRecord, type CamelCased } from '../db/record-table.ts'
import { parseId } from '../ids.ts'
import {
  clausesOf,
  clausesOfAll,
  type SearchClause,
  type SearchExpression,
  type SearchField,
  type SearchFieldType,
  type SearchOperator,
} from './search-field.ts'
import { selectKeys } from './page-keys.ts'
import { toPageSought, type PageSought } from './page-sought.ts'
import {
  isIndexedPart,
  SIDES_MAX,
  searchToAlternatives,
  searchToSql,
  type SearchColumn,
  type SearchColumns,
} from './search-to-sql.ts'

/** A field of a list; its type alone, where the rest is as usual. */
export type FieldDeclaration = SearchFieldType | DetailedField

interface DetailedField extends Omit<SearchField, 'name' | 'operators'> {
  /** `USUAL_OPERATORS` of the type when left out. */
  readonly operators?: readonly SearchOperator[]
  /** The column of the table, or what stands for one; the column of the field's name when left out. */
  readonly column?: string | SearchColumn
  /** By what rows are found where a clause is the whole search; as beside others when left out. */
  readonly alone?: SearchColumn
  /** Of a clause beside others: whether any row meets it, where that is known sooner than which rows do. */
  readonly isPossible?: (clause: SearchClause) => Expression<SqlBool> | undefined
  /** Whether summaries of pages tell where the matches of a clause are, as those of one of a time. */
  readonly isOfTime?: (clause: SearchClause) => boolean
  /**
   * Whether no index answers it but one in the order of the key, in a table so large that to read its rows twice takes
   * long; of some of its clauses, where it says so of each. `if many` where an index answers it that gives the matches
   * in another order, so that it is of use for few of them alone; `by key` where it gives them in the order of the key,
   * which is of no use on one side of an `or`.
   */
  readonly isRead?: IsRead | ((clause: SearchClause) => IsRead)
  /** Rows that are looked at in the order of the key first, where it takes longer than usual to look at one. */
  readonly nearRows?: number
}

type IsRead = boolean | 'if many' | 'by key'

/**
 * Rows among which the first matches of a page are likely to be, where no index is in their order: the end of their
 * query from its `where` on. `NEAR_ROWS` of them are looked at before all matches are, of each of several sides of an
 * `or` its share. All matches meet each of the clauses, or all those of one side of an `or` do.
 */
type LikelyRows = (
  clauses: readonly SearchClause[],
  page: PageSought,
) => RawBuilder<unknown> | undefined

const USUAL_OPERATORS: Readonly<Record<SearchFieldType, readonly SearchOperator[]>> = {
  text: [':', '~'],
  id: [':'],
  timestamp: [':', '<', '>'],
  boolean: [':'],
  enum: [':'],
  integer: [':', '<', '>'],
}

export interface ListDeclaration<Schema, Row> {
  /** A row in words, as refusals name it: `device group`. */
  readonly noun: string
  readonly table: string
  /** The column, a bigint and never negative, that pages are cut by; primary key of the table. `id` when left out. */
  readonly key?: string
  /** By the names that searches use. */
  readonly fields: Readonly<Record<string, FieldDeclaration>>
  /** What holds for every row; about columns of the table alone. */
  readonly scope?: Expression<SqlBool>
  /** The rows as the API shows them: the table, with what is joined to it, by the names of columns. */
  readonly select: (db: Kysely<Schema>) => ListQuery<Row>
  /** Rows that are looked at in the order of the key first, where `NEAR_ROWS` is not right. */
  readonly nearRows?: number
  readonly likelyRows?: LikelyRows
  /** What summaries of pages hold for the key beside the times of the list; there are none when left out. */
  readonly timeKey?: RawBuilder<unknown>
}

/** What a list needs of the query that selects its rows. */
interface ListQuery<Row> extends RowQuery<Row> {
  where(condition: Expression<SqlBool>): ListQuery<Row>
  orderBy(expression: Expression<unknown>): ListQuery<Row>
  limit(count: number | RawBuilder<number>): ListQuery<Row>
  compile(): CompiledQuery<Row>
}

/** Which rows of a list a page shows. */
export interface ListPage {
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
  /** What holds for the rows of this page beside the scope of the list. */
  readonly scope?: Expression<SqlBool> | undefined
  /** What was read for it already. */
  readonly ahead?: ReadAhead | undefined
}

/** The records of a list. */
export type RowOf<List extends { keyOf(row: never): string }> = Parameters<List['keyOf']>[0]

/** A list, declared as the top of this file says: reads pages of it, and single records. */
export class RecordList<Schema, Row extends object, Stored extends object = CamelCased<Row>> {
  readonly noun: string
  readonly table: string
  readonly key: string
  /** What the list can be searched by. */
  readonly fields: readonly SearchField[]
  readonly columns: SearchColumns
  readonly #declaration: ListDeclaration<Schema, Row>
  readonly #key: RawBuilder<unknown>
  readonly #scope: Expression<SqlBool>
  readonly #details: Readonly<Record<string, DetailedField>>
  /** What rows are found by where a clause is the whole search. */
  readonly #columnsAlone: SearchColumns
  /** Statements that run over and over, by what tells them apart. */
  readonly #statements = new Map<string, KeyedStatement>()

  constructor(declaration: ListDeclaration<Schema, Row>) {
    const { noun, table, key = 'id', scope = sql<SqlBool>`true` } = declaration
    const fields = Object.entries(declaration.fields).map(toField)
    this.noun = noun
    this.table = table
    this.key = key
    this.fields = fields
    this.columns = Object.fromEntries(
      fields.map(({ name, column = name }) => [
        name,
        typeof column === 'string' ? sql.ref(`${table}.${column}`) : column,
      ]),
    )
    this.#declaration = declaration
    this.#key = sql.ref(`${table}.${key}`)
    this.#scope = scope
    this.#details = Object.fromEntries(fields.map((field) => [field.name, field]))
    this.#columnsAlone = Object.fromEntries(
      Object.entries(this.columns).map(([name, column]) => [
        name,
        this.#details[name]?.alone ?? column,
      ]),
    )
  }

  /** A page in the order of the key. */
  async listPage(db: Kysely<Schema>, page: ListPage): Promise<Stored[]> {
    const { search, window, scope, ahead } = page
    const isUsual = search === undefined && isUsualLimit(window.limit)
    const rows: readonly object[] =
      isUsual && scope === undefined
        ? await readRows<object, Schema>(db, this.toPageStatement(db, window), ahead)
        : await this.#selectPage(isUsual ? toPreparedDb(db) : db, page).execute()
    return rows.map((row) => toRecord(row) as Stored)
  }

  /** The statement that reads a page of a usual length, without a search. */
  toPageStatement(db: Kysely<Schema>, window: PageWindow): CompiledQuery {
    const { afterId, limit, isDescending = false } = window
    const name = `${limit} ${isDescending ? 'before' : 'after'} ${afterId === undefined ? '' : 'key'}`
    return this.#toStatement(name, afterId, (key) =>
      this.#selectPage(db, {
        search: undefined,
        window: { afterId: afterId === undefined ? undefined : key, limit, isDescending },
      }),
    )
  }

  /** The record with this key, which is a decimal number within bigint. */
  async find(db: Kysely<Schema>, id: string, ahead?: ReadAhead): Promise<Stored | undefined> {
    const [row] = await readRows<object, Schema>(db, this.toFindStatement(db, id), ahead)
    return row && (toRecord(row) as Stored)
  }

  /** The statement that reads the record with this key. */
  toFindStatement(db: Kysely<Schema>, id: string): CompiledQuery {
    return this.#toStatement('one', id, (key) =>
      this.#select(db, sql<SqlBool>`${this.#scope} and ${this.#key} = ${key}`),
    )
  }

  /**
   * The record that a client names.
   *
   * @throws AppError `not_found`, also for a text that is the id of nothing
   */
  async get(db: Kysely<Schema>, text: string, ahead?: ReadAhead): Promise<Stored> {
    const record = await this.find(db, parseId(text, this.noun), ahead)
    if (record === undefined) throw notFound(this.noun, text)
    return record
  }

  /** The records with these keys, of which there is at least one, in any order. */
  async listWithIds(db: Kysely<Schema>, ids: readonly string[]): Promise<Stored[]> {
    const isOneOf = sql<SqlBool>`${this.#scope} and ${this.#key} in (${sql.join(ids)})`
    const rows = await this.#select(db, isOneOf).execute()
    return rows.map(toRecord) as object[] as Stored[]
  }

  /** The key of a record, whose query selects it under the name of the column. */
  keyOf(record: Stored): string {
    const value: unknown = Reflect.get(record, toOwnName(this.key))
    if (typeof value === 'string') return value
    throw new Error(`the rows of ${this.table} are selected without ${this.key}`)
  }

  /** A statement that differs by a key alone: it is written once. */
  #toStatement(
    name: string,
    key: string | undefined,
    select: (key: string) => ListQuery<Row>,
  ): CompiledQuery {
    const known = this.#statements.get(name) ?? toKeyed(select(KEY_PLACE).compile())
    this.#statements.set(name, known)
    return { ...known.statement, parameters: known.toParameters(key) }
  }

  #selectPage(db: Kysely<Schema>, page: ListPage) {
    const { limit } = page.window
    return (
      this.#select(db, this.#isOnPage(page))
        .orderBy(inOrder(this.#key, page.window))
        // PostgreSQL plans for a tenth of all rows where it does not know the limit.
        .limit(page.search === undefined && isUsualLimit(limit) ? sql.lit<number>(limit) : limit)
    )
  }

  #select(db: Kysely<Schema>, condition: Expression<SqlBool>): ListQuery<Row> {
    return this.#declaration.select(db).where(condition)
  }

  /** Without a search the rows are taken in the order of the key; with one, their keys are found first. */
  #isOnPage({ search, window, scope: scopeOfPage }: ListPage): Expression<SqlBool> {
    const scope =
      scopeOfPage === undefined ? this.#scope : sql<SqlBool>`${this.#scope} and ${scopeOfPage}`
    if (search === undefined) return sql<SqlBool>`${scope} and ${afterKey(this.#key, window)}`
    const { timeKey } = this.#declaration
    const page = toPageSought(window)
    const likelyRows = this.#toLikelyRows(search, page)
    // Where no index answers any of it, rows are read in the order of the key until the page is full.
    const clauses = clausesOf(search)
    const hasOr = clausesOfAll(search).length < clauses.length
    const reads = clauses.map((clause) => {
      const read = this.#isRead(clause)
      return read === 'by key' ? !hasOr : read
    })
    const isInKeyOrder = reads.every((read) => read === true)
    const isRead = !reads.includes(false)
    const keys = selectKeys(this.table, {
      key: this.#key,
      matchKey: isInKeyOrder ? this.#key : sql`(${this.#key} + 0)`,
      isRead,
      isForFew: isRead && !isInKeyOrder,
      timeKey,
      order: this.#toTimeOrder(search, window),
      likelyRows,
      scope,
      window,
      reach: page.reach,
      isMatch: searchToSql(search, this.columns),
      toAlternatives: (reach) =>
        searchToAlternatives(search, {
          columns: search.kind === 'clause' ? this.#columnsAlone : this.columns,
          reach,
          isIndexed: this.#isIndexed.bind(this),
          isPossible: (one) => this.#details[one.field.name]?.isPossible?.(one),
        }).map(({ condition, search: own, isOfOtherTable = false }) => ({
          condition,
          isOfTime: !isOfOtherTable && this.#isByTime(own, likelyRows.length > 0),
        })),
      nearRows: this.#nearRowsOf(search),
    })
    return sql<SqlBool>`${this.#key} = any(array(${page.shared.toStatement(keys)}))`
  }

  #nearRowsOf(search: SearchExpression): number {
    const { nearRows = NEAR_ROWS } = this.#declaration
    const ofFields = clausesOf(search).map(({ field }) => this.#details[field.name]?.nearRows)
    return Math.min(nearRows, ...ofFields.filter((rows) => rows !== undefined))
  }

  #isRead(clause: SearchClause): IsRead {
    const { isRead = false } = this.#details[clause.field.name] ?? {}
    return typeof isRead === 'function' ? isRead(clause) : isRead
  }

  #isIndexed(clause: SearchClause): boolean {
    const { field, operator, values } = clause
    const [value] = values
    if (this.#isRead(clause) === true) return false
    return field.type !== 'text' || operator !== '~' || isIndexedPart(String(value))
  }

  #isOfTime(clause: SearchClause): boolean {
    const { name, type } = clause.field
    return type === 'timestamp' || this.#details[name]?.isOfTime?.(clause) === true
  }

  /**
   * The order of the only field of a search, a time that is a column and in summaries of pages: of the last rows before
   * a time first, since PostgreSQL takes the first ones from an index of times, behind all of which all matches are.
   * After a time alone, the last rows may be far from the start of the page.
   */
  #toTimeOrder(search: SearchExpression, { isDescending = false, limit }: PageWindow) {
    if (this.#declaration.timeKey === undefined) return undefined
    const before = clausesOfOneField(search).find(({ operator }) => operator === '<')
    const column = before?.field.type === 'timestamp' ? this.columns[before.field.name] : undefined
    const isOrdered = isDescending && column !== undefined && typeof column !== 'function'
    return isOrdered ? sql`order by ${column} desc limit ${limit}` : undefined
  }

  #toLikelyRows(search: SearchExpression, page: PageSought) {
    const sides = search.kind === 'or' ? search.operands.map(clausesOfAll) : [clausesOfAll(search)]
    const likelyRows = sides
      .map((clauses) => this.#declaration.likelyRows?.(clauses, page))
      .filter((rows) => rows !== undefined)
    // Each is a query of its own, which has the whole search in it: of many sides, the first ones.
    return likelyRows.slice(0, SIDES_MAX)
  }

  /** Likely rows tell a narrow range of keys, in which summaries of one time are enough. */
  #isByTime(search: SearchExpression, hasLikelyRows: boolean): boolean {
    const isOfTime = this.#isOfTime.bind(this)
    return hasLikelyRows ? clausesOfAll(search).some(isOfTime) : clausesOf(search).every(isOfTime)
  }
}

/** The clauses of a search that all of its matches meet, where they are about one field alone; else none. */
function clausesOfOneField(search: SearchExpression): SearchClause[] {
  const clauses = clausesOf(search)
  const isOne = search.kind !== 'or' && clauses.every(({ field }) => field === clauses[0]?.field)
  return isOne ? clauses : []
}

/** Every field of ids takes a list of them, so that one request asks for what belongs to several records. */
function toField([name, declared]: [string, FieldDeclaration]): SearchField & DetailedField {
  const field = typeof declared === 'string' ? { type: declared } : declared
  const usual = { operators: USUAL_OPERATORS[field.type], list: field.type === 'id' }
  return { name, ...usual, ...field }
}

/**
 * Rows that are read for pages of the usual lengths; one for each length that clients may ask for were too many plans.
 */
const USUAL_LIMITS: ReadonlySet<number> = new Set([PER_PAGE_DEFAULT + 1, PER_PAGE_MAX + 1])

/** Whether pages are often of this many rows. */
export function isUsualLimit(limit: number): boolean {
  return USUAL_LIMITS.has(limit)
}

/** A statement but for its key. */
interface KeyedStatement {
  readonly statement: CompiledQuery
  readonly toParameters: (key: string | undefined) => readonly unknown[]
}

/** Stands for the key where a statement is written; no key is this text. */
const KEY_PLACE = 'key of a record'

function toKeyed(statement: CompiledQuery): KeyedStatement {
  const place = statement.parameters.lastIndexOf(KEY_PLACE)
  return {
    statement,
    toParameters: (key) => {
      const parameters = [...statement.parameters]
      if (place >= 0 && key !== undefined) parameters[place] = key
      return parameters
    },
  }
}

/** A page of 101 rows is full within these where one of fifty matches; to look at all takes 5 ms. */
const NEAR_ROWS = 5_000
