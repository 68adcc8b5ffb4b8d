/*
 * The statement that most policies of retention run: a page of a table in the order of an index, and the
 * end of those of its rows that are old enough. Rows that somebody else has locked are left for the next
 * pass, so that it waits for nobody. SQL only.
 */
import { sql, type RawBuilder } from 'kysely'
import type { RetentionPlace, RunRetentionBatch } from './retention-policy.ts'

/** How the rows of a table are found. */
export interface AgingTable {
  readonly table: string
  /** A unique column. */
  readonly key: string
  /** The time that the age of a row counts from. */
  readonly ageBy: string
  /**
   * The order in which a pass goes through the table; an index has it. `age`: by age and key, as far as
   * rows are old. `key`: by the key, which grows with time, until a whole page is young. `all`: by the key, all
   * of it. Columns, the key last: by these, all of it.
   */
  readonly walk: 'age' | 'key' | 'all' | readonly string[]
}

/** A condition on the row `r`, which may depend on the time before which rows are old. */
type RowCondition = RawBuilder<unknown> | ((before: Date) => RawBuilder<unknown>)

/** Which rows end, and how. */
export interface RowsEnd {
  /** Which rows a pass looks at, as an index has them; all by default. */
  readonly within?: RowCondition
  /** What else than its age decides that a row ends. */
  readonly when?: RowCondition
  /**
   * What is done with the rows instead of deleting them, given the array of their keys: queries of a `with`,
   * of which the one called `ended` returns a row for each.
   */
  readonly end?: (keys: RawBuilder<unknown>) => RawBuilder<unknown>
}

interface PageResult {
  readonly seen: number
  readonly old: number
  readonly count: number
  readonly last: RetentionPlace | null
}

/** Ends the rows of a table that are old enough. */
export function expireRows(aging: AgingTable, rows: RowsEnd = {}): RunRetentionBatch {
  const { key, walk } = aging
  const columns = typeof walk === 'string' ? (walk === 'age' ? [aging.ageBy, key] : [key]) : walk
  const table = sql.table(aging.table)
  const age = sql.ref(`r.${aging.ageBy}`)
  const keyColumn = sql.ref(`r.${key}`)
  const end =
    rows.end ??
    ((keys) =>
      sql`ended as (delete from ${table} where ${sql.ref(key)} = any(${keys}) returning 1)`)

  return async (tx, { before, after, limit }) => {
    const isOld = sql`${age} <= ${before}`
    const within = toCondition(rows.within, before)
    const when = toCondition(rows.when, before)
    const { rows: results } = await sql<PageResult>`
      with page as materialized (
        select ${keyColumn} as key, ${isOld} as is_old, ${placeOf(columns)} as place,
          row_number() over (order by ${inOrder(columns)}) as number
        from ${table} r
        where ${within} and ${walk === 'age' ? isOld : sql`true`} and ${isBehind(columns, after)}
        order by ${inOrder(columns)} limit ${sql.lit(limit)}),
      due as materialized (
        select ${keyColumn} as key from ${table} r
        where ${keyColumn} = any(array(select key from page where is_old))
          and ${isOld} and ${within} and ${when}
        for update of r skip locked),
      ${end(sql`array(select key from due)`)}
      select (select count(*)::int from page) as seen,
        (select count(*)::int from page where is_old) as old,
        (select count(*)::int from ended) as count,
        (select place from page order by number desc limit 1) as last`.execute(tx)
    const { seen = 0, old = 0, count = 0, last = null } = results[0] ?? {}
    const isOver = seen < limit || (walk === 'key' && old === 0)
    return { count, place: last ?? after, isOver }
  }
}

function toCondition(condition: RowCondition | undefined, before: Date): RawBuilder<unknown> {
  if (condition === undefined) return sql`true`
  return typeof condition === 'function' ? condition(before) : condition
}

function inOrder(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(`r.${column}`)))
}

function placeOf(columns: readonly string[]): RawBuilder<unknown> {
  return sql`array[${sql.join(columns.map((column) => sql`${sql.ref(`r.${column}`)}::text`))}]`
}

function isBehind(columns: readonly string[], place: RetentionPlace | null): RawBuilder<unknown> {
  if (place === null) return sql`true`
  return sql`(${inOrder(columns)}) > (${sql.join([...place])})`
}
