/*
 * How the rows of a page of a searched list are found: the one statement of `record-list.ts`, but for what its fields
 * mean. PostgreSQL cannot estimate where along the key the matches lie, and walks a whole list for a text that few rows
 * have. So:
 *
 * 1. The rows behind the start of the page are looked at one by one in the order of the key, up to a bound. Where they
 *    let expect that some more fill the page, these are looked at as well. A full page is all that is wanted.
 * 2. Otherwise as many matches as a page has are taken in the order in which indexes give them, or from where the
 *    first ones are likely to be. Fewer are all that there are. They are looked for from the start of the page on, and
 *    not from where the first step ended: where few rows match, to read a table as it is stored takes two thirds of the
 *    time that its rows take in the order of a key, which is more than the first rows cost.
 * 3. The largest of their keys (the smallest, in descending order) is one that no key of the page is behind. All
 *    matches up to it are sorted. Most lists grow in the order of their times, so that next to nothing is left to sort.
 *
 * Where the second step finds no bound of use, it sorts all matches, and there is no third. Where that is for few
 * matches alone, many are found by reading in the order of the key.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { afterKey, inOrder, type PageWindow } from '../db/page.ts'
import type { SearchClause } from './search-field.ts'
import type { KeyReach } from './search-to-sql.ts'

/** The largest bigint. */
const KEY_MAX = sql.raw('9223372036854775807')

/** How many times as many rows are looked at behind the nearest ones, at most. */
const FAR_TIMES = 8
/** The nearest rows promise a page where so many times as many would fill it. */
const PROMISE_TIMES = 6
/** How many times as many rows are looked at as are expected to be needed. */
const SPARE_TIMES = 2
/** How many times as many matches as nearest rows are few: they are found and sorted, wherever they are. */
const FEW_TIMES = 2

interface PageConditions {
  readonly key: RawBuilder<unknown>
  /**
   * What matches are sorted by: the key and 0, which no index of a whole list is in the order of; the key itself where
   * no other index answers the search.
   */
  readonly matchKey: RawBuilder<unknown>
  /** Whether no index answers any of it, but for few matches. */
  readonly isRead: boolean
  /** Whether indexes answer the search, but are of use for few matches alone. */
  readonly isForFew: boolean
  /** What summaries of pages hold for the key, beside times; there are none when undefined. */
  readonly timeKey: RawBuilder<unknown> | undefined
  /** The order, with its end, in which the first matches are taken; that of an index when undefined. */
  readonly order: RawBuilder<unknown> | undefined
  readonly scope: Expression<SqlBool>
  readonly window: PageWindow
  /** What is behind the start of the page. */
  readonly reach: KeyReach
  readonly isMatch: Expression<SqlBool>
  /** Each match meets exactly one of these. */
  readonly toAlternatives: (reach: KeyReach) => readonly PageAlternative[]
  /** The ends of queries of rows among which the first matches are likely to be. */
  readonly likelyRows: readonly RawBuilder<unknown>[]
  readonly nearRows: number
}

interface PageAlternative {
  readonly condition: Expression<SqlBool>
  /** Whether times are all that it looks for, or enough where likely rows tell a narrow range of keys. */
  readonly isOfTime: boolean
}

/** What one of the alternatives is looked for by. */
interface AlternativeConditions extends PageConditions {
  readonly isOne: Expression<SqlBool>
  /** Whether summaries of pages lead to it: its `matchKey` is theirs. */
  readonly isByTime: boolean
}

/**
 * The keys of the rows of a page, as the top of this file says. The sum of the key and 0 is what no
 * index of a whole list is in the order of, so that it is used but where rows are best read in that order; summaries of
 * pages hold it beside a time. Alternatives are looked for one by one, each by the index that answers it, and those of
 * times by summaries of pages, whatever is on the other side of an `or`. In descending order, an index gives matches
 * from the wrong end of the list, of which no key is a bound of use: all matches are sorted, but for those of times. So
 * are those that no index answers, and those of a list without summaries, in which no match behind a bound is passed
 * over unread. Where a list knows which rows the first matches are likely to be among, these are looked at before, on
 * each side of an `or`: a page of matches among them is as good as any other to find the largest key by.
 */
