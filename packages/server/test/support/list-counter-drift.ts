import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'
import type { CheckStatus } from '../../src/schema/status-values.ts'

/** A counter that does not agree with the results. */
interface CounterDrift {
  readonly check_id: string
  readonly status: CheckStatus
  readonly counted: string
  readonly actual: string
}

/** Every counter, all its stripes together, that differs from a fresh count of the results; reads one snapshot. */
export async function listCounterDrift(db: Kysely<Schema>): Promise<CounterDrift[]> {
  const { rows } = await sql<CounterDrift>`
    with actual as (
      select check_id, status, count(*) as device_count
      from (
        select check_id, status from check_result
        union all
        select check_id, status from person_check_result) as result
      group by 1, 2),
    counter as (
      select check_id, status, sum(device_count) as device_count from check_counter group by 1, 2)
    select check_id, status, coalesce(c.device_count, 0) as counted,
      coalesce(a.device_count, 0) as actual
    from counter c full join actual a using (check_id, status)
    where coalesce(c.device_count, 0) <> coalesce(a.device_count, 0)
    order by check_id, status
  `.execute(db)
  return rows
}
