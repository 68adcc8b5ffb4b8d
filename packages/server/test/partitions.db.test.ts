/*
 * Tables that are partitioned by their ids: what is made ahead, what a write finds where nothing was made, and how
 * a large table of an earlier version becomes partitions while it is used, whatever interrupts it.
 */
import { sql, type Kysely } from 'kysely'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepPartitions } from '../src/organisation/partitions/keep-partitions.ts'
import { advancePartitions } from '../src/platform/partitions/partition-store.ts'
import { SILENT_LOGGER } from '../src/platform/silent-logger.ts'
import { migrateDatabase } from '../src/schema/migrate.ts'
import type { Schema } from '../src/schema/schema.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { insertCheck, insertDevice } from './support/factories.ts'
import { describePartitions, setPartitionSize } from './support/partitioned-table.ts'

const TABLE = 'check_transition'
const MIGRATIONS = join(import.meta.dirname, '../src/schema/migrations')
/** The last migration before there were partitions. */
const BEFORE = (await readdir(MIGRATIONS))
  .toSorted()
  .findIndex((name) => name.endsWith('_partitions.sql'))
/** Above what a migration partitions by itself, in rows of 1.6 kB. */
const LARGE = 12_000

let database: TestDatabase
let db: Kysely<Schema>
let deviceId: string
let checkId: string
const open = async (isEmpty: boolean) => {
  database = await createTestDatabase({ isEmpty })
  db = database.db
}
afterEach(() => database.close())

/** As every version of the program adds them. Answers the first id. */
async function addTransitions(count: number, reason = ''): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into check_transition (device_id, check_id, occurred_at, from_status, to_status, revision,
      initiating_entity, actor_name, reason, txn)
    select ${deviceId}, ${checkId}, now(), 'passing', 'failing', 1, 'system', 'Heliograph', ${reason}, 't'
    from generate_series(1, ${count}::int) returning id`.execute(db)
  return rows[0]?.id ?? ''
}

async function keep(signal = new AbortController().signal): Promise<string[]> {
  const steps: string[] = []
  const inUse = await keepPartitions(db, {
    onStep: ({ table, step }) => (table === TABLE ? steps.push(step) : undefined),
    signal,
  })
  expect(inUse).toEqual([])
  return steps
}

const partitions = () => describePartitions(db, TABLE)

async function readIds(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from check_transition order by id`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

const idsTo = (last: number) => Array.from({ length: last }, (_, index) => String(index + 1))

async function addSubjects(): Promise<void> {
  deviceId = await insertDevice(db)
  checkId = await insertCheck(db)
}

describe('an installation of this version', () => {
  beforeEach(async () => {
    await open(false)
    await addSubjects()
  })

  it('has partitions from the start, one of them ahead, and nothing to do', async () => {
    expect(await partitions()).toEqual({ ' to 8388608': 0, '8388608 to 16777216': 0, others: 0 })
    expect(await keep()).toEqual([])
  })

  it('is given the next partition before the present one is full', async () => {
    await setPartitionSize(db, 8_000_000)
    await sql`select setval('check_transition_id_seq', 8388700)`.execute(db)
    await addTransitions(1)
    expect(await keep()).toEqual(['extended'])
    expect(await partitions()).toEqual({
      ' to 8388608': 0,
      '8388608 to 16777216': 1,
      '16777216 to 24777216': 0,
      others: 0,
    })
  })

  it('takes every write where no partition was made, and gives the rows one of their own', async () => {
    await addTransitions(2)
    await setPartitionSize(db, 1000)
    await sql`select setval('check_transition_id_seq', 20000000)`.execute(db)
    await addTransitions(2500)
    expect(await partitions()).toMatchObject({ others: 2500 })
    expect(await keep()).toEqual(['collected', 'extended', 'extended'])
    expect(await partitions()).toEqual({
      ' to 8388608': 2,
      '8388608 to 16777216': 0,
      '16777216 to 20003000': 2500,
      '20003000 to 20004000': 0,
      '20004000 to 20005000': 0,
      others: 0,
    })
    expect((await readIds()).length).toBe(2502)
    const ahead = await addTransitions(600)
    expect(ahead).toBe('20002501')
    expect(await partitions()).toMatchObject({ '20003000 to 20004000': 101, others: 0 })
  })

  it('keeps what refers to a device with it, and refuses what refers to none', async () => {
    await setPartitionSize(db, 1000)
    await sql`select setval('check_transition_id_seq', 8388600)`.execute(db)
    await addTransitions(20)
    await db.deleteFrom('device').execute()
    expect(await readIds()).toEqual([])
    await expect(addTransitions(1)).rejects.toThrow('check_transition_device_id_fkey')
  })
})

async function openEarlier(): Promise<void> {
  await open(true)
  await migrateDatabase(database.connection, { log: SILENT_LOGGER, upTo: BEFORE })
  await addSubjects()
  await addTransitions(LARGE, 'x'.repeat(1500))
  await migrateDatabase(database.connection, { log: SILENT_LOGGER })
}

