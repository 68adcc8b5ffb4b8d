/*
 * How a list finds the rows of a page, whatever is searched: one statement for all lists. Owns the shape
 * of that statement; what a field means in SQL is `search-to-sql.ts`, which index answers it is for
 * PostgreSQL.
 */
import { sql, type Expression, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import { afterKey, type PageWindow } from '../db/page.ts'
import type { SearchExpression, SearchField } from './search-field.ts'
import { searchToSql, type SearchColumns } from './search-to-sql.ts'

/** A list: the table that its rows are of, and where its fields are. */
export interface SearchedList {
  readonly table: string
  /** The column, a bigint, that pages are cut by; primary key of the table. */
  readonly key: string
  readonly fields: readonly SearchField[]
  readonly columns: SearchColumns
  /** Rows that are looked at in the order of the key first, where `NEAR_ROWS` is not right. */
  readonly nearRows?: number
}

/** Which rows of a list a page shows. */
export interface SearchedPage {
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
  /** What holds for every row of the list; about columns of its table alone. */
  readonly scope?: Expression<SqlBool>
}

/** A page of 101 rows is full within these where one of fifty matches; to look at all takes 5 ms. */
const NEAR_ROWS = 5_000

/**
 * Reads a page: `read` gets the condition that a row is on it, and orders by the key.
 *
 * @returns what `read` answers
 */
export async function readPage<Schema, Row>(
  db: Kysely<Schema>,
  list: SearchedList,
  page: SearchedPage,
  read: (source: Kysely<Schema>, isOnPage: Expression<SqlBool>) => Promise<Row[]>,
): Promise<Row[]> {
  const { search, window, scope = sql<SqlBool>`true` } = page
  const key = sql.ref(`${list.table}.${list.key}`)
  if (search === undefined) return read(db, sql<SqlBool>`${scope} and ${afterKey(key, window)}`)
  const isMatch = searchToSql(search, list.columns)
  const keys = selectKeys(list, { key, scope, window, isMatch })
  return read(db, sql<SqlBool>`${key} = any(array(${keys}))`)
}

interface PageConditions {
  readonly key: RawBuilder<unknown>
  readonly scope: Expression<SqlBool>
  readonly window: PageWindow
  readonly isMatch: Expression<SqlBool>
}

/**
 * The keys of the rows of a page. PostgreSQL cannot estimate where along the key the matches lie, and
 * walks a whole list for a text that few rows have. So the rows behind the start of the page are looked
 * at one by one up to a bound. When they do not fill it, as many matches as a page has are taken in the
 * order in which the index of a field gives them. Fewer are all that there are. Otherwise the largest of
 * their keys is one that no key of the page is above; most lists grow in the order of their times, so
 * that next to nothing is left to sort. The sum of the key and 0 is what no index is in the order of;
 * summaries of pages hold it beside a time.
 */
function selectKeys(list: SearchedList, conditions: PageConditions): RawBuilder<unknown> {
  const { key, scope, window, isMatch } = conditions
  const table = sql.table(list.table)
  const unorderedKey = sql`(${key} + 0)`
  const isBehindStart = sql`${scope} and ${afterKey(unorderedKey, window)} and ${isMatch}`
  return sql`
    with near as materialized (
      select candidate.key from (
        select ${key} as key, ${isMatch} as is_match
        from (
          select * from ${table} where ${scope} and ${afterKey(key, window)}
          order by ${key} limit ${sql.lit(list.nearRows ?? NEAR_ROWS)}
        ) as ${table}
      ) as candidate where candidate.is_match order by candidate.key limit ${window.limit}
    ), is_full as materialized (select count(*) = ${window.limit} as value from near
    ), match as materialized (
      select ${key} as key from ${table} where not (select value from is_full) and ${isBehindStart}
    ), first as materialized (select match.key from match limit ${window.limit}
    ), bound as materialized (
      select max(first.key) as key from first having count(*) = ${window.limit}
    )
    select near.key from near where (select value from is_full)
    union all
    select first.key from first where not exists (select from bound)
    union all (
      select ${key} from ${table}
      where exists (select from bound) and ${unorderedKey} <= (select bound.key from bound)
        and ${isBehindStart}
      order by ${unorderedKey} limit ${window.limit}
    )`
}
