/*
 * Deliveries and their attempts in partitions: what ends together, and how a large table of an earlier version becomes
 * them.
 */
import { sql, type Kysely } from 'kysely'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { sweepRetention } from '../src/organisation/retention/sweep-retention.ts'
import { systemClock } from '../src/platform/clock.ts'
import { SILENT_LOGGER } from '../src/platform/silent-logger.ts'
import { syncReportingViews } from '../src/posture/reporting/reporting-view-store.ts'
import { migrateDatabase } from '../src/schema/migrate.ts'
import type { Schema } from '../src/schema/schema.ts'
import { grantServiceRole } from '../src/schema/service-role-store.ts'
import { deliveryRetention } from '../src/signals/dispatch/delivery-retention-store.ts'
import { insertDestination } from '../src/signals/dispatch/destination-store.ts'
import { createTestDatabase } from './support/database.ts'
import { createDeliveryBench } from './support/delivery-bench.ts'
import { addDeliveries, type AddedDeliveries } from './support/partitioned-deliveries.ts'
import {
  beginPartition,
  describePartitions,
  makePartitions,
  setPartitionSize,
} from './support/partitioned-table.ts'

const bench = await createDeliveryBench()
const { db } = bench.database
afterEach(() => bench.clear())
afterAll(() => bench.close())

/** The last migration before deliveries were partitioned. */
const BEFORE = (await readdir(join(import.meta.dirname, '../src/schema/migrations')))
  .toSorted()
  .findIndex((name) => name.endsWith('_partitioned_deliveries.sql'))

async function addAttempts(of: Kysely<Schema>): Promise<void> {
  await sql`insert into delivery_attempt (delivery_id, number, started_at, timings, outcome)
    select id, 1, now(), '{}', 'retry' from delivery`.execute(of)
}

const idsOf = async (table: 'delivery' | 'delivery_attempt', of = db) => {
  const { rows } = await sql<{ id: number }>`
    select ${sql.ref(table === 'delivery' ? 'id' : 'delivery_id')}::int as id from ${sql.table(table)}
    order by 1`.execute(of)
  return rows.map(({ id }) => id)
}

async function endWhatIsOld(of = db): Promise<void> {
  await sql`update retention_state set pass_started_at = null, pass_finished_at = null`.execute(of)
  await sql`delete from retention_clock`.execute(of)
  const [policy] = deliveryRetention({
    deliveryRetentionDays: 180,
    deliveryPayloadRetentionDays: 180,
  })
  if (policy === undefined) throw new Error('deliveries have no policy')
  await sweepRetention(
    [policy],
    { db: of, clock: systemClock, machineClock: systemClock },
    { runMsMax: 60_000, signal: new AbortController().signal },
  )
}

