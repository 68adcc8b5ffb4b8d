import { sql, type Kysely } from 'kysely'
import type { DestinationId } from '../../src/schema/branded-ids.ts'
import type { Schema } from '../../src/schema/schema.ts'

/** How many deliveries of a destination, of those that were queued at once, have been put off since then. */
export async function countPutOff(
  db: Kysely<Schema>,
  destinationId: DestinationId,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from delivery
    where destination_id = ${destinationId} and next_attempt_at > (
      select min(next_attempt_at) from delivery where destination_id = ${destinationId})`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}
