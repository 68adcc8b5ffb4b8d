/*
 * How a list finds the rows of a page, whatever is searched: one way for all lists, made so that its
 * cost is bounded by the rows that match near the page or by the rows that match at all, whichever is
 * less. Owns that way; what a field means in SQL is `search-to-sql.ts`, how it is indexed
 * `field-index.ts`.
 */
import { sql, type Expression, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import { afterKey, type PageWindow } from '../db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  findIndexConditions,
  findValueSearch,
  type FieldIndexes,
  type ValueSearch,
} from './field-index.ts'
import {
  clausesOf,
  type SearchClause,
  type SearchExpression,
  type SearchField,
} from './search-field.ts'
import { searchToSql, type SearchColumns } from './search-to-sql.ts'
import { findKeyRanges, type KeyRange } from './timeline.ts'

/** A list: the table that its rows are of, and where its fields are. */
export interface SearchedList {
  readonly table: string
  /** The column, a bigint, that pages are cut by; primary key of the table. */
  readonly key: string
  readonly fields: readonly SearchField[]
  readonly columns: SearchColumns
  readonly joins?: ListJoins
  /**
   * Timestamp columns, by field, that grow with the key but for exceptions: when something began that
   * is not inserted late. Each has an index on `(key / 4096, column)`.
   */
  readonly timelines?: Readonly<Record<string, string>>
  /**
   * How fields, columns of the same name, are indexed where their own column is not enough. A list
   * that has it is long, and every field of it has an index.
   */
  readonly indexes?: FieldIndexes
  /** What differs from `REACH`. */
  readonly reach?: Partial<Reach>
}

/** Tables besides that columns of a list live in. */
export interface ListJoins {
  /** Joins that give each row of the list exactly one of each table. */
  readonly tables: RawBuilder<unknown>
  /** The fields that need them; where a search asks for none, they are left out. */
  readonly fields: readonly string[]
}

/** How far a search goes in each of its steps before it takes the next. */
export interface Reach {
  /** Rows behind the start of a page that are looked at one by one to begin with. */
  readonly nearRows: number
  /** Matches that are collected at most, by the indexes of the fields. */
  readonly fewMatches: number
  /** Rows that are looked at one by one where there are more matches. */
  readonly farRows: number
}

/** Which rows of a list a page shows. */
export interface SearchedPage {
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
  /** What holds for every row of the list; about columns of its table alone. */
  readonly scope?: Expression<SqlBool>
}

/**
 * A page of 101 rows is found in the near rows when one of ten matches, in the far rows when one of two
 * hundred does. Looking at the near rows takes less than 1 ms, collecting few matches 5 ms when each is a
 * page of its own to read, looking at the far rows 10 ms.
 */
const REACH: Reach = { nearRows: 1_000, fewMatches: 2_000, farRows: 20_000 }

/** As many rows are looked at one by one in the time in which few matches are collected. */
const FREQUENT_ROWS = 10_000

/**
 * Reads a page: `read` gets the condition that a row is on it and the source to read it from, and
 * orders by the key.
 *
 * With a search, PostgreSQL would have to choose between walking the key until enough rows match, which
 * reads the whole table when few do, and reading every match through the index of a field, which reads
 * the whole table when most do. Its estimates do not tell which: they know neither how matches lie along
 * the key nor how often a text contains another. Among a million sign-ins, a text that is in none took
 * 900 ms because the key was walked, and takes 2 ms by its index. So it does not choose: a few rows
 * behind the start of the page are walked; when they do not fill it, a bounded number of matches is
 * collected by the indexes of the fields; when there are more, a bounded number of further rows is walked;
 * and only when they do not fill it either, all matches behind them are collected and sorted. The
 * statements share one snapshot.
 */
export async function readPage<Row>(
  db: Kysely<Schema>,
  list: SearchedList,
  page: SearchedPage,
  read: (source: Kysely<Schema>, isOnPage: Expression<SqlBool>) => Promise<Row[]>,
): Promise<Row[]> {
  const { search, window, scope = sql<SqlBool>`true` } = page
  const key = sql.ref(`${list.table}.${list.key}`)
  if (search === undefined) return read(db, sql<SqlBool>`${scope} and ${afterKey(key, window)}`)
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const reach = { ...REACH, ...list.reach }
      if (joinsFor(list, clausesOf(search)) !== undefined) await joinRowByRow(tx)
      const keys = await findKeys({ tx, list, reach, key, scope, search, window })
      return read(tx, sql<SqlBool>`${key} = any(${keys}::bigint[])`)
    })
}

/**
 * The rows that are looked at tell how much is read of the tables that they are joined to, which would
 * be read whole otherwise when a search is thought to find nearly nothing in them.
 */
