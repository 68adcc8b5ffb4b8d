/**
 * Keyset pages: a page begins after a key and ends with a count, and one row more than asked for tells
 * whether another page follows. No offsets, so the last page of a long list costs what the first does.
 */
import { sql, type Expression, type SqlBool } from 'kysely'

/** What a store reads for a page. */
export interface PageWindow {
  /** Rows after this key only; from the start when undefined. */
  readonly afterId: string | undefined
  /** At most this many rows, in ascending order of the key. */
  readonly limit: number
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
}

/** What is needed of a query to read a page of its rows. */
export interface RowQuery<Row> {
  where(condition: Expression<SqlBool>): RowQuery<Row>
  orderBy(expression: Expression<unknown>): RowQuery<Row>
  limit(count: number): RowQuery<Row>
  execute(): Promise<Row[]>
}

/** The rows of a page of a query, in ascending order of a key column. */
export async function readPage<Row>(
  query: RowQuery<Row>,
  key: string,
  window: PageWindow,
): Promise<Row[]> {
  const column = sql.ref(key)
  return query.where(afterKey(column, window)).orderBy(column).limit(window.limit).execute()
}

/** The condition "after the start of this page" for a key column. */
export function afterKey(column: Expression<unknown>, window: PageWindow): Expression<SqlBool> {
  return window.afterId === undefined
    ? sql<SqlBool>`true`
    : sql<SqlBool>`${column} > ${window.afterId}`
}

/** A page of `count` rows out of up to `count + 1` that were read. */
export function toPage<Row>(rows: readonly Row[], count: number): Page<Row> {
  return { rows: rows.slice(0, count), hasMore: rows.length > count }
}
