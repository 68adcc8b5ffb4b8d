import { sql, type Kysely, type Transaction } from 'kysely'
import { expect } from 'vitest'
import type { Schema } from '../../src/schema/schema.ts'

/** Waits until so many in this database wait for what another transaction has locked. */
export async function waitForLock(db: Kysely<Schema>, waitingCount = 1): Promise<void> {
  const countWaiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    return rows[0]?.count
  }
  await expect.poll(countWaiting).toBe(waitingCount)
}

/** Locks a person; fails where somebody holds the lock, who would wait for this one while this one waits for it. */
export async function lockFreePerson(tx: Transaction<Schema>, personId: string): Promise<void> {
  await sql`select from person where id = ${personId} for no key update nowait`.execute(tx)
}