export function selectKeys(tableName: string, conditions: PageConditions): RawBuilder<unknown> {
  const { order, window, timeKey, likelyRows } = conditions
  const { limit, isDescending = false } = window
  const table = sql.table(tableName)
  const isSorted =
    order === undefined && (isDescending || timeKey === undefined || conditions.isRead)
  const walked = selectWalked(table, conditions)
  const fullPage = sql`select walked.key from walked where (select value from is_full)`
  if (isSorted && likelyRows.length === 0) {
    const isFull = sql<SqlBool>`(select value from is_full)`
    if (conditions.isForFew) {
      return sql`with ${walked}, ${selectFew(table, conditions)} union all ${fullPage}`
    }
    return sql`
      with ${walked} ${fullPage}
      union all ${selectMatches(table, conditions, { unless: isFull, toEnd: toPageEnd })}`
  }
  const unless = sql<SqlBool>`(select value from is_enough)`
  const toEnd = isSorted ? toPageEnd : () => order ?? sql``
  const likelyPage = sql`select likely.key from likely where ${unless}`
  return sql`
    with ${walked}, likely as materialized (${selectLikely(table, conditions)}
    ), is_enough as materialized (
      select is_full.value or (select count(*) from likely) = ${limit} as value from is_full
    ), match as materialized (${selectMatches(table, conditions, { unless, toEnd })}
    ), first as materialized (
      ${isSorted ? likelyPage : sql`${likelyPage} union all select match.key from match`} limit ${limit}
    ), bound as materialized (
      select ${isDescending ? sql`min` : sql`max`}(first.key) as key from first having count(*) = ${limit}
    )
    ${fullPage}
    union all ${
      isSorted
        ? sql`select match.key from match`
        : sql`select first.key from first where not exists (select from bound)`
    }
    union all ${selectUpToBound(table, conditions)}`
}

/**
 * The page of a search of which indexes find few matches soonest: as many as are few are taken. Where there are more,
 * the page is looked for in the order of the key.
 */
function selectFew(table: RawBuilder<unknown>, conditions: PageConditions): RawBuilder<unknown> {
  const { key, nearRows, window } = conditions
  const fewMatches = sql.lit(nearRows * FEW_TIMES)
  const inKeyOrder = { ...conditions, matchKey: key }
  const few = selectMatches(table, conditions, {
    unless: sql<SqlBool>`(select value from is_full)`,
    toEnd: () => sql`limit ${fewMatches}`,
  })
  const many = selectMatches(table, inKeyOrder, {
    unless: sql<SqlBool>`(select value from is_enough)`,
    toEnd: toPageEnd,
  })
  return sql`few as materialized (${few}
    ), is_all as materialized (
      select count(*) < ${fewMatches} as value from few
    ), is_enough as materialized (
      select is_full.value or is_all.value as value from is_full, is_all
    )
    (select few.key from few where (select value from is_all)
      order by ${inOrder(sql`few.key`, window)} limit ${window.limit})
    union all ${many}`
}

/** The rows that are looked at one by one, in the order of the key. */
function selectWalked(table: RawBuilder<unknown>, conditions: PageConditions): RawBuilder<unknown> {
  const { key, scope, window, nearRows } = conditions
  const { limit, isDescending = false } = window
  const inKeyOrder = sql`order by ${inOrder(key, window)}`
  const walk = (from: Expression<SqlBool>, count: number) => sql`
    select * from ${table} where ${scope} and ${from} ${inKeyOrder} limit ${sql.lit(count)}`
  const take = (rows: RawBuilder<unknown>) =>
    takeMatches(table, conditions, rows, sql<SqlBool>`true`)
  const lastNear = sql`(select ${isDescending ? sql`min` : sql`max`}(near.key) from near)`
  const isPromising = sql`(select count(*) < ${limit} and count(*) * ${sql.lit(PROMISE_TIMES)} >= ${limit} from near)`
  const isFar = sql<SqlBool>`${isPromising} and ${key} ${isDescending ? sql`<` : sql`>`} ${lastNear}`
  const expectedRows = sql`(select ${sql.lit(nearRows * SPARE_TIMES)} * (${limit} - count(*)) / greatest(count(*), 1) from near)`
  return sql`near as materialized (${take(walk(afterKey(key, window), nearRows))}
    ), far as materialized (${take(
      sql`select * from (${walk(isFar, nearRows * FAR_TIMES)}) as ${table} ${inKeyOrder} limit ${expectedRows}`,
    )}
    ), walked as materialized (select near.key from near union all select far.key from far
    ), is_full as materialized (select count(*) >= ${limit} as value from walked)`
}

