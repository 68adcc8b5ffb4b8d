import type { Socket } from 'node:net'
import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../clock.ts'
import { openDatabase, runInTurn, toPreparedDb } from './database.ts'
import type { Schema } from '../../schema/schema.ts'
import { DatabaseNetwork } from './database-network.ts'
import { boundWaitsOfRequest } from './bound-transaction.ts'
import { runAs } from './pool-turns.ts'
import { UNAWAITED } from './unawaited.ts'

const database = await createTestDatabase()
/** Why statements were no longer prepared. */
const refusals: unknown[] = []
// One connection, so that a test sees what a statement left there.
const opened = openDatabase<Schema>(database.connection, {
  network: new DatabaseNetwork(),
  poolMax: 1,
  logError: () => undefined,
  logUnprepared: (error) => refusals.push(error),
})
const { db, preparedDb } = opened
afterAll(async () => {
  await opened.close()
  await database.close()
})

beforeAll(async () => {
  await sql`create table gauge (id integer primary key, value text)`.execute(db)
  await sql`insert into gauge values (1, 'one'), (2, 'two')`.execute(db)
})

async function readGauge(on: Kysely<Schema>, id: number): Promise<unknown> {
  const { rows } = await sql`select * from gauge where id = ${id}`.execute(on)
  return rows[0]
}