describe('a large table of an earlier version', () => {
  beforeEach(async () => {
    await openEarlier()
    await setPartitionSize(db, 1000)
  })

  it('stays as it is in the migration, and becomes the first partition afterwards, step by step', async () => {
    expect(await partitions()).toEqual({})
    expect(await keep()).toEqual(['bounded', 'validated', 'partitioned', 'analysed'])
    expect(await partitions()).toEqual({ ' to 16000': LARGE, others: 0 })
    expect(await addTransitions(4500)).toBe(String(LARGE + 1))
    expect(await keep()).toEqual(['collected', 'extended', 'extended'])
    expect(await readIds()).toEqual(idsTo(LARGE + 4500))
  })

  it('has the same form as one that was partitioned from the start', async () => {
    await keep()
    const form = async (of: Kysely<Schema>) => {
      const { rows } = await sql`
        select attname, atttypid, attnotnull, attidentity, null as definition from pg_attribute
        where attrelid = 'check_transition'::regclass and attnum > 0 and not attisdropped
        union all select conname, 0, convalidated, contype, pg_get_constraintdef(oid) from pg_constraint
        where conrelid = 'check_transition'::regclass
        union all select indexrelid::regclass::text, 0, indisvalid, '', pg_get_indexdef(indexrelid)
        from pg_index where indrelid = 'check_transition'::regclass
        order by 1, 5`.execute(of)
      return rows
    }
    const fresh = await createTestDatabase()
    expect(await form(db)).toEqual(await form(fresh.db))
    await fresh.close()
  })

  it('goes on after each step at which it was killed', async () => {
    for (const expected of ['bounded', 'validated', 'partitioned']) {
      await killIn(expected)
      expect(await readIds()).toHaveLength(LARGE)
      const stopped = new AbortController()
      const steps: string[] = []
      await keepPartitions(db, {
        onStep: ({ step }) => {
          steps.push(step)
          stopped.abort()
        },
        signal: stopped.signal,
      })
      expect(steps).toEqual([expected])
    }
    expect(await keep()).toEqual(['analysed'])
    expect(await keep()).toEqual([])
    expect(await readIds()).toEqual(idsTo(LARGE))
  })

  /** Ends the connection in the middle of a step. */
  async function killIn(expected: string): Promise<void> {
    const killed = db.transaction().execute(async (tx) => {
      expect(await advancePartitions(tx, TABLE)).toBe(expected)
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx)
    })
    await expect(killed).rejects.toThrow()
  }

  it('is bounded anew when its ids come near the bound before it is a partition', async () => {
    const stopped = new AbortController()
    await keepPartitions(db, { onStep: () => stopped.abort(), signal: stopped.signal })
    await addTransitions(3500)
    expect(await keep()).toEqual(['unbounded', 'bounded', 'validated', 'partitioned', 'analysed'])
    await addTransitions(3500)
    expect(await readIds()).toEqual(idsTo(LARGE + 7000))
  })

  it('waits for what uses it for long, and holds up nobody meanwhile', async () => {
    await db.transaction().execute(async (reader) => {
      await sql`select from check_transition limit 1`.execute(reader)
      const inUse = keepPartitions(db, {
        onStep: () => undefined,
        signal: new AbortController().signal,
      })
      await addTransitions(1)
      expect(await inUse).toEqual([TABLE])
    })
    expect(await keep()).toEqual(['bounded', 'validated', 'partitioned', 'analysed'])
  })

  it('is not partitioned while a view of somebody else reads it', async () => {
    await sql`create view mine as select count(*) from check_transition`.execute(db)
    await expect(keep()).rejects.toThrow('the view mine reads the table check_transition')
    await sql`drop view mine`.execute(db)
    expect(await keep()).toEqual(['partitioned', 'analysed'])
  })
})

describe('a large table of an earlier version that is used', () => {
  // With partitions of the usual size: what is written meanwhile comes nowhere near a bound.
  beforeEach(openEarlier)

  it('loses no write and fails none while it is used', async () => {
    const stop = new AbortController()
    const added: string[] = []
    const failures: unknown[] = []
    const use = async (work: () => Promise<unknown>) => {
      while (!stop.signal.aborted) await work().catch((error: unknown) => failures.push(error))
    }
    const users = [
      use(async () => added.push(await addTransitions(1))),
      use(async () => added.push(await addTransitions(1))),
      use(() => sql`select * from check_transition order by id desc limit 25`.execute(db)),
      use(async () =>
        db
          .deleteFrom('device')
          .where('id', '=', await insertDevice(db))
          .execute(),
      ),
      use(() => sql`update device set updated_at = now() where id = ${deviceId}`.execute(db)),
    ]
    await expect.poll(() => added.length).toBeGreaterThan(20)
    const steps: string[] = []
    await expect
      .poll(async () => {
        await keepPartitions(db, {
          onStep: ({ step }) => steps.push(step),
          signal: new AbortController().signal,
        })
        return steps
      })
      .toContain('analysed')
    const before = added.length
    await expect.poll(() => added.length).toBeGreaterThan(before + 20)
    stop.abort()
    await Promise.all(users)
    expect(failures).toEqual([])
    expect(await readIds()).toEqual([
      ...idsTo(LARGE),
      ...added.toSorted((one, other) => Number(one) - Number(other)),
    ])
  })
})
