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
 * 3. The largest of their keys (the smallest, in descending order) is one that no key of the page is behind. Where they
 *    are looked for in several ways, it is the one of the way that has a page of them: those of another one may be the
 *    last of all, however few. All matches up to it are sorted, and what one way finds bounds the next one. Most lists
 *    grow in the order of their times, so that next to nothing is left to sort.
 *
 * Where the second step finds no bound of use, it sorts all matches, and there is no third. Where that is for few
 * matches alone, many are found by reading in the order of the key.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { afterKey, inOrder, type PageWindow } from '../db/page.ts'
import { compare } from './page-sought.ts'
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
  const { isDescending = false } = window
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
      union all ${uniteAll(selectMatches(table, conditions, { unless: () => isFull, toEnd: toPageEnd }))}`
  }
  const first = isSorted ? selectSorted(table, conditions) : selectFirst(table, conditions)
  return sql`
    with ${walked}, likely as materialized (${selectLikely(table, conditions)}
    ), ${toBound(0)} as materialized (${selectFullLast(sql`likely`, window)}
    ), ${first.queries}, bound as materialized (select key from ${first.bound})
    ${fullPage}
    union all (select key from (${first.matches}) as matches
      where not exists (select from bound))
    union all ${selectUpToBound(table, conditions)}`
}

/** What was found before matches up to a bound are looked for. */
interface FirstMatches {
  readonly queries: RawBuilder<unknown>
  /** Has no row, or one with a key that no key of the page is behind. */
  readonly bound: RawBuilder<unknown>
  /** The page is among these where there is no bound. */
  readonly matches: RawBuilder<unknown>
}

/** All matches are sorted, where no page of them was likely. */
function selectSorted(table: RawBuilder<unknown>, conditions: PageConditions): FirstMatches {
  const matches = selectMatches(table, conditions, { unless: () => isBounded(0), toEnd: toPageEnd })
  return {
    queries: sql`match as materialized (${uniteAll(matches)})`,
    bound: toBound(0),
    matches: sql`select key from match`,
  }
}

/**
 * The first matches in the order in which indexes give them, of one alternative after the other until one of them has
 * a page: of those before, all are known then, and all of each where none has one.
 */
function selectFirst(table: RawBuilder<unknown>, conditions: PageConditions): FirstMatches {
  const { order, window } = conditions
  const matches = selectMatches(table, conditions, {
    unless: isBounded,
    toEnd: () => order ?? sql``,
  })
  const queries = matches.map((query, index) => {
    const [match, first] = [sql.table(`match_${index}`), sql.table(`first_${index}`)]
    // The limit is not that of the query, which PostgreSQL would plan to begin soon.
    return sql`${match} as materialized (${query}
      ), ${first} as materialized (select key from ${match} limit ${window.limit}
      ), ${toBound(index + 1)} as materialized (
        select key from ${toBound(index)} union all ${selectFullLast(first, window)})`
  })
  const firsts = matches.map((_, index) => sql`select key from ${sql.table(`first_${index}`)}`)
  return {
    queries: sql.join(queries),
    bound: toBound(matches.length),
    matches: uniteAll(firsts),
  }
}

/** The bound that is known before the alternative of this index is looked for. */
function toBound(index: number): RawBuilder<unknown> {
  return sql.table(`bound_${index}`)
}

/** Whether nothing is left to find but what is up to a bound. */
function isBounded(index: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`((select value from is_full) or exists (select from ${toBound(index)}))`
}

/** The key that none of a page is behind, of a page of matches. */
function selectFullLast(
  matches: RawBuilder<unknown>,
  { isDescending, limit }: PageWindow,
): RawBuilder<unknown> {
  const last = isDescending === true ? sql`min` : sql`max`
  return sql`select ${last}(key) as key from ${matches} having count(*) = ${limit}`
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
    unless: () => sql<SqlBool>`(select value from is_full)`,
    toEnd: () => sql`limit ${fewMatches}`,
  })
  const many = selectMatches(table, inKeyOrder, {
    unless: () => sql<SqlBool>`(select value from is_enough)`,
    toEnd: toPageEnd,
  })
  return sql`few as materialized (${uniteAll(few)}
    ), is_all as materialized (
      select count(*) < ${fewMatches} as value from few
    ), is_enough as materialized (
      select is_full.value or is_all.value as value from is_full, is_all
    )
    (select few.key from few where (select value from is_all)
      order by ${inOrder(sql`few.key`, window)} limit ${window.limit})
    union all ${uniteAll(many)}`
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
  /** Nothing is looked for then, of the alternative of this index. */
  readonly unless: (index: number) => Expression<SqlBool>
  /** The end of a query of an alternative: in which order matches are taken, and how many. */
  readonly toEnd: (conditions: AlternativeConditions) => RawBuilder<unknown>
}

/** The keys of matches behind the start of the page. */
function selectMatches(
  table: RawBuilder<unknown>,
  conditions: PageConditions,
  { unless, toEnd }: MatchesWanted,
): readonly RawBuilder<unknown>[] {
  const { key, reach } = conditions
  return eachAlternative(
    conditions,
    reach,
    (one, index) => sql`(select ${key} as key from ${table}
      where not ${unless(index)} and ${isBehindStart(one)} and ${isUpToEnd(one)} and ${one.isOne}
      ${toEnd(one)})`,
  )
}

/**
 * The keys of the first matches up to the bound, of one alternative after the other. Where those that were looked for
 * before fill a page, its last key is the bound of the next one.
 */
function selectUpToBound(
  table: RawBuilder<unknown>,
  conditions: PageConditions,
): RawBuilder<unknown> {
  const { key, window } = conditions
  const reach = toReachOfPage(conditions.reach, window.isDescending === true)
  const queries = eachAlternative(conditions, reach, (one, index) => {
    const last = index === 0 ? LAST_KEY : toLastFound(index - 1, window)
    return sql`(select ${key} as key from ${table}
      where exists (select from bound) and ${one.scope} and ${isWithin(one, last)} and ${one.isOne}
      ${toPageEnd(one)})`
  })
  const [only] = queries
  if (only !== undefined && queries.length === 1) return only
  const found = queries.map((query, index) => {
    const former = index === 0 ? sql`` : sql`select key from ${toFound(index - 1)} union all`
    return sql`${toFound(index)} as materialized (
      select each.key from (${former} ${query}) as each
      order by ${inOrder(sql`each.key`, window)} limit ${window.limit})`
  })
  return sql`(with ${sql.join(found)} select key from ${toFound(queries.length - 1)})`
}

/** The first matches up to the bound of an alternative and of those before it. */
function toFound(index: number): RawBuilder<unknown> {
  return sql.table(`found_${index}`)
}

/** The key that none of the page is behind, once these are found. */
function toLastFound(index: number, { isDescending, limit }: PageWindow): RawBuilder<unknown> {
  const last = isDescending === true ? sql`min` : sql`max`
  return sql`(select coalesce(
    (select ${last}(key) from ${toFound(index)} having count(*) = ${limit}), bound.key) from bound)`
}

function isBehindStart({ scope, matchKey, window }: PageConditions): RawBuilder<SqlBool> {
  return sql<SqlBool>`${scope} and ${afterKey(matchKey, window)}`
}

/**
 * Behind the start of a later page in descending order, summaries of pages lead to the matches of a time that is
 * after nearly all of them: its own index would lead through all rows before the start.
 */
function isUpToEnd(conditions: AlternativeConditions): RawBuilder<SqlBool> {
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

function eachAlternative(
  conditions: PageConditions,
  reach: KeyReach,
  toQuery: (one: AlternativeConditions, index: number) => RawBuilder<unknown>,
): readonly RawBuilder<unknown>[] {
  const { timeKey, toAlternatives } = conditions
  return toAlternatives(reach).map(({ condition, isOfTime }, index) => {
    const one = { ...conditions, isOne: condition, isByTime: false }
    const isByTime = isOfTime && timeKey !== undefined
    return toQuery(isByTime ? { ...one, matchKey: timeKey, isByTime } : one, index)
  })
}

function uniteAll(queries: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(queries, sql` union all `)
}

/** The bound that is known before any match up to it is looked for. */
const LAST_KEY = sql`(select bound.key from bound)`

/**
 * Between two bounds PostgreSQL expects next to nothing, which summaries of pages are for, and a third of all before
 * one. Elsewhere the start is told as one of some that a key may be behind, which it does not take for the other bound.
 */
function isWithin(
  { matchKey, isByTime, window }: AlternativeConditions,
  last: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const { isDescending = false } = window
  const isUpToLast = compare(matchKey, !isDescending, last)
  if (!isByTime) {
    if (window.afterId === undefined) return sql<SqlBool>`${isUpToLast}`
    const start = sql`any(array[${window.afterId}]::bigint[])`
    return sql<SqlBool>`${isUpToLast} and ${matchKey} ${isDescending ? sql`<` : sql`>`} ${start}`
  }
  const otherBound = compare(matchKey, isDescending, isDescending ? KEY_MAX : sql.lit(0))
  return sql<SqlBool>`${isUpToLast} and ${otherBound} and ${afterKey(matchKey, window)}`
}

function toReachOfPage({ has }: KeyReach, isDescending: boolean): KeyReach {
  return {
    has: (column, of) =>
      sql<SqlBool>`${has(column, of)} and ${compare(column, !isDescending, of(LAST_KEY))}`,
    sharedOf: () => undefined,
  }
}