async function countPrepared(text: string): Promise<number> {
  const { rows } = await opened.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_prepared_statements
     where starts_with(statement, '${text}')`,
  )
  return rows[0]?.count ?? 0
}

test('prepares a statement that is repeated, once, whatever its values', async () => {
  await sql`select ${1}::integer + 41 as once`.execute(preparedDb)
  for (const id of [1, 2, 1, 2, 1, 2, 1, 2]) {
    expect(await readGauge(preparedDb, id)).toEqual({ id, value: id === 1 ? 'one' : 'two' })
  }
  expect(await countPrepared('select * from gauge')).toBe(1)
  expect(await countPrepared('select $1::integer + 41')).toBe(0)
})

test('prepares nothing where plans depend on the values', async () => {
  for (let run = 0; run < 8; run += 1) {
    await sql`select value from gauge where id = ${run}`.execute(db)
  }
  expect(await countPrepared('select value from gauge')).toBe(0)
})

test('reads a table that another version has changed meanwhile', async () => {
  await sql`alter table gauge add column unit text`.execute(db)
  expect(await readGauge(preparedDb, 1)).toEqual({ id: 1, value: 'one', unit: null })
  for (let run = 0; run < 4; run += 1) await readGauge(preparedDb, 2)
  expect(await countPrepared('select * from gauge')).toBe(2)
})

test('runs a change again whose statement another version has outdated', async () => {
  const runChange = createChangeRunner(preparedDb, systemClock, [])
  let runs = 0
  const read = () =>
    runChange({ actor: SYSTEM_ACTOR }, ({ tx }) => {
      runs += 1
      return readGauge(tx, 2)
    })
  for (let run = 0; run < 4; run += 1) await read()
  await sql`alter table gauge add column place text`.execute(db)
  runs = 0
  expect(await read()).toEqual({ id: 2, value: 'two', unit: null, place: null })
  expect(runs).toBe(2)
})

test('tells of a statement that is wrong, and goes on working', async () => {
  const fail = () => sql`select 1 / ${0}::integer`.execute(preparedDb)
  for (let run = 0; run < 4; run += 1) await expect(fail()).rejects.toThrow('division by zero')
  expect(await readGauge(preparedDb, 1)).toMatchObject({ value: 'one' })
})

const writeGauge = (on: Kysely<Schema>, id: number) =>
  sql`insert into gauge (id) values (${id})`.execute(on)

async function hasGauge(id: number): Promise<boolean> {
  return (await readGauge(db, id)) !== undefined
}

test('keeps nothing of a transaction whose first statement fails, nor of one that was given up', async () => {
  const writeTwice = (first: number, second: number) =>
    preparedDb.transaction().execute(async (tx) => {
      await writeGauge(tx, first)
      await writeGauge(tx, second)
    })
  for (let id = 10; id < 20; id += 2) await writeTwice(id, id + 1)
  await expect(writeTwice(10, 30)).rejects.toThrow('duplicate key')
  await expect(writeTwice(31, 10)).rejects.toThrow('duplicate key')
  expect([await hasGauge(30), await hasGauge(31), await hasGauge(19)]).toEqual([false, false, true])
})

test('goes on after a transaction without a statement', async () => {
  await preparedDb.transaction().execute(() => Promise.resolve())
  const giveUp = preparedDb.transaction().execute(() => Promise.reject(new Error('given up')))
  await expect(giveUp).rejects.toThrow('given up')
  await writeGauge(preparedDb, 40)
  expect(await hasGauge(40)).toBe(true)
})

test('has the isolation of a transaction from its first statement on', async () => {
  const levels = new Set<unknown>()
  for (let run = 0; run < 4; run += 1) {
    await preparedDb
      .transaction()
      .setIsolationLevel('serializable')
      .execute(async (tx) => {
        const { rows } = await sql<{ level: string }>`
          select current_setting('transaction_isolation') as level`.execute(tx)
        levels.add(rows[0]?.level)
      })
  }
  expect([...levels]).toEqual(['serializable'])
})

type Statement = ReturnType<typeof sql>

const inTurn = (...statements: readonly Statement[]) =>
  runInTurn(
    preparedDb,
    statements.map((statement) => statement.compile(preparedDb)),
  )

const outcomesInTurn = async (...statements: readonly Statement[]) => {
  const outcomes = await Promise.allSettled(inTurn(...statements))
  return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed'))
}

const insertGauge = (id: number) => sql`insert into gauge (id) values (${id}) returning id`
const selectGauge = (id: number) => sql`select id, value from gauge where id = ${id}`

test('runs statements in turn, each with its own answer', async () => {
  for (let id = 50; id < 55; id += 1) {
    const answers = inTurn(
      insertGauge(id),
      selectGauge(1),
      selectGauge(2),
      selectGauge(id),
      selectGauge(99),
    )
    expect(await Promise.all(answers)).toEqual([
      [{ id }],
      [{ id: 1, value: 'one' }],
      [{ id: 2, value: 'two' }],
      [{ id, value: null }],
      [],
    ])
    expect(await inTurn(selectGauge(id))[0]).toEqual([{ id, value: null }])
  }
})

test('runs each of statements in turn whatever becomes of the others', async () => {
  const circular: Record<string, unknown> = {}
  circular['itself'] = circular
  const unsendable = sql`select ${circular}::json`
  const failing: readonly (readonly Statement[])[] = [
    [insertGauge(60), insertGauge(50), insertGauge(61)],
    [insertGauge(50), insertGauge(62), selectGauge(1)],
    [insertGauge(63), unsendable, insertGauge(64), insertGauge(65)],
    [unsendable, insertGauge(66), insertGauge(67)],
    [insertGauge(68), insertGauge(69), unsendable],
  ]
  const outcomes: unknown[] = []
  for (const statements of failing) outcomes.push(await outcomesInTurn(...statements))
  const written = (id: number) => [{ id }]
  expect(outcomes).toEqual([
    [written(60), 'failed', written(61)],
    ['failed', written(62), [{ id: 1, value: 'one' }]],
    [written(63), 'failed', written(64), written(65)],
    ['failed', written(66), written(67)],
    [written(68), written(69), 'failed'],
  ])
  const { rows } = await sql<{ id: number }>`
    select id from gauge where id between 60 and 69 order by id`.execute(db)
  expect(rows.map(({ id }) => id)).toEqual([60, 61, 62, 63, 64, 65, 66, 67, 68, 69])
})

test('answers the first of statements in turn while another waits for a lock', async () => {
  const holder = await database.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table gauge in access exclusive mode')
    const [first, second] = inTurn(sql`select 1 as one`, selectGauge(1))
    expect(await first).toEqual([{ one: 1 }])
    await holder.query('commit')
    expect(await second).toEqual([{ id: 1, value: 'one' }])
  } finally {
    holder.release()
  }
})

test('fails each of statements in turn when their connection is lost', async () => {
  const end = sql`select pg_terminate_backend(pg_backend_pid())`
  expect(await outcomesInTurn(selectGauge(1), end, selectGauge(1), selectGauge(2))).toEqual([
    [{ id: 1, value: 'one' }],
    'failed',
    'failed',
    'failed',
  ])
  expect(await inTurn(selectGauge(1))[0]).toEqual([{ id: 1, value: 'one' }])
})

test('prepares what several of statements in turn are, although the first fails', async () => {
  const same = (value: number) => sql`select 6 / ${value}::integer as share`
  const outcomes: unknown[] = []
  for (const value of [1, 2, 0, 3, 0, 6]) {
    outcomes.push(await outcomesInTurn(same(value), same(1), same(2)))
  }
  const [one, two] = [[{ share: 6 }], [{ share: 3 }]]
  expect(outcomes).toEqual([
    [one, one, two],
    [two, one, two],
    ['failed', one, two],
    [[{ share: 2 }], one, two],
    ['failed', one, two],
    [[{ share: 1 }], one, two],
  ])
  expect([await countPrepared('select 6 /'), refusals]).toEqual([1, []])
})

test('runs statements in turn that another version has outdated, each with its own answer', async () => {
  const write = sql`insert into gauge (id) values (70) on conflict (id) do update set value = 'x'`
  const read = (id: number) => sql`select * from gauge where id = ${id}`
  const run = () => Promise.all(inTurn(write, read(1), selectGauge(2), read(2), selectGauge(1)))
  for (let turn = 0; turn < 4; turn += 1) await run()
  await sql`alter table gauge add column weight integer`.execute(db)
  for (let turn = 0; turn < 4; turn += 1) {
    expect(await run()).toMatchObject([
      [],
      [{ id: 1, value: 'one', weight: null }],
      [{ id: 2, value: 'two' }],
      [{ id: 2, value: 'two', weight: null }],
      [{ id: 1, value: 'one' }],
    ])
  }
})

test('answers statements of one transaction that are sent at once', async () => {
  for (let turn = 0; turn < 4; turn += 1) {
    const rows = await preparedDb
      .transaction()
      .execute((tx) =>
        Promise.all([readGauge(tx, 1), sql`select 1 as one, ${turn}::int as turn`.execute(tx)]),
      )
    expect(rows).toMatchObject([{ id: 1 }, { rows: [{ one: 1, turn }] }])
  }
})

test('prepares once what both changes and reads beside a standby send by one connection', async () => {
  const beside = openDatabase<Schema>(database.connection, {
    network: new DatabaseNetwork(),
    poolMax: 1,
    logError: () => undefined,
    readReplica: { connection: database.connection, logProblem: () => undefined },
  })
  try {
    for (let run = 0; run < 4; run += 1) {
      await readGauge(beside.preparedDb, 1)
      await readGauge(toPreparedDb(beside.db), 2)
    }
    for (let run = 0; run < 4; run += 1) {
      await sql`select value as later from gauge where id = ${run}`.execute(toPreparedDb(beside.db))
    }
    const { rows } = await beside.pool.query<{ text: string }>(
      `select distinct left(statement, 20) as text from pg_prepared_statements order by 1`,
    )
    expect(rows.map(({ text }) => text)).toEqual(['select * from gauge ', 'select value as late'])
  } finally {
    await beside.close()
  }
})

test('runs nothing again that a pooler has prepared with other columns, and prepares it anew', async () => {
  const write = (id: number) =>
    sql<{ id: number }>`insert into gauge (id) values (${id}) returning id`.execute(preparedDb)
  for (let id = 80; id < 84; id += 1) await write(id)
  const { rows } = await opened.pool.query<{ name: string }>(
    `select name from pg_prepared_statements
     where statement = 'insert into gauge (id) values ($1) returning id' and name like 'heliograph%'`,
  )
  const [name = ''] = rows.map((row) => row.name)
  await opened.pool.query(`deallocate ${name}`)
  await opened.pool.query(
    `prepare ${name} (integer) as insert into gauge (id) values ($1) returning id, value`,
  )
  await expect(write(84)).rejects.toThrow('other columns')
  expect(await hasGauge(84)).toBe(true)
  expect((await write(85)).rows).toEqual([{ id: 85 }])
})

test('runs nothing of a transaction by itself whose first statement cannot be sent', async () => {
  for (let id = 90; id < 94; id += 1) await writeGauge(preparedDb, id)
  const circular: Record<string, unknown> = {}
  circular['itself'] = circular
  const atOnce = preparedDb
    .transaction()
    .execute((tx) => Promise.all([sql`select ${circular}::json`.execute(tx), writeGauge(tx, 94)]))
  await expect(atOnce).rejects.toThrow('circular')
  const goingOn = preparedDb.transaction().execute(async (tx) => {
    await sql`select ${circular}::json`.execute(tx).catch(() => undefined)
    await writeGauge(tx, 95)
  })
  await expect(goingOn).rejects.toThrow('could not begin')
  expect([await hasGauge(94), await hasGauge(95)]).toEqual([false, false])
  await writeGauge(preparedDb, 96)
  expect(await hasGauge(96)).toBe(true)
})

describe('statements of a transaction that nobody waits for', () => {
  const note = (on: Kysely<Schema>, id: number) =>
    sql`${UNAWAITED} insert into gauge (id) values (${id})`.execute(on)
  const inTransaction = <Result>(work: (tx: Kysely<Schema>) => Promise<Result>) =>
    preparedDb.transaction().execute(work)
  const listGauges = async (from: number) => {
    const { rows } = await sql<{ id: number }>`
      select id from gauge where id between ${from} and ${from} + 99 order by id`.execute(db)
    return rows.map(({ id }) => id)
  }

  test('go along with the next one, in their order', async () => {
    for (let id = 200; id < 220; id += 4) {
      const seen = await inTransaction(async (tx) => {
        await note(tx, id)
        await note(tx, id + 1)
        const first = await readGauge(tx, id + 1)
        await note(tx, id + 2)
        await sql`insert into gauge select id + 1 from gauge where id = ${id + 2}`.execute(tx)
        return first
      })
      expect(seen).toMatchObject({ id: id + 1 })
    }
    expect(await listGauges(200)).toEqual(Array.from({ length: 20 }, (_, index) => 200 + index))
    expect(await countPrepared(' insert into gauge (id) values')).toBe(1)
  })

  test('are there with the commit when nothing came after them, or nothing else at all', async () => {
    for (let id = 300; id < 310; id += 2) {
      await inTransaction((tx) => note(tx, id))
      await inTransaction(async (tx) => {
        await readGauge(tx, 1)
        await note(tx, id + 1)
      })
    }
    expect(await listGauges(300)).toEqual(Array.from({ length: 10 }, (_, index) => 300 + index))
  })

  test('fail what they went along with, and their transaction', async () => {
    await inTransaction((tx) => writeGauge(tx, 400))
    const failing: readonly ((tx: Kysely<Schema>) => Promise<unknown>)[] = [
      (tx) => note(tx, 400),
      (tx) => note(tx, 400).then(() => writeGauge(tx, 401)),
      (tx) => writeGauge(tx, 402).then(() => note(tx, 400)),
      (tx) => note(tx, 403).then(() => note(tx, 400)),
      (tx) => note(tx, 400).then(() => sql`select 1`.execute(tx)),
    ]
    for (let turn = 0; turn < 4; turn += 1) {
      for (const work of failing) await expect(inTransaction(work)).rejects.toThrow('duplicate key')
    }
    await inTransaction((tx) => note(tx, 404))
    expect(await listGauges(400)).toEqual([400, 404])
  })

  test('are gone with a transaction that is given up, and with one that cannot begin', async () => {
    for (const isBegun of [false, true]) {
      const givenUp = inTransaction(async (tx) => {
        if (isBegun) await writeGauge(tx, 500)
        await note(tx, 501)
        throw new Error('given up')
      })
      await expect(givenUp).rejects.toThrow('given up')
    }
    const circular: Record<string, unknown> = {}
    circular['itself'] = circular
    const cannotBegin = inTransaction(async (tx) => {
      await sql`${UNAWAITED} select ${circular}::json`.execute(tx)
      await writeGauge(tx, 502)
    })
    await expect(cannotBegin).rejects.toThrow('circular')
    await inTransaction((tx) => note(tx, 503))
    expect(await listGauges(500)).toEqual([503])
  })

  const findStream = async () => {
    const client = (await opened.pool.connect()) as unknown as {
      readonly connection: { readonly stream: Socket }
      release(): void
    }
    client.release()
    return client.connection.stream
  }

  test('let the server be silent for as long as all of them may take', async () => {
    const slept = sql`${UNAWAITED} select pg_sleep(0.1)`
    const stream = await findStream()
    const usual = stream.timeout
    const silences = vi.spyOn(stream, 'setTimeout')
    await inTransaction(async (tx) => {
      for (let count = 0; count < 3; count += 1) await slept.execute(tx)
    })
    expect(silences.mock.calls.map(([timeoutMs]) => timeoutMs)).toContain(3 * (usual ?? 0))
    silences.mockRestore()
    expect(stream.timeout).toBe(usual)
    expect(usual).toBe(35_000)
  })

  test('that only bound it let the server be silent for no longer, and begin nothing by themselves', async () => {
    const stream = await findStream()
    const silences = vi.spyOn(stream, 'setTimeout')
    const written = vi.spyOn(stream, 'write')
    const countWrites = async (work: (tx: Kysely<Schema>) => Promise<unknown>) => {
      written.mockClear()
      await runAs('requests', () =>
        inTransaction(async (tx) => {
          await boundWaitsOfRequest(tx)
          await work(tx)
        }),
      )
      return written.mock.calls.length
    }
    expect(await countWrites((tx) => writeGauge(tx, 700))).toBeGreaterThan(0)
    expect(await countWrites(() => Promise.resolve())).toBe(0)
    expect(await countWrites((tx) => note(tx, 701))).toBeGreaterThan(0)
    expect(silences).not.toHaveBeenCalled()
    vi.restoreAllMocks()
    expect(await listGauges(700)).toEqual([700, 701])
  })

  test('run at once where there is no transaction, and when many wait', async () => {
    await note(preparedDb, 600)
    await expect(note(preparedDb, 600)).rejects.toThrow('duplicate key')
    await inTransaction(async (tx) => {
      for (let id = 601; id < 640; id += 1) await note(tx, id)
    })
    await expect(
      inTransaction(async (tx) => {
        await note(tx, 600)
        for (let id = 641; id < 680; id += 1) await note(tx, id)
        throw new Error('nobody gets here')
      }),
    ).rejects.toThrow('duplicate key')
    expect(await listGauges(600)).toEqual(Array.from({ length: 40 }, (_, index) => 600 + index))
  })
})

test('goes on without preparing where a pooler has forgotten a statement, and says so once', async () => {
  for (let turn = 0; turn < 4; turn += 1) await readGauge(preparedDb, 1)
  await opened.pool.query('deallocate all')
  for (let turn = 0; turn < 4; turn += 1) {
    expect(await readGauge(preparedDb, 1)).toMatchObject({ id: 1 })
    expect(await Promise.all(inTurn(selectGauge(2), selectGauge(1)))).toMatchObject([
      [{ id: 2 }],
      [{ id: 1 }],
    ])
  }
  expect(refusals).toMatchObject([{ code: '26000' }])
  expect(await countPrepared('select')).toBe(0)
})