async function joinRowByRow(tx: Kysely<Schema>): Promise<void> {
  await sql`select set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`.execute(tx)
}

interface Finder {
  readonly tx: Kysely<Schema>
  readonly list: SearchedList
  readonly reach: Reach
  readonly key: RawBuilder<unknown>
  readonly scope: Expression<SqlBool>
  readonly search: SearchExpression
  readonly window: PageWindow
}

/** The keys of the rows of the page. */
async function findKeys(finder: Finder): Promise<string[]> {
  const { list, tx, search, window, reach } = finder
  const ranges = await findKeyRanges(tx, list, search, window)
  const near = await walkRanges(finder, ranges, window.limit, reach.nearRows)
  if (near.rest.length === 0) return [...near.keys]
  // As many as this near rows hold, the page is likely to be full before few matches are collected.
  const frequentRows = Math.min(reach.farRows, FREQUENT_ROWS)
  const isFrequent = near.keys.length * frequentRows >= window.limit * reach.nearRows
  const find = isFrequent ? findFar : findBehind
  return [...near.keys, ...(await find(finder, near.rest, window.limit - near.keys.length))]
}

interface RangesWalk {
  readonly keys: readonly string[]
  /** What was not looked at; empty when there are enough or no more. */
  readonly rest: readonly KeyRange[]
}

/** Looks at up to `budget` rows one by one, range after range, for up to `count` matches. */
async function walkRanges(
  finder: Finder,
  ranges: readonly KeyRange[],
  count: number,
  budget: number,
): Promise<RangesWalk> {
  const keys: string[] = []
  let left = budget
  for (const [index, range] of ranges.entries()) {
    if (left <= 0) return { keys, rest: ranges.slice(index) }
    const near = await walk(finder, range, count - keys.length, left)
    keys.push(...near.keys)
    if (keys.length >= count) return { keys, rest: [] }
    if (near.edge !== null) {
      return { keys, rest: [{ ...range, after: near.edge }, ...ranges.slice(index + 1)] }
    }
    left -= range.rows ?? 0
  }
  return { keys, rest: [] }
}

/** The first `count` matches in ranges that are too long to look at every row of them. */
async function findBehind(
  finder: Finder,
  ranges: readonly KeyRange[],
  count: number,
): Promise<string[]> {
  const { list, tx, search, reach } = finder
  const rest = { after: ranges[0]?.after, last: ranges.at(-1)?.last }
  if (search.kind === 'or' && list.indexes !== undefined) {
    return unite(finder, search.operands, rest, count)
  }
  const valueSearch = await findValueSearch(tx, list, search)
  if (valueSearch !== undefined) return merge(finder, rest, valueSearch, count)
  const few = await collect(finder, rest, reach.fewMatches + 1)
  if (few.length <= reach.fewMatches) return few.slice(0, count)
  return findFar(finder, ranges, count)
}

/** The same, where many rows match. */
async function findFar(
  finder: Finder,
  ranges: readonly KeyRange[],
  count: number,
): Promise<string[]> {
  const far = await walkRanges(finder, ranges, count, finder.reach.farRows)
  if (far.rest.length === 0) return [...far.keys]
  const rest = { after: far.rest[0]?.after, last: ranges.at(-1)?.last }
  return [...far.keys, ...(await collectAll(finder, rest, count - far.keys.length))]
}

function isWithin({ key }: Finder, { after, last }: Pick<KeyRange, 'after' | 'last'>) {
  const isAfter = after === undefined ? sql`true` : sql`${key} > ${after}`
  return last === undefined ? isAfter : sql`${isAfter} and ${key} <= ${last}`
}

function joinsFor(
  list: SearchedList,
  clauses: readonly SearchClause[],
): RawBuilder<unknown> | undefined {
  const isJoined = clauses.some(({ field }) => list.joins?.fields.includes(field.name))
  return isJoined ? list.joins?.tables : undefined
}

interface Walk {
  readonly keys: readonly string[]
  /** The last key that was looked at; null when there are enough or no more. */
  readonly edge: string | null
}

/**
 * Looks at up to `budget` rows one by one, in the order of the key, for up to `count` matches. The offset
 * keeps the planner from looking for the search in the joined tables first.
 */
