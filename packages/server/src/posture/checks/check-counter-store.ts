import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { CheckStatus } from '../../schema/status-values.ts'

/** Counters of one check are spread over this many rows, by device id. */
export const COUNTER_STRIPES = 16

/** The stripe that the results of a device, or of a person, are counted in. */
export function toCounterStripe(id: string): number {
  return Number(BigInt(id) % BigInt(COUNTER_STRIPES))
}

/** How a count of devices, or of people, moves. */
export interface CounterDelta {
  readonly check_id: string
  readonly stripe: number
  readonly status: CheckStatus
  readonly delta: number
}

/**
 * Moves counters in one statement. Rows are locked in ascending order of check, stripe and status:
 * call it once in a transaction and late, so that reports of other devices wait briefly if at all.
 */
export async function moveCheckCounters(
  tx: Transaction<Schema>,
  deltas: readonly CounterDelta[],
): Promise<void> {
  if (deltas.length === 0) return
  await sql`
    insert into check_counter (check_id, stripe, status, device_count)
    select check_id, stripe, status, sum(delta)
    from jsonb_to_recordset(${JSON.stringify(deltas)}::jsonb)
      as d(check_id bigint, stripe smallint, status text, delta bigint)
    group by check_id, stripe, status
    having sum(delta) <> 0
    order by check_id, stripe, status
    on conflict (check_id, stripe, status)
      do update set device_count = check_counter.device_count + excluded.device_count
  `.execute(tx)
}

/** A counter that does not agree with the results. */
export interface CounterDrift {
  readonly check_id: string
  readonly stripe: number
  readonly status: CheckStatus
  readonly counted: string
  readonly actual: string
}

/** Every counter that differs from a fresh count of the results; reads one snapshot. */
export async function listCounterDrift(db: Kysely<Schema>): Promise<CounterDrift[]> {
  const { rows } = await sql<CounterDrift>`
    with actual as (
      select check_id, (device_id % ${sql.lit(COUNTER_STRIPES)})::smallint as stripe, status,
        count(*) as device_count
      from (
        select check_id, device_id, status from check_result
        union all
        select check_id, person_id, status from person_check_result) as result
      group by 1, 2, 3)
    select check_id, stripe, status, coalesce(c.device_count, 0) as counted,
      coalesce(a.device_count, 0) as actual
    from check_counter c full join actual a using (check_id, stripe, status)
    where coalesce(c.device_count, 0) <> coalesce(a.device_count, 0)
    order by check_id, stripe, status
  `.execute(db)
  return rows
}

/** Keeps every report of results waiting until the transaction ends, so that a count stands still. */
export async function lockCheckResults(tx: Transaction<Schema>): Promise<void> {
  await sql`lock table check_result, person_check_result in share row exclusive mode`.execute(tx)
}
