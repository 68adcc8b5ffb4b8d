/**
 * Keyset pages: a page begins after a key and ends with a count, and one row more than asked for tells
 * whether another page follows. No offsets, so the last page of a long list costs what the first does.
 */
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'

/** Records of a page where the client does not say how many. */
export const PER_PAGE_DEFAULT = 25
export const PER_PAGE_MAX = 100

/** What a store reads for a page. */
export interface PageWindow {
  /** Rows after this key only; from the start when undefined. */
  readonly afterId: string | undefined
  /** At most this many rows, in ascending order of the key. */
  readonly limit: number
  /** In descending order of the key instead: rows before `afterId` only, the last first. */
  readonly isDescending?: boolean
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
}

/** What is needed of a query to read a page of its rows. */
export interface RowQuery<Row> {
  where(condition: Expression<SqlBool>): RowQuery<Row>
  orderBy(expression: Expression<unknown>): RowQuery<Row>
  limit(count: number | RawBuilder<number>): RowQuery<Row>
  execute(): Promise<Row[]>
}

/** The rows of a page of a query, in the order of a key column. */
export async function readPage<Row>(
  query: RowQuery<Row>,
  key: string,
  window: PageWindow,
): Promise<Row[]> {
  const column = sql.ref(key)
  return query
    .where(afterKey(column, window))
    .orderBy(inOrder(column, window))
    .limit(window.limit)
    .execute()
}

/** The condition "after the start of this page" for a key column. */
export function afterKey(column: Expression<unknown>, window: PageWindow): Expression<SqlBool> {
  return window.afterId === undefined
    ? sql<SqlBool>`true`
    : sql<SqlBool>`${column} ${isBehind(window)} ${window.afterId}`
}

/** How a key that follows another in the order of a window compares to it. */
function isBehind({ isDescending = false }: PageWindow): RawBuilder<unknown> {
  return isDescending ? sql`<` : sql`>`
}

/** A key column as a window orders by it. */
export function inOrder(
  column: Expression<unknown>,
  { isDescending = false }: PageWindow,
): Expression<unknown> {
  return isDescending ? sql`${column} desc` : column
}

/** A page of `count` rows out of up to `count + 1` that were read. */
export function toPage<Row>(rows: readonly Row[], count: number): Page<Row> {
  return { rows: rows.slice(0, count), hasMore: rows.length > count }
}