describe('partitions of deliveries', () => {
  const FIRST = 20_000_000
  const bounds = (number: number) => `${FIRST + number * 100} to ${FIRST + (number + 1) * 100}`

  async function openWithPartitions() {
    const database = await createTestDatabase()
    await beginPartition(database.db, { table: 'delivery', first: FIRST, size: 100 })
    const id = await insertDestination(database.db, { kind: 'webhook', state: 'active' })
    const fill = async (...added: readonly AddedDeliveries[]) => {
      for (const each of added) {
        await addDeliveries(database.db, id, each)
        await makePartitions(database.db, 'delivery')
      }
    }
    return { ...database, id, fill }
  }

  it('end with the partitions of their attempts when all of it has had its time, and others row by row', async () => {
    const database = await openWithPartitions()
    try {
      await database.fill({ count: 100, ageDays: 200 }, { count: 60, ageDays: 190 })
      await database.fill({ count: 50, ageDays: 20 })
      await addAttempts(database.db)
      expect(await describePartitions(database.db, 'delivery_attempt')).toMatchObject({
        [bounds(0)]: 100,
      })
      await endWhatIsOld(database.db)
      for (const table of ['delivery', 'delivery_attempt'] as const) {
        const left = await describePartitions(database.db, table)
        expect(left).not.toHaveProperty([bounds(0)])
        expect(left).toMatchObject({ [bounds(1)]: 40, [bounds(2)]: 10, others: 0 })
      }
      expect(await idsOf('delivery_attempt', database.db)).toEqual(
        await idsOf('delivery', database.db),
      )
    } finally {
      await database.close()
    }
  })

  it('stay with what still waits in them, first or last', async () => {
    const database = await openWithPartitions()
    try {
      await database.fill({ count: 99, ageDays: 200 }, { count: 1, ageDays: 200, state: 'queued' })
      await database.fill({ count: 1, ageDays: 200, state: 'queued' }, { count: 99, ageDays: 199 })
      await database.fill({ count: 100, ageDays: 198 }, { count: 1 })
      await endWhatIsOld(database.db)
      const left = await describePartitions(database.db, 'delivery')
      expect(left).toMatchObject({ [bounds(0)]: 1, [bounds(1)]: 1 })
      expect(left).not.toHaveProperty([bounds(2)])
    } finally {
      await database.close()
    }
  })

  it('stay whole where one of them has come to wait again since somebody looked', async () => {
    const database = await openWithPartitions()
    try {
      await database.fill({ count: 100, ageDays: 200 }, { count: 1 })
      await addAttempts(database.db)
      await database.db
        .updateTable('delivery')
        .set({ state: 'queued' })
        .where('id', '=', String(FIRST + 50))
        .execute()
      const drop = () =>
        sql`select drop_partition('delivery', 'delivery_20000000')`.execute(database.db)
      // As for a table in use: whoever ends partitions leaves it for the next time.
      await expect(drop()).rejects.toMatchObject({ code: '55P03' })
      expect(await idsOf('delivery', database.db)).toHaveLength(101)
      expect(await idsOf('delivery_attempt', database.db)).toHaveLength(101)
      await sql`update delivery set state = 'delivered'`.execute(database.db)
      await drop()
      expect(await idsOf('delivery', database.db)).toHaveLength(1)
    } finally {
      await database.close()
    }
  })

  it('take attempts along that are in partitions with other bounds, and only those', async () => {
    const database = await openWithPartitions()
    try {
      await sql`alter table partitions.delivery_attempt_20000000 rename to narrow`.execute(
        database.db,
      )
      await sql`alter table delivery_attempt detach partition partitions.narrow`.execute(
        database.db,
      )
      await sql`drop table partitions.delivery_attempt_20000100`.execute(database.db)
      await sql`alter table delivery_attempt attach partition partitions.narrow
        for values from (20000000) to (20000150)`.execute(database.db)
      await database.fill({ count: 100, ageDays: 200 }, { count: 100, ageDays: 199 }, { count: 5 })
      await addAttempts(database.db)
      const drop = (name: string) =>
        sql`select drop_partition('delivery', ${name})`.execute(database.db)
      await drop('delivery_20000000')
      expect(await idsOf('delivery_attempt', database.db)).toEqual(
        await idsOf('delivery', database.db),
      )
      expect(await describePartitions(database.db, 'delivery_attempt')).toMatchObject({
        '20000000 to 20000150': 50,
      })
      await drop('delivery_20000100')
      expect(await idsOf('delivery_attempt', database.db)).toEqual(
        await idsOf('delivery', database.db),
      )
      expect(await describePartitions(database.db, 'delivery_attempt')).not.toHaveProperty([
        '20000000 to 20000150',
      ])
    } finally {
      await database.close()
    }
  })
})

describe('attempts', () => {
  it('end with their delivery, and there is none of a delivery that is not there', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    const first = await addDeliveries(db, id, { count: 3 })
    await addAttempts(db)
    await db.deleteFrom('delivery').where('id', '=', first).execute()
    expect(await idsOf('delivery_attempt')).toEqual(await idsOf('delivery'))
    await expect(
      sql`insert into delivery_attempt (delivery_id, number, started_at, timings, outcome)
        values (${first}, 1, now(), '{}', 'retry')`.execute(db),
    ).rejects.toMatchObject({ code: '23503' })
    await db.deleteFrom('delivery_destination').where('id', '=', id).execute()
    expect(await idsOf('delivery_attempt')).toEqual([])
  })
})

