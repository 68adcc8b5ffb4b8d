import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** The changes of statuses since a time. */
export interface RecentTransitions {
  /** The first of them; null when there is none. */
  readonly firstId: string | null
  /** How many devices they are of. */
  readonly deviceCount: number
}

/** Reads the whole history of statuses, which has no index by time: after a failover once. */
export async function findTransitionsSince(
  tx: Transaction<Schema>,
  since: Date,
): Promise<RecentTransitions> {
  const { rows } = await sql<RecentTransitions>`
    select min(id)::text as "firstId", count(distinct device_id)::int as "deviceCount"
    from device_status_transition where occurred_at >= ${since}`.execute(tx)
  return rows[0] ?? { firstId: null, deviceCount: 0 }
}
