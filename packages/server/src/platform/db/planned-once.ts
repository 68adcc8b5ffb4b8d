import { sql, type RawBuilder } from 'kysely'

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
