/*
 * The statement that most policies of retention run: a page of a table in the order of an index, and the
 * end of those of its rows that are old enough. Rows that somebody else has locked are left for the next
 * pass, so that it waits for nobody. SQL only.
 */
import { sql, type RawBuilder } from 'kysely'
import { toCondition, type AgingTable, type RowsEnd } from './aging-rows-store.ts'
import { findDeferredKeys } from './expire-partitions-store.ts'
import type { RetentionPlace, RunRetentionBatch } from './retention-policy.ts'

interface PageResult {
  readonly seen: number
  readonly old: number
  readonly count: number
  readonly last: RetentionPlace | null
}

/** Ends the rows of a table that are old enough. */
export function expireRows(aging: AgingTable, rows: RowsEnd = {}): RunRetentionBatch {
  const { key, walk, isPartitioned = false } = aging
  const columns = typeof walk === 'string' ? (walk === 'age' ? [aging.ageBy, key] : [key]) : walk
  const table = sql.table(aging.table)
  const age = sql.ref(`r.${aging.ageBy}`)
  const keyColumn = sql.ref(`r.${key}`)
  const end =
    rows.end ??
    ((keys) =>
      sql`ended as (delete from ${table} where ${sql.ref(key)} = any(${keys}) returning 1)`)

  return async (tx, { before, soon = before, after, limit }) => {
    const isOld = sql`${age} <= ${before}`
    const deferred = isPartitioned
      ? await findDeferredKeys(tx, aging, { before, soon })
      : sql`false`
    const within = sql`not ${deferred} and ${toCondition(rows.within, before)}`
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
