/*
 * Times by the database's clock. What several processes compare, such as due times and leases, is written and
 * read by it alone: the clocks of their machines may differ. `now()` is the start of the transaction.
 */
import { sql, type RawBuilder } from 'kysely'

/** The time so many milliseconds from now. */
export function timeInMs(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${ms}::float8 * interval '1 millisecond'`
}

/** Milliseconds until a time; negative when it is past, null when there is none. */
export function msUntil(time: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(extract(epoch from (${time}) - now()) * 1000)::float8`
}
