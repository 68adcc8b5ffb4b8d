import { sql, type Transaction } from 'kysely'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import type { Schema } from '../../schema/schema.ts'
import type { CheckStatus } from '../../schema/status-values.ts'

/** How a count of devices, or of people, moves. */
export interface CounterDelta {
  readonly check_id: string
  readonly status: CheckStatus
  readonly delta: number
}

/**
 * Moves counters in one statement, in the rows that this connection counts in: what is committed on other connections
 * meanwhile seldom waits, however many devices it is about. Rows are locked in ascending order of check and status:
 * call it once in a transaction and late. A row may count below zero; what counts is the sum of a check's rows of a
 * status.
 */
export async function moveCheckCounters(
  tx: Transaction<Schema>,
  deltas: readonly CounterDelta[],
): Promise<void> {
  if (deltas.length === 0) return
  await sql`${UNAWAITED}
    insert into check_counter (check_id, stripe, status, device_count)
    select check_id, counter_stripe(), status, sum(delta)
    from jsonb_to_recordset(${JSON.stringify(deltas)}::jsonb)
      as d(check_id bigint, status text, delta bigint)
    group by check_id, status
    having sum(delta) <> 0
    order by check_id, status
    on conflict (check_id, stripe, status)
      do update set device_count = check_counter.device_count + excluded.device_count
  `.execute(tx)
}