async function walk(finder: Finder, range: KeyRange, count: number, budget: number): Promise<Walk> {
  const { tx, list, key, scope, search } = finder
  const table = sql.table(list.table)
  const isCandidate = sql`${scope} and ${isWithin(finder, range)}`
  const { rows } = await sql<Walk>`
    with near as materialized (
      select key from (
        select ${key} as key, ${searchToSql(search, list.columns)} as is_match
        from (select * from ${table} where ${isCandidate} order by ${key} limit ${budget}) as ${table}
        ${joinsFor(list, clausesOf(search)) ?? sql``} order by ${key} offset 0
      ) as candidate where is_match order by key limit ${count}
    )
    select array(select key::text from near order by key) as keys,
      case when (select count(*) from near) < ${count} then (
        select ${key}::text from ${table} where ${isCandidate}
        order by ${key} offset ${budget - 1} limit 1) end as edge`.execute(tx)
  return rows[0] ?? { keys: [], edge: null }
}

/** Any `count` of all matches, in order: all, when there are no more. */
async function collect(
  finder: Finder,
  range: Pick<KeyRange, 'after' | 'last'>,
  count: number,
): Promise<string[]> {
  const matches = await selectMatches(finder, range)
  // Materialized, it is planned as if all matches were wanted, and yet read no further than asked for.
  const { rows } = await sql<{ key: string }>`
    with match as materialized (${matches})
    select few.key from (select key from match limit ${count}) as few order by few.key
  `.execute(finder.tx)
  return rows.map((row) => row.key)
}

/** The first `count` of all matches, which are collected by the indexes of the fields and sorted. */
async function collectAll(
  finder: Finder,
  range: Pick<KeyRange, 'after' | 'last'>,
  count: number,
): Promise<string[]> {
  const matches = await selectMatches(finder, range)
  const { rows } = await sql<{ key: string }>`
    with match as materialized (${matches}) select key from match order by key limit ${count}
  `.execute(finder.tx)
  return rows.map((row) => row.key)
}

async function selectMatches(
  finder: Finder,
  range: Pick<KeyRange, 'after' | 'last'>,
): Promise<RawBuilder<unknown>> {
  const { tx, list, key, scope, search } = finder
  const sample = (rows: number) => sql`(
    select * from ${sql.table(list.table)} where ${scope} and ${isWithin(finder, range)}
    order by ${key} limit ${sql.lit(rows)}) as ${sql.table(list.table)}`
  const conditions = await findIndexConditions(tx, list, search, sample)
  const isMatch = searchToSql(search, list.columns, (clause, condition) => {
    const indexed = conditions.get(clause)
    if (indexed?.isExact === true) return indexed.condition
    // "is true" keeps the clause from being looked for in an index that reads everything for it.
    return indexed === undefined
      ? condition
      : sql<SqlBool>`(${indexed.condition} and (${condition}) is true)`
  })
  const asked = clausesOf(search).filter((clause) => conditions.get(clause)?.isExact !== true)
  // How rare a text is cannot be estimated, and where the estimate is too high the whole table is read.
  // A sum keeps the index of the key out of the plan: it would be walked again, to the end.
  if (list.indexes !== undefined) await sql`set local enable_seqscan = off`.execute(tx)
  const keyOutOfPlan = list.indexes === undefined ? key : sql`(${key} + 0)`
  return sql`
    select ${key} as key from ${sql.table(list.table)} ${joinsFor(list, asked) ?? sql``}
    where ${scope} and ${isWithin({ ...finder, key: keyOutOfPlan }, range)} and ${isMatch}`
}

/** The same for any of several searches: each costs what it costs alone. */
async function unite(
  finder: Finder,
  searches: readonly SearchExpression[],
  range: Pick<KeyRange, 'after' | 'last'>,
  count: number,
): Promise<string[]> {
  const keys = new Set<string>()
  for (const search of searches) {
    const window = { afterId: range.after, limit: count }
    const found = await findKeys({ ...finder, search, window })
    for (const key of found) keys.add(key)
  }
  return [...keys].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)).slice(0, count)
}

/**
 * The same for a search of a few values, whose rows the index holds in the order of the key. Compared
 * as pairs: with "=", the order of the key alone would do, and the index of the key be walked.
 */
async function merge(
  finder: Finder,
  range: Pick<KeyRange, 'after' | 'last'>,
  { value, values }: ValueSearch,
  count: number,
): Promise<string[]> {
  const { tx, list, key, scope, search } = finder
  const { rows } = await sql<{ key: string }>`
    select match.key from unnest(${values}::text[]) as sought(value)
    cross join lateral (
      select ${key} as key from ${sql.table(list.table)} ${joinsFor(list, clausesOf(search)) ?? sql``}
      where ${scope} and (${value}, ${key}) > (sought.value, ${range.after ?? '-1'}::bigint)
        and ${value} <= sought.value and ${isWithin({ ...finder, key: sql`(${key} + 0)` }, range)}
        and (${searchToSql(search, list.columns)}) is true
      order by ${value}, ${key} limit ${count}
    ) as match
    order by match.key limit ${count}`.execute(tx)
  return rows.map((row) => row.key)
}