describe('large tables of an earlier version', () => {
  /** Above what a migration partitions by itself, in rows of 1.6 kB. */
  const LARGE = 12_000

  it('become partitions while they are used, with every row and the form of new ones', async () => {
    const database = await createTestDatabase({ isEmpty: true })
    const fresh = await createTestDatabase()
    try {
      const { connection } = database
      await migrateDatabase(connection, { log: SILENT_LOGGER, upTo: BEFORE })
      const id = await insertDestination(database.db, { kind: 'webhook', state: 'active' })
      await addDeliveries(database.db, id, { count: LARGE, ageDays: 1 })
      await sql`update delivery set body = repeat('x', 1500)`.execute(database.db)
      await addAttempts(database.db)
      await sql`update delivery_attempt set response_body = repeat('y', 1500)`.execute(database.db)
      await migrateDatabase(connection, { log: SILENT_LOGGER })
      await setPartitionSize(database.db, 1000)
      expect(await describePartitions(database.db, 'delivery')).toEqual({})
      expect(await makePartitions(database.db, 'delivery')).toEqual([
        'bounded',
        'validated',
        'partitioned',
        'analysed',
      ])
      expect(await describePartitions(database.db, 'delivery_attempt')).toEqual({
        ' to 16000': LARGE,
        others: 0,
      })
      const next = await addDeliveries(database.db, id, { count: 1 })
      expect(next).toBe(String(LARGE + 1))
      await addAttempts(database.db)
      expect(await idsOf('delivery', database.db)).toHaveLength(LARGE + 1)
      expect(new Set(await idsOf('delivery_attempt', database.db)).size).toBe(LARGE + 1)
      for (const table of ['delivery', 'delivery_attempt']) {
        expect(await readForm(database.db, table)).toEqual(await readForm(fresh.db, table))
      }
    } finally {
      await database.close()
      await fresh.close()
    }
  })

  it('leave the role of the service every right, also to number attempts', async () => {
    const database = await createTestDatabase({ isEmpty: true })
    try {
      await migrateDatabase(database.connection, { log: SILENT_LOGGER, upTo: BEFORE })
      const id = await insertDestination(database.db, { kind: 'webhook', state: 'active' })
      await addDeliveries(database.db, id, { count: LARGE })
      await addAttempts(database.db)
      await sql`update delivery_attempt set response_body = repeat('y', 1500)`.execute(database.db)
      await migrateDatabase(database.connection, { log: SILENT_LOGGER })
      const { role } = database.reporting
      await syncReportingViews(database.db)
      await grantServiceRole(database.db, role)
      const before = await readRights(database.db, role)
      expect(before).toContain('delivery_attempt_id_seq USAGE')
      expect(await makePartitions(database.db, 'delivery_attempt')).toContain('partitioned')
      expect(await readRights(database.db, role)).toEqual(before)
    } finally {
      await database.close()
    }
  })

  /** What a role may do to which table and sequence. */
  async function readRights(of: Kysely<Schema>, role: string): Promise<string[]> {
    const { rows } = await sql<{ right: string }>`
      select c.relname || ' ' || privilege_type as "right" from pg_class c, aclexplode(c.relacl)
      where c.relnamespace = 'public'::regnamespace and grantee = ${role}::regrole order by 1`.execute(
      of,
    )
    return rows.map((row) => row.right)
  }

  /** Columns, constraints, indexes and triggers. */
  async function readForm(of: Kysely<Schema>, table: string) {
    const { rows } = await sql`
      select attname, attnotnull, attidentity, null as definition from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      union all select conname, convalidated, contype, pg_get_constraintdef(oid) from pg_constraint
      where conrelid = ${table}::regclass
      union all select indexrelid::regclass::text, indisvalid, '', pg_get_indexdef(indexrelid)
      from pg_index where indrelid = ${table}::regclass
      union all select tgname, tgenabled = 'O', '', pg_get_triggerdef(oid) from pg_trigger
      where tgrelid = ${table}::regclass and not tgisinternal
      order by 1, 4`.execute(of)
    return rows
  }
})
