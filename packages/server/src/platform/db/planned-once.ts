import { sql, type RawBuilder, type SqlBool } from 'kysely'

/**
 * The elements of an array, for `= any(...)` of a statement that runs over and over. An array that is a parameter would
 * have PostgreSQL plan it anew each time: for the few that there are it expects less than for the ten of a plan for
 * all.
 */
export function elementsOf(
  values: readonly string[],
  type: 'bigint' | 'text',
): RawBuilder<readonly string[]> {
  return sql`array(select unnest(${values}::${sql.raw(type)}[]))`
}

/**
 * Holds for every id, in a statement that joins rows given as JSON to a table. Of such rows PostgreSQL expects a
 * hundred, and plans anew while the table grows, because their cost does; of those within a range it expects one.
 */
export function isAnyId(id: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`${id} between 0 and 9223372036854775807`
}
