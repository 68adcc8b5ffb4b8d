import { sql, type Transaction } from 'kysely'
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