/** The keys of a page of matches among the rows that the first ones are likely to be among. */
function selectLikely(table: RawBuilder<unknown>, conditions: PageConditions): RawBuilder<unknown> {
  const { likelyRows, nearRows, window } = conditions
  const rowsOfEach = Math.ceil(nearRows / likelyRows.length)
  const [only, ...others] = likelyRows.map((likely) => {
    const rows = sql`select * from ${table} where not (select value from is_full) and ${likely}
      limit ${sql.lit(rowsOfEach)}`
    return takeMatches(table, conditions, rows, isBehindStart(conditions))
  })
  if (only === undefined) return sql`select null::bigint as key where false`
  if (others.length === 0) return only
  // A row may be likely for several reasons.
  const each = [only, ...others].map((matches) => sql`(${matches})`)
  return sql`
    select likely.key from (${sql.join(each, sql` union `)}) as likely
    order by ${inOrder(sql`likely.key`, window)} limit ${window.limit}`
}

interface MatchesWanted {
  /** Nothing is looked for then. */
  readonly unless: Expression<SqlBool>
  /** The end of a query of an alternative: in which order matches are taken, and how many. */
  readonly toEnd: (conditions: AlternativeConditions) => RawBuilder<unknown>
}

/** The keys of matches behind the start of the page. */
function selectMatches(
  table: RawBuilder<unknown>,
  conditions: PageConditions,
  { unless, toEnd }: MatchesWanted,
): RawBuilder<unknown> {
  const { key, reach } = conditions
  return uniteAlternatives(
    conditions,
    reach,
    (one) => sql`(select ${key} as key from ${table}
      where not ${unless} and ${isBehindStart(one)} and ${isBounded(one)} and ${one.isOne}
      ${toEnd(one)})`,
  )
}

/** The keys of the first matches up to the bound. */
function selectUpToBound(
  table: RawBuilder<unknown>,
  conditions: PageConditions,
): RawBuilder<unknown> {
  const { key, window } = conditions
  const reach = toReachOfPage(conditions.reach, window.isDescending === true)
  return uniteAlternatives(
    conditions,
    reach,
    (one) => sql`(select ${key} from ${table}
      where exists (select from bound) and ${isWithin(one)}
        and ${isBehindStart(one)} and ${one.isOne}
      ${toPageEnd(one)})`,
  )
}

function isBehindStart({ scope, matchKey, window }: PageConditions): RawBuilder<SqlBool> {
  return sql<SqlBool>`${scope} and ${afterKey(matchKey, window)}`
}

/**
 * Behind the start of a later page in descending order, summaries of pages lead to the matches of a time that is
 * after nearly all of them: its own index would lead through all rows before the start.
 */
function isBounded(conditions: AlternativeConditions): RawBuilder<SqlBool> {
  const { matchKey, isByTime, order, likelyRows, window } = conditions
  const { isDescending = false, afterId } = window
  const isOnlyByTime = isByTime && order === undefined && likelyRows.length === 0
  const isLater = isOnlyByTime && isDescending && afterId !== undefined
  // As a query, so that PostgreSQL does not know that it is all: between two bounds it expects next to nothing.
  return isLater ? sql<SqlBool>`${matchKey} >= (select 0)` : sql<SqlBool>`true`
}

/** Of a query of matches: the first of a page. */
function toPageEnd({ matchKey, window }: AlternativeConditions): RawBuilder<unknown> {
  return sql`order by ${inOrder(matchKey, window)} limit ${window.limit}`
}

