/*
 * How the rows of a page of a searched list are found: the one statement of `record-list.ts`, but for what its fields mean.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { afterKey, inOrder, type PageWindow } from '../db/page.ts'
import type { KeyReach } from './search-to-sql.ts'

/** The largest bigint. */
const KEY_MAX = sql.raw('9223372036854775807')

interface PageConditions {
  readonly key: RawBuilder<unknown>
  /** The key as no index of a whole list is in the order of. */
  readonly unorderedKey: RawBuilder<unknown>
  /** Whether times are all that is looked for. */
  readonly isByTime: boolean
  /** The order in which matches are taken; that of an index when empty. */
  readonly order: RawBuilder<unknown>
  readonly scope: Expression<SqlBool>
  readonly window: PageWindow
  readonly isMatch: Expression<SqlBool>
  /** Each match meets exactly one of these. */
  readonly toAlternatives: (reach: KeyReach) => readonly Expression<SqlBool>[]
  /** The end of a query of rows among which the last matches are likely to be. */
  readonly toLastRows: (reach: KeyReach) => RawBuilder<unknown> | undefined
  readonly nearRows: number
}

/**
 * The keys of the rows of a page. PostgreSQL cannot estimate where along the key the matches lie, and
 * walks a whole list for a text that few rows have. So the rows behind the start of the page are looked
 * at one by one up to a bound. When they do not fill it, as many matches as a page has are taken in the
 * order in which the index of a field gives them. Fewer are all that there are. Otherwise the largest of
 * their keys (the smallest, in descending order) is one that no key of the page is behind; most lists grow
 * in the order of their times, so that next to nothing is left to sort. The sum of the key and 0 is what no
 * index of a whole list is in the order of; summaries of pages hold it beside a time. Alternatives are
 * looked for one by one, each by the index that answers it. Where a field knows which rows its last matches are likely
 * to be among, these are looked at before: a page of matches among them is as good as any other to find the largest key by.
 */
export function selectKeys(tableName: string, conditions: PageConditions): RawBuilder<unknown> {
  const { key, unorderedKey, scope, window, isMatch, toAlternatives, order, nearRows } = conditions
  const table = sql.table(tableName)
  const isBehindStart = sql`${scope} and ${afterKey(unorderedKey, window)}`
  const { isDescending = false, afterId } = window
  const outermost = isDescending ? sql`min` : sql`max`
  const lastKey = sql`(select bound.key from bound)`
  const isBehind: KeyReach = (column, of) =>
    afterId === undefined ? sql<SqlBool>`true` : compare(column, isDescending, of(sql`${afterId}`))
  const isOnPage: KeyReach = (column, of) =>
    sql<SqlBool>`${isBehind(column, of)} and ${compare(column, !isDescending, of(lastKey))}`
  // Between two bounds PostgreSQL expects next to nothing, which summaries of pages are for, and a third of all before one.
  const otherBound = compare(unorderedKey, isDescending, isDescending ? KEY_MAX : sql.lit(0))
  const isWithin = sql`${compare(unorderedKey, !isDescending, lastKey)}
    and ${conditions.isByTime ? otherBound : sql`true`}`
  const lastRows = conditions.toLastRows(isBehind)
  const takeMatches = (rows: RawBuilder<unknown>, isOne: Expression<SqlBool>) => sql`
      select candidate.key from (
        select ${key} as key, ${isOne} as is_match from (${rows} limit ${sql.lit(nearRows)}) as ${table}
      ) as candidate where candidate.is_match
      order by ${inOrder(sql`candidate.key`, window)} limit ${window.limit}`
  const unite = (reach: KeyReach, toQuery: (isOne: Expression<SqlBool>) => RawBuilder<unknown>) =>
    sql.join(toAlternatives(reach).map(toQuery), sql` union all `)
  return sql`
    with near as materialized (
      ${takeMatches(
        sql`select * from ${table} where ${scope} and ${afterKey(key, window)}
          order by ${inOrder(key, window)}`,
        isMatch,
      )}
    ), is_full as materialized (select count(*) = ${window.limit} as value from near
    ), likely as materialized (
      ${
        lastRows === undefined
          ? sql`select null::bigint as key where false`
          : takeMatches(
              sql`select * from ${table} where not (select value from is_full) and ${lastRows}`,
              sql<SqlBool>`${isBehindStart} and ${isMatch}`,
            )
      }
    ), is_enough as materialized (
      select is_full.value or (select count(*) from likely) = ${window.limit} as value from is_full
    ), match as materialized (
      ${unite(
        isBehind,
        (isOne) => sql`(select ${key} as key from ${table}
          where not (select value from is_enough) and ${isBehindStart} and ${isOne} ${order})`,
      )}
    ), first as materialized (
      select likely.key from likely where (select value from is_enough)
      union all select match.key from match limit ${window.limit}
    ), bound as materialized (
      select ${outermost}(first.key) as key from first having count(*) = ${window.limit}
    )
    select near.key from near where (select value from is_full)
    union all
    select first.key from first where not exists (select from bound)
    union all ${unite(
      isOnPage,
      (isOne) => sql`(
        select ${key} from ${table}
        where exists (select from bound) and ${isWithin}
          and ${isBehindStart} and ${isOne}
        order by ${inOrder(unorderedKey, window)} limit ${window.limit}
      )`,
    )}`
}

function compare(
  column: Expression<unknown>,
  isBefore: boolean,
  value: Expression<unknown>,
): Expression<SqlBool> {
  return sql<SqlBool>`${column} ${isBefore ? sql`<=` : sql`>=`} ${value}`
}
