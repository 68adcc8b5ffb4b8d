/*
 * How a list finds the rows of a page, whatever is searched: one shape of statement for all lists, made
 * so that its cost is bounded by the rows that match near the page or by the rows that match at all,
 * whichever is less. Owns that shape; what a field means in SQL is `search-to-sql.ts`.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { afterKey, type PageWindow } from '../db/page.ts'
import type { SearchClause, SearchExpression, SearchField } from './search-field.ts'
import { searchToSql, type SearchColumns } from './search-to-sql.ts'

/** A list: the table that its rows are of, and where its fields are. */
export interface SearchedList {
  readonly table: string
  /** The column, a bigint, that pages are cut by; primary key of the table. */
  readonly key: string
  readonly fields: readonly SearchField[]
  readonly columns: SearchColumns
  /** Tables besides that columns live in, joined to the rows of `table` without multiplying them. */
  readonly joins?: RawBuilder<unknown>
  /**
   * Timestamp columns, by field, that grow with the key but for details: when something began that is
   * never inserted late. Each has an index on `(key / 4096, column)`.
   */
  readonly timelines?: Readonly<Record<string, string>>
}

/** Which rows of a list a page shows. */
export interface SearchedPage {
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
  /** What holds for every row of the list; about columns of its table alone. */
  readonly scope?: Expression<SqlBool>
}

/**
 * How many rows after the start of a page are looked at one by one before the indexes of the fields are
 * asked. 101 rows are found in them when more than one of a hundred matches; reading them all takes
 * about 10 ms.
 */
const NEAR_ROWS = 10_000

/** Rows that share an entry of a timeline: reading one such zone takes about a page's time. */
export const TIMELINE_ZONE_ROWS = 4_096

/**
 * The condition that a row is on the page; to be joined with `orderBy(key).limit(window.limit)`, since
 * it holds for up to twice as many rows.
 *
 * With a search, the planner has to choose between walking the key until enough rows match, which reads
 * the whole table when few do, and reading every match through the index of a field, which reads the
 * whole table when most do. Its estimates do not tell which: they know neither how matches lie along
 * the key nor how often a text contains another (at a million sign-ins, a rare text took 900 ms because
 * the key was walked, and 5 ms by its index). So it does not choose: the rows near the start of the page
 * are walked, a bounded number of them, and only when they do not fill it, all matches behind them are
 * collected and sorted.
 */
export function isOnPage(
  list: SearchedList,
  { search, window, scope = sql<SqlBool>`true` }: SearchedPage,
): Expression<SqlBool> {
  const key = sql.ref(`${list.table}.${list.key}`)
  if (search === undefined) return sql<SqlBool>`${scope} and ${afterKey(key, window)}`
  const table = sql.table(list.table)
  const joins = list.joins ?? sql``
  const isMatch = searchToSql(search, list.columns)
  const isWithin = sql`${scope} and ${afterKey(key, window)} ${boundsOf(list, search, window)}`
  const { limit } = window
  return sql<SqlBool>`${key} = any(array(
    with near as materialized (
      select ${key} as key
      from (select * from ${table} where ${isWithin} order by ${key} limit ${NEAR_ROWS}) as ${table}
      ${joins} where ${isMatch} order by ${key} limit ${limit}
    ), far as materialized (
      select ${key} as key from ${table} ${joins}
      where (select count(*) from near) < ${limit}
        and ${isWithin} and ${isMatch}
        and ${key} > (select ${key} from ${table} where ${isWithin}
          order by ${key} offset ${NEAR_ROWS - 1} limit 1)
    )
    select key from near
    union all (select key from far order by key limit ${limit})))`
}

/**
 * Where along the key the matches of a search in a timeline begin and end, so that nothing outside is
 * read: without it, the entries of a week at the end of a year are behind a walk over the year.
 */
function boundsOf(
  list: SearchedList,
  search: SearchExpression,
  window: PageWindow,
): RawBuilder<unknown> {
  const bounds = requiredClauses(search).flatMap((clause) => {
    const column = list.timelines?.[clause.field.name]
    return column === undefined ? [] : [boundOf(list, column, clause, window)]
  })
  return sql`${sql.join(bounds, sql` `)}`
}

/** Zone by zone, the first or last in which the clause holds for any row; one index entry each. */
function boundOf(
  { table, key }: SearchedList,
  column: string,
  clause: SearchClause,
  window: PageWindow,
): RawBuilder<unknown> {
  const [time] = clause.values
  const rows = sql.lit(TIMELINE_ZONE_ROWS)
  const keyRef = sql.ref(`${table}.${key}`)
  const isLower = clause.operator === '>'
  const direction = isLower ? sql`asc` : sql`desc`
  const comparison = isLower ? sql`>` : sql`<`
  // The inner select keeps the exists from becoming a join, which would read every row.
  const zone = sql`(
    select number from (
      select number from generate_series(${window.afterId ?? 0}::bigint / ${rows},
        (select max(${sql.ref(key)}) from ${sql.table(table)}) / ${rows}) as zones(number)
      order by number ${direction} offset 0
    ) as zone
    where (select true from ${sql.table(table)} where ${sql.ref(key)} / ${rows} = zone.number
      and ${sql.ref(column)} ${comparison} ${time} limit 1)
    order by number ${direction} limit 1)`
  return isLower
    ? sql`and ${keyRef} >= ${zone} * ${rows}`
    : sql`and ${keyRef} < (${zone} + 1) * ${rows}`
}

/** The clauses without which nothing matches. */
function requiredClauses(expression: SearchExpression): SearchClause[] {
  switch (expression.kind) {
    case 'clause':
      return [expression]
    case 'and':
      return expression.operands.flatMap(requiredClauses)
    case 'or':
      return []
  }
}