/** The keys of the matches among some rows, the first of a page. */
function takeMatches(
  table: RawBuilder<unknown>,
  { key, isMatch, window }: PageConditions,
  rows: RawBuilder<unknown>,
  isCandidate: Expression<SqlBool>,
): RawBuilder<unknown> {
  return sql`
    select candidate.key from (
      select ${key} as key, ${isCandidate} and ${isMatch} as is_match from (${rows}) as ${table}
    ) as candidate where candidate.is_match
    order by ${inOrder(sql`candidate.key`, window)} limit ${window.limit}`
}

function uniteAlternatives(
  conditions: PageConditions,
  reach: KeyReach,
  toQuery: (one: AlternativeConditions) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { timeKey, toAlternatives } = conditions
  const queries = toAlternatives(reach).map(({ condition, isOfTime }) => {
    const one = { ...conditions, isOne: condition, isByTime: false }
    const isByTime = isOfTime && timeKey !== undefined
    return toQuery(isByTime ? { ...one, matchKey: timeKey, isByTime } : one)
  })
  return sql.join(queries, sql` union all `)
}

const LAST_KEY = sql`(select bound.key from bound)`

/** What likely rows are told about the page that they are for. */
export interface PageSought {
  readonly isDescending: boolean
  /** What is behind the start of the page. */
  readonly reach: KeyReach
  /** Where they put what they are found by, if matches are found by it as well. */
  readonly shared: SharedQueries
}

export function toPageSought({ isDescending = false, afterId }: PageWindow): PageSought {
  const shared = new SharedQueries()
  const reach: KeyReach = {
    has: (column, of) =>
      afterId === undefined
        ? sql<SqlBool>`true`
        : compare(column, isDescending, of(sql`${afterId}`)),
    sharedOf: (clause) => shared.of(clause),
  }
  return { isDescending, reach, shared }
}

function toReachOfPage({ has }: KeyReach, isDescending: boolean): KeyReach {
  return {
    has: (column, of) =>
      sql<SqlBool>`${has(column, of)} and ${compare(column, !isDescending, of(LAST_KEY))}`,
    sharedOf: () => undefined,
  }
}

interface SharedQuery {
  readonly name: RawBuilder<unknown>
  readonly query: RawBuilder<unknown>
}

/** Queries that likely rows and matches are both found by. PostgreSQL asks once what is selected from twice. */
class SharedQueries {
  readonly #queries = new Map<SearchClause, SharedQuery>()

  /** What is selected from for a clause from now on. */
  add(clause: SearchClause, query: RawBuilder<unknown>): RawBuilder<unknown> {
    const known = this.#queries.get(clause)
    if (known !== undefined) return known.name
    const name = sql.table(`shared_${this.#queries.size}`)
    this.#queries.set(clause, { name, query })
    return name
  }

  of(clause: SearchClause): RawBuilder<unknown> | undefined {
    return this.#queries.get(clause)?.name
  }

  /** The statement, which selects from what was shared until now. */
  toStatement(statement: RawBuilder<unknown>): RawBuilder<unknown> {
    const queries = [...this.#queries.values()].map(({ name, query }) => sql`${name} as (${query})`)
    return queries.length === 0
      ? statement
      : sql`with ${sql.join(queries)} select * from (${statement}) as page`
  }
}

/**
 * Between two bounds PostgreSQL expects next to nothing, which summaries of pages are for, and a third of all before
 * one.
 */
function isWithin({ matchKey, isByTime, window }: AlternativeConditions): RawBuilder<unknown> {
  const { isDescending = false } = window
  const otherBound = compare(matchKey, isDescending, isDescending ? KEY_MAX : sql.lit(0))
  return sql`${compare(matchKey, !isDescending, LAST_KEY)}
    and ${isByTime ? otherBound : sql`true`}`
}

function compare(
  column: Expression<unknown>,
  isBefore: boolean,
  value: Expression<unknown>,
): Expression<SqlBool> {
  return sql<SqlBool>`${column} ${isBefore ? sql`<=` : sql`>=`} ${value}`
}
