import { sql, type Kysely } from 'kysely'
import { DAY_MS } from '../../src/platform/clock.ts'
import type { DestinationId } from '../../src/schema/branded-ids.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { makePartitions } from './partitioned-table.ts'

/** Has the next delivery be the one with this id. */
export async function setNextId(db: Kysely<Schema>, id: number): Promise<void> {
  await sql`select setval('delivery_id_seq', ${id - 1}::bigint)`.execute(db)
  for (const table of ['delivery', 'delivery_attempt']) await makePartitions(db, table)
}

export interface AddedDeliveries {
  readonly count: number
  /** Days since they ended, and were queued. */
  readonly ageDays?: number
  readonly state?: 'queued' | 'delivered'
  readonly subject?: string
}

/** Answers the first id. */
export async function addDeliveries(
  of: Kysely<Schema>,
  destinationId: DestinationId,
  { count, ageDays = 0, state = 'delivered', subject = 'one' }: AddedDeliveries,
): Promise<string> {
  const at = new Date(Date.now() - ageDays * DAY_MS)
  const { rows } = await sql<{ id: string }>`
    insert into delivery (destination_id, event_id, event_type, subject_key, body, state, next_attempt_at,
      finished_at, txn, created_at)
    select ${destinationId}, gen_random_uuid(), 'test', ${subject}, ${subject} || ':' || number, ${state},
      ${at}::timestamptz, case when ${state} = 'queued' then null else ${at}::timestamptz end, 'txn', ${at}
    from generate_series(1, ${count}::int) number order by number returning id`.execute(of)
  return rows[0]?.id ?? ''
}
