import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { DAY_MS } from '../clock.ts'
import type { AgingTable, RowsEnd } from './aging-rows-store.ts'
import { expireRows } from './expire-rows-store.ts'
import type { RetentionBatch, RetentionPlace } from './retention-policy.ts'

const database = await createTestDatabase()
const { db } = database
await sql`create table thing (id bigint generated always as identity primary key, at timestamptz,
  note text not null default '')`.execute(db)
await sql`create index thing_at on thing (at, id)`.execute(db)
afterAll(() => database.close())
beforeEach(async () => {
  await sql`truncate thing restart identity`.execute(db)
})

const NOW = new Date('2026-06-01T00:00:00Z')
const BEFORE = new Date(NOW.getTime() - 10 * DAY_MS)

/** Adds rows of these ages in days, to the microsecond. */
async function add(...ages: readonly (number | null)[]): Promise<void> {
  await sql`insert into thing (at)
    select ${NOW}::timestamptz - age * interval '1 day' - interval '7 microseconds'
    from unnest(${ages}::float8[]) with ordinality as given (age, place) order by place`.execute(db)
}

async function idsLeft(): Promise<number[]> {
  const { rows } = await sql<{ id: string }>`select id from thing order by id`.execute(db)
  return rows.map(({ id }) => Number(id))
}

interface Pass {
  readonly counts: readonly number[]
  readonly last: RetentionBatch
}

async function pass(
  walk: AgingTable['walk'],
  { limit = 3, after = null, ...rows }: RowsEnd & { limit?: number; after?: RetentionPlace | null },
): Promise<Pass> {
  const runBatch = expireRows({ table: 'thing', key: 'id', ageBy: 'at', walk }, rows)
  const counts: number[] = []
  for (let place = after; ;) {
    const batch = await runBatch(db, { before: BEFORE, after: place, limit })
    counts.push(batch.count)
    if (batch.isOver) return { counts, last: batch }
    expect(batch.place).not.toEqual(place)
    place = batch.place
  }
}

describe('rows that have had their time', () => {
  it.each(['age', 'key', 'all', ['at', 'id']] as const)(
    'end and no others, in batches, whatever shares their time: walk %s',
    async (walk) => {
      await add(20, 20, 20, 20, 20, 11, 10, 9, 1)
      const { counts } = await pass(walk, {})
      expect(Math.max(...counts)).toBe(3)
      expect(await idsLeft()).toEqual([8, 9])
    },
  )

  it('are found behind many that stay', async () => {
    await add(20, 20, 20, 20, 20, 20, 19)
    await pass('age', { when: sql`r.id = 7` })
    expect(await idsLeft()).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('are found where the order is not that of their age only when everything is gone through', async () => {
    await add(20, 1, 1, 1, 1, 20)
    await pass('key', { limit: 2 })
    expect(await idsLeft()).toEqual([2, 3, 4, 5, 6])
    await pass('all', { limit: 2 })
    expect(await idsLeft()).toEqual([2, 3, 4, 5])
  })

  it('without an age stay', async () => {
    await add(null, 20, null)
    for (const walk of ['age', 'key', 'all'] as const) await pass(walk, {})
    expect(await idsLeft()).toEqual([1, 3])
  })

  it('that somebody holds are passed over without waiting', async () => {
    await add(20, 20, 20)
    await db.transaction().execute(async (tx) => {
      await sql`select from thing where id = 2 for update`.execute(tx)
      await pass('age', {})
      expect(await idsLeft()).toEqual([2])
    })
    await pass('age', {})
    expect(await idsLeft()).toEqual([])
  })

  it('that are emptied and stay are not met again by a pass that begins where the last one ended', async () => {
    await add(20, 15, 12, 1)
    const end: RowsEnd = {
      end: (keys) =>
        sql`ended as (update thing set note = 'emptied' where id = any(${keys}) returning 1)`,
    }
    const first = await pass('age', { ...end, limit: 2 })
    expect(first.counts).toEqual([2, 1])
    await add(11)
    const { counts } = await pass('age', { ...end, after: first.last.place })
    expect(counts).toEqual([1])
    const nothingLeft = await pass('age', { ...end, after: first.last.place })
    expect(nothingLeft.last.place).not.toBeNull()
  })
})

describe('a large table', () => {
  it('is read by its indexes, whatever the planner knows of it', async () => {
    await sql`insert into thing (at, note)
      select ${NOW}::timestamptz - interval '20 days' - number * interval '1 second', repeat('x', 200)
      from generate_series(1, 20000) number`.execute(db)
    const runBatch = expireRows({ table: 'thing', key: 'id', ageBy: 'at', walk: 'age' })
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await sql`analyze thing`.execute(db)
      const before = await sequentialReads()
      const batch = await runBatch(db, { before: BEFORE, after: null, limit: 500 })
      expect(batch.count).toBe(500)
      await runBatch(db, { before: BEFORE, after: batch.place, limit: 500 })
      expect(await sequentialReads()).toBe(before)
    }
  })
})

async function sequentialReads(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  await sql`select pg_stat_clear_snapshot()`.execute(db)
  const { rows } = await sql<{ reads: number }>`
    select seq_tup_read::float8 as reads from pg_stat_user_tables where relname = 'thing'`.execute(
    db,
  )
  return rows[0]?.reads ?? 0
}
