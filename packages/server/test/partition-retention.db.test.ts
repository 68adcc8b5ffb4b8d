/*
 * Retention where a table is partitioned: what ends with its partition and what row by row, and what keeps a
 * partition.
 */
import { sql, type Kysely } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sweepRetention } from '../src/organisation/retention/sweep-retention.ts'
import { DAY_MS, systemClock } from '../src/platform/clock.ts'
import type { RetentionPolicy } from '../src/platform/retention/retention-policy.ts'
import { retention } from '../src/schema/retention.ts'
import type { Schema } from '../src/schema/schema.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { insertCheck, insertDevice } from './support/factories.ts'
import { ManualClock } from './support/manual-clock.ts'
import { beginPartition, describePartitions, makePartitions } from './support/partitioned-table.ts'

const SIZE = 100
const FIRST = 20_000_000
const TABLE = 'check_transition'
const POLICY = retention('check transitions', 365)
const EMPTY = [' to 8388608', '8388608 to 16777216', '16777216 to 20000000']

let database: TestDatabase
let db: Kysely<Schema>
let clock: ManualClock
let deviceId: string
let checkId: string
beforeEach(async () => {
  database = await createTestDatabase()
  db = database.db
  clock = new ManualClock()
  deviceId = await insertDevice(db)
  checkId = await insertCheck(db)
  await beginPartition(db, { table: TABLE, first: FIRST, size: SIZE })
})
afterEach(() => database.close())

/** Adds rows of these ages in days, so many of each. */
async function addTransitions(...ages: readonly (readonly [count: number, days: number])[]) {
  for (const [count, days] of ages) {
    await sql`
      insert into check_transition (device_id, check_id, occurred_at, from_status, to_status, revision,
        initiating_entity, actor_name, reason, txn)
      select ${deviceId}, ${checkId}, ${new Date(clock.now().getTime() - days * DAY_MS)}, 'passing',
        'failing', 1, 'system', 'Heliograph', '', 't' from generate_series(1, ${count}::int)`.execute(
      db,
    )
    await makePartitions(db, TABLE)
  }
}

async function sweep(policy: RetentionPolicy = POLICY) {
  await sql`update retention_state set pass_started_at = null, pass_finished_at = null`.execute(db)
  await sql`delete from retention_clock`.execute(db)
  await sweepRetention(
    [policy],
    { db, clock, machineClock: { ...systemClock, now: () => clock.now() } },
    { runMsMax: 60_000, signal: new AbortController().signal },
  )
  return db
    .selectFrom('retention_state')
    .select(['pass_count', 'total_count', 'error'])
    .where('policy', '=', policy.name)
    .executeTakeFirstOrThrow()
}

/** The first partition of 100 ids is number 0. */
const bounds = (number: number) => `${FIRST + number * SIZE} to ${FIRST + (number + 1) * SIZE}`
const partitions = (table = TABLE) => describePartitions(db, table)

it('ends partitions that are past as a whole, empty ones before them too, and rows of others one by one', async () => {
  await addTransitions([SIZE, 400], [60, 390], [40, 10], [SIZE, 5], [10, 1])
  expect(await sweep()).toEqual({ pass_count: '160', total_count: '160', error: null })
  const left = await partitions()
  for (const gone of [...EMPTY, bounds(0)]) expect(left).not.toHaveProperty([gone])
  expect(left).toMatchObject({ [bounds(1)]: 40, [bounds(2)]: SIZE, [bounds(3)]: 10, others: 0 })
  expect(await sweep()).toEqual({ pass_count: '0', total_count: '160', error: null })
})

it('leaves rows in a partition that ends within a fiftieth of their time, and then ends all of it', async () => {
  await addTransitions([60, 368], [40, 359], [SIZE, 300], [1, 1])
  expect(await sweep()).toMatchObject({ pass_count: '0' })
  expect(await partitions()).toMatchObject({ [bounds(0)]: SIZE })
  clock.advance(6.5 * DAY_MS)
  expect(await sweep()).toMatchObject({ pass_count: String(SIZE) })
  expect(await partitions()).not.toHaveProperty([bounds(0)])
})

it('never drops a partition that gets rows, nor one behind one that is young', async () => {
  await addTransitions([50, 400])
  expect(await sweep()).toMatchObject({ pass_count: '50' })
  expect(await partitions()).toMatchObject({ [bounds(0)]: 0 })
  await addTransitions([50, 1], [SIZE, 400], [1, 400])
  expect(await sweep()).toMatchObject({ pass_count: String(SIZE + 1) })
  expect(await partitions()).toMatchObject({ [bounds(0)]: 50, [bounds(1)]: 0 })
})

it('keeps a partition with a row that is younger than the last one', async () => {
  await addTransitions([50, 400], [1, 10], [49, 400], [1, 1])
  await sweep()
  expect(await partitions()).toMatchObject({ [bounds(0)]: 1 })
})

it('keeps a partition in which somebody holds a row, and ends the others one by one', async () => {
  await addTransitions([50, 400], [50, 399], [1, 1])
  const { rows } = await sql<{ id: string }>`select min(id) as id from check_transition`.execute(db)
  const held = retention('check transitions', 365, { when: sql`r.id <> ${rows[0]?.id}` })
  expect(await sweep(held)).toMatchObject({ pass_count: '99' })
  expect(await partitions()).toMatchObject({ [bounds(0)]: 1 })
  expect(await sweep()).toMatchObject({ pass_count: '1' })
})

it('waits for nobody who uses the table, and holds nobody up: rows end one by one then', async () => {
  await addTransitions([SIZE, 400], [1, 400], [1, 1])
  await db.transaction().execute(async (reader) => {
    await sql`select from check_transition limit 1`.execute(reader)
    const swept = sweep()
    await addTransitions([1, 0])
    expect(await swept).toMatchObject({ pass_count: String(SIZE + 1), error: null })
    expect(await partitions()).toMatchObject({ [bounds(0)]: 0 })
  })
  await sweep()
  expect(await partitions()).not.toHaveProperty([bounds(0)])
})
