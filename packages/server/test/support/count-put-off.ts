import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'

/** How many deliveries, of those that were queued at once, have been put off since then. */
export async function countPutOff(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from delivery
    where next_attempt_at > (select min(next_attempt_at) from delivery)`.execute(db)
  return rows[0]?.count ?? 0
}
