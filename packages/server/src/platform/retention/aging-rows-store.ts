/*
 * Which rows of a table end: how they are found, by what they age, and what else decides. Conditions on a row `r` as
 * SQL only; how rows are ended one by one or as whole partitions is for others.
 */
import { sql, type RawBuilder } from 'kysely'

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
  /** It is partitioned by ranges of its key: a partition ends as a whole where it can. */
  readonly isPartitioned?: true
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

/** For rows that end by other work: partitions are dropped when they are empty. */
export const NO_ROW: RowCondition = sql`false`

/** A condition as SQL. */
export function toCondition(
  condition: RowCondition | undefined,
  before: Date,
): RawBuilder<unknown> {
  if (condition === undefined) return sql`true`
  return typeof condition === 'function' ? condition(before) : condition
}
