import { sql, type Kysely } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { claimBySchedule } from './claim-store.ts'
import { PARTITION_IDS } from './delivery-range-store.ts'
import { insertDestination } from './destination-store.ts'

const CLAIM_SIZE = 100
const QUEUED_COUNT = 2_000
/** After fewer the statement is prepared, and PostgreSQL no longer plans it anew for its parameters. */
const QUIET_CLAIMS = 12

const database = await createTestDatabase()
const { db } = database
const own = openDatabase<Schema>(database.connection, {
  network: new DatabaseNetwork(),
  poolMax: 1,
  logError: () => undefined,
})

afterAll(async () => {
  await own.close()
  await database.close()
})

/** Deliveries about as many subjects. */
async function insertMany(
  destinationId: DestinationId,
  { state, count, kind }: { state: 'queued' | 'delivered'; count: number; kind: string },
): Promise<void> {
  await sql`
    insert into delivery (destination_id, event_id, event_type, subject_key, body, state, next_attempt_at, txn,
      created_at, finished_at)
    select ${destinationId}, gen_random_uuid(), 'test', ${kind} || ':' || n, '{}', ${state}, now(), gen_random_uuid(),
      now(), case when ${state} = 'delivered' then now() end
    from generate_series(1, ${count}::int) n`.execute(db)
}

/** Rows of deliveries that the connection has read since it last reported them, which it does outside transactions. */
async function countRead(connection: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(idx_tup_fetch + seq_tup_read)::float8 as count from pg_stat_xact_user_tables
    where relname like 'delivery%'`.execute(connection)
  return rows[0]?.count ?? NaN
}

test('a claim that was planned in a quiet hour reads no more than it claims of many', async () => {
  const destinationId = await insertDestination(db, { kind: 'webhook', state: 'active' })
  await insertMany(destinationId, { state: 'delivered', count: 4_000, kind: 'device' })
  await sql`vacuum (analyze) delivery`.execute(db)
  // Long keys, so that the index of the subjects is the taller one.
  await insertMany(destinationId, { state: 'queued', count: 100, kind: 'person'.repeat(10) })
  await sql`update delivery set state = 'delivered', finished_at = now()`.execute(db)
  const claim = (connection = own.preparedDb) =>
    claimBySchedule(connection, 'webhook', {
      destinationId,
      claimId: newUuid(),
      ownClaimIds: [],
      leaseMs: 60_000,
      limit: CLAIM_SIZE,
      kid: null,
      range: { fromId: 0n, toId: PARTITION_IDS },
    })
  for (let turn = 0; turn < QUIET_CLAIMS; turn += 1) await claim()
  await insertMany(destinationId, { state: 'queued', count: QUEUED_COUNT, kind: 'device' })
  const count = await own.preparedDb.transaction().execute(async (tx) => {
    const before = await countRead(tx)
    const { claimed } = await claim(tx)
    expect(claimed.deliveries).toHaveLength(CLAIM_SIZE)
    return (await countRead(tx)) - before
  })
  expect(count).toBeGreaterThanOrEqual(CLAIM_SIZE)
  expect(count).toBeLessThan(10 * CLAIM_SIZE)
})
