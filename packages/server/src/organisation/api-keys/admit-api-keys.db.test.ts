import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createKeyAdmin, createTestKey } from '../../../test/support/api-keys.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { refuseSlots } from '../../../test/support/full-disk.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from '../../changes/change.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { readRows } from '../../platform/db/read-ahead.ts'
import { newSecret } from '../../platform/ids.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import type { Schema } from '../../schema/schema.ts'
import { createKeyAdmission, type AdmitKey } from './admit-api-keys.ts'
import { toKeyHash } from './authenticate-api-key.ts'
import { createApiKey, revokeApiKey } from './create-api-key.ts'

const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'the test'))
const clock = new ManualClock()
let database: TestDatabase
let runChange: RunChange

beforeAll(async () => {
  database = await createTestDatabase()
  runChange = createChangeRunner(database.db, clock, [])
  await createKeyAdmin(runChange)
})
afterAll(() => database.close())

/** As a process of the service has it. */
const startProcess = (requestsPerMinute: number) =>
  createKeyAdmission({ db: database.db, clock, requestsPerMinute })

const createKey = () => createTestKey({ runChange, sealer }, ['Refresh Check'])

const createExpiringKey = (expiresAt: Date) =>
  runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createApiKey(change, sealer, {
      name: newSecret(6),
      responsibleEmail: 'grace@example.com',
      permissions: [],
      expiresAt,
    }),
  )

const admitMany = (admit: AdmitKey, key: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => admit(key)))

const refusal = { code: 'unauthenticated' }

describe('while nothing can be stored', () => {
  afterEach(() => sql`drop trigger full_disk on rate_limit_slot`.execute(database.db))

  it('a key is let through up to its limit by each process, and others are refused as before', async () => {
    const [key, revoked] = [await createKey(), await createKey()]
    await refuseSlots(database.db)
    const [admit, another] = [startProcess(5), startProcess(5)]
    const accept = async (one: AdmitKey) =>
      (await admitMany(one, key, 4)).filter(({ decision }) => decision.isAllowed).length
    expect(await accept(admit)).toBe(4)
    expect(await accept(admit)).toBe(1)
    expect(await accept(another)).toBe(4)
    await expect(admit(newSecret())).rejects.toMatchObject(refusal)
    await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const { id } = await change.tx
        .selectFrom('api_key')
        .select('id')
        .where('secret_hash', '=', toKeyHash(revoked))
        .executeTakeFirstOrThrow()
      await revokeApiKey(change, id)
    })
    await expect(admit(revoked)).rejects.toMatchObject(refusal)
  })
})

describe('requests of a key that come together', () => {
  it('are admitted up to the limit, whichever processes are asked, and the next is refused', async () => {
    const key = await createKey()
    const processes = [startProcess(270), startProcess(270), startProcess(270)]
    const admissions = await Promise.all(processes.map((admit) => admitMany(admit, key, 120)))
    const decisions = admissions.flat().map(({ decision }) => decision)
    const allowed = decisions.filter(({ isAllowed }) => isAllowed)
    expect(allowed).toHaveLength(270)
    expect(new Set(allowed.map(({ remaining }) => remaining)).size).toBe(270)
    expect(decisions.filter((one) => !one.isAllowed).map((one) => one.remaining)).toEqual(
      Array.from({ length: 90 }, () => 0),
    )
    for (const admit of processes) expect((await admit(key)).decision.isAllowed).toBe(false)
  })

  it('have the caller and the limit of their own key', async () => {
    const [first, second] = [await createKey(), await createKey()]
    const admit = startProcess(5)
    const [ofFirst, ofSecond] = await Promise.all([
      admitMany(admit, first, 4),
      admitMany(admit, second, 7),
    ])
    expect(new Set(ofFirst.map(({ caller }) => caller.id)).size).toBe(1)
    expect(ofFirst[0]?.caller.permissions).toEqual(new Set(['Refresh Check']))
    expect(ofFirst[0]?.caller.id).not.toBe(ofSecond[0]?.caller.id)
    expect(ofFirst.map(({ decision }) => decision.isAllowed)).not.toContain(false)
    expect(ofSecond.filter(({ decision }) => decision.isAllowed)).toHaveLength(5)
  })

  it('are admitted although others among them are refused', async () => {
    const key = await createKey()
    const admit = startProcess(270)
    const unknown = `k2sk_v1_${'0'.repeat(46)}`
    const outcomes = await Promise.allSettled([
      admit(key),
      admit(unknown),
      admit(key),
      admit('no key'),
      admit(key),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
  })
})

describe('a key that has ended', () => {
  it('is refused by every process from the next request on, while others of it are under way', async () => {
    const key = await createKey()
    const processes = [startProcess(1_000), startProcess(1_000)]
    const [first] = await admitMany(processes[0] ?? startProcess(1), key, 1)
    const underWay = Promise.allSettled(processes.map((admit) => admitMany(admit, key, 100)))
    await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeApiKey(change, first?.caller.id ?? ''),
    )
    for (const admit of processes) await expect(admit(key)).rejects.toMatchObject(refusal)
    await underWay
  })

  it('takes no place of its limit', async () => {
    const { key, id } = await createExpiringKey(new Date(clock.now().getTime() + 60_000))
    const admit = startProcess(3)
    expect((await admit(key)).decision.remaining).toBe(2)
    clock.advance(60_000)
    await expect(admit(key)).rejects.toMatchObject(refusal)
    const { rows } = await sql<{ taken: number }>`
      select count(*)::integer as taken from rate_limit_slot where bucket = ${`api_key:${id}`}
    `.execute(database.db)
    expect(rows).toEqual([{ taken: 1 }])
  })
})

describe('places that are taken together', () => {
  const start = new Date('2026-01-02T03:04:05.678Z')
  const take = async (bucket: string, count: number, afterMs: number) => {
    const at = new Date(start.getTime() + afterMs)
    const { rows } = await sql<{ accepted: number; remaining: number }>`
      select accepted, remaining from take_rate_places(${bucket}, 5, 60, ${count}, ${at})
    `.execute(database.db)
    return [rows[0]?.accepted, rows[0]?.remaining]
  }

  it('are as many as are free, and come back exactly 60 seconds later', async () => {
    expect(await take('together', 3, 0)).toEqual([3, 2])
    expect(await take('together', 3, 30_000)).toEqual([2, 0])
    expect(await take('together', 1, 59_999)).toEqual([0, 0])
    expect(await take('together', 9, 60_000)).toEqual([3, 0])
    expect(await take('together', 9, 89_999)).toEqual([0, 0])
    expect(await take('together', 1, 90_000)).toEqual([1, 1])
  })
})

describe('what a request reads', () => {
  const opened = () =>
    openDatabase<Schema>(database.connection, {
      network: new DatabaseNetwork(),
      poolMax: 16,
      logError: () => undefined,
    })
  let pool: ReturnType<typeof opened>
  beforeAll(() => {
    pool = opened()
  })
  afterAll(() => pool.close())

  const startReading = (requestsPerMinute: number) =>
    createKeyAdmission({ db: pool.preparedDb, clock, requestsPerMinute })
  const readOf = (value: number, rowsMax = 1) => ({
    db: pool.preparedDb,
    statement: sql`select 12 / ${value}::integer as value`.compile(pool.preparedDb),
    rowsMax,
  })

  /** Nobody else reads the table until `unlock`, or the end of the work. */
  const whilePeopleAreLocked = async (work: (unlock: () => Promise<unknown>) => Promise<void>) => {
    const holder = await database.pool.connect()
    try {
      await holder.query('begin')
      await holder.query('lock table person in access exclusive mode')
      await work(() => holder.query('commit'))
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  }

  it('goes along for a key that was let through before, each with its own rows', async () => {
    const key = await createKey()
    const admit = startReading(270)
    expect((await admit(key, () => readOf(1))).ahead).toBeUndefined()
    const together = await Promise.all([1, 2, 3, 4].map((value) => admit(key, () => readOf(value))))
    const rows = together.map(async ({ ahead }) => ahead?.rows)
    expect(await Promise.all(rows)).toEqual([
      [{ value: 12 }],
      [{ value: 6 }],
      [{ value: 4 }],
      [{ value: 3 }],
    ])
    expect(together.map(({ decision }) => decision.remaining)).toEqual([268, 267, 266, 265])
  })

  it('is not even asked for after a refusal, and is answered to nobody who is refused', async () => {
    const key = await createKey()
    const admit = startReading(2)
    const { caller } = await admit(key)
    expect(await (await admit(key, () => readOf(1))).ahead?.rows).toHaveLength(1)
    expect((await admit(key, () => readOf(1))).decision.isAllowed).toBe(false)
    const asked: string[] = []
    const ask = () => {
      asked.push('read')
      return readOf(1)
    }
    expect((await admit(key, ask)).ahead).toBeUndefined()
    await runChange({ actor: SYSTEM_ACTOR }, (change) => revokeApiKey(change, caller.id))
    await expect(admit(key, ask)).rejects.toMatchObject(refusal)
    await expect(admit(`k2sk_v1_${'0'.repeat(46)}`, ask)).rejects.toMatchObject(refusal)
    expect(asked).toEqual([])
  })

  it('is refused with its key that was revoked since it was let through', async () => {
    const key = await createKey()
    const admit = startReading(270)
    const { caller } = await admit(key)
    await runChange({ actor: SYSTEM_ACTOR }, (change) => revokeApiKey(change, caller.id))
    await expect(admit(key, () => readOf(1))).rejects.toMatchObject(refusal)
  })

  it('takes one place and fails for nobody else when it fails', async () => {
    const key = await createKey()
    const admit = startReading(270)
    await admit(key)
    const [failed, other] = await Promise.all([
      admit(key, () => readOf(0)),
      admit(key, () => readOf(1)),
    ])
    await expect(failed.ahead?.rows).rejects.toThrow('division by zero')
    expect(await other.ahead?.rows).toEqual([{ value: 12 }])
    expect(failed.decision.remaining).toBe(268)
    expect(other.decision.remaining).toBe(267)
  })

  it('holds up nobody for long while it waits for a table that is locked', async () => {
    const key = await createKey()
    const admit = startReading(270)
    await admit(key)
    await whilePeopleAreLocked(async (unlock) => {
      const statement = sql`select id from person`.compile(pool.preparedDb)
      const locked = () => ({ ...readOf(1), statement })
      // Whoever is in the same group reads without waiting any longer, and later groups do not notice.
      const before = admit(key)
      const [waiting, beside] = await Promise.all([admit(key, locked), admit(key, () => readOf(2))])
      await before
      const readBeside = readRows(pool.preparedDb, readOf(2).statement, beside.ahead)
      expect(await readBeside).toEqual([{ value: 6 }])
      for (let request = 0; request < 8; request += 1) {
        const other = await admit(key, () => readOf(1))
        expect([await other.ahead?.rows, other.decision.isAllowed]).toEqual([[{ value: 12 }], true])
      }
      await unlock()
      expect(await waiting.ahead?.rows).toEqual([])
    })
  })

  it('goes along for few at once while it takes long', async () => {
    const key = await createKey()
    const large = openDatabase<Schema>(database.connection, {
      network: new DatabaseNetwork(),
      poolMax: 16,
      logError: () => undefined,
    })
    const admit = createKeyAdmission({ db: large.preparedDb, clock, requestsPerMinute: 270 })
    await admit(key)
    await whilePeopleAreLocked(async () => {
      const statement = sql`select id from person`.compile(large.preparedDb)
      const aheads: unknown[] = []
      for (let request = 0; request < 6; request += 1) {
        const { ahead } = await admit(key, () => ({ db: large.preparedDb, statement, rowsMax: 1 }))
        aheads.push(ahead === undefined ? 'not read' : 'on its way')
      }
      expect(aheads).toEqual([...Array<string>(4).fill('on its way'), 'not read', 'not read'])
    })
    await large.close()
  })

  it('goes along for a quarter of a small pool, and for none of the smallest', async () => {
    const key = await createKey()
    for (const [poolMax, goes] of [
      [4, true],
      [3, false],
    ] as const) {
      const small = openDatabase<Schema>(database.connection, {
        network: new DatabaseNetwork(),
        poolMax,
        logError: () => undefined,
      })
      const admit = createKeyAdmission({ db: small.preparedDb, clock, requestsPerMinute: 270 })
      await admit(key)
      await whilePeopleAreLocked(async () => {
        const statement = sql`select id from person`.compile(small.preparedDb)
        const read = () => ({ db: small.preparedDb, statement, rowsMax: 1 })
        const aheads = [(await admit(key, read)).ahead, (await admit(key, read)).ahead]
        expect(aheads.map((ahead) => ahead !== undefined)).toEqual([goes, false])
      })
      await small.close()
    }
  })

  it('goes along for sixteen at most, and waits behind them as long as they go on', async () => {
    const key = await createKey()
    const admit = startReading(270)
    await admit(key)
    const slow = (value: number) => ({
      ...readOf(value),
      statement: sql`select ${value}::integer as value, pg_sleep(0.03)::text as slept`.compile(
        pool.preparedDb,
      ),
    })
    const before = admit(key)
    const values = Array.from({ length: 20 }, (_, index) => index)
    const admissions = await Promise.all(values.map((value) => admit(key, () => slow(value))))
    await before
    expect(admissions.map(({ ahead }) => ahead !== undefined)).toEqual(
      values.map((value) => value < 16),
    )
    const last = admissions[15]?.ahead
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const rows = readRows(pool.preparedDb, slow(15).statement, last)
    let endedCount = last?.progress?.endedCount ?? 0
    for (const { ahead } of admissions.slice(0, 16)) {
      await ahead?.rows
      await setImmediate()
      // A busy machine may hear of several at once.
      if (last?.progress?.endedCount === endedCount) continue
      endedCount = last?.progress?.endedCount ?? 0
      vi.advanceTimersByTime(250)
    }
    expect(await rows).toBe(await last?.rows)
  })

  it('waits where there is more than a page of it', async () => {
    const key = await createKey()
    const admit = startReading(270)
    await admit(key)
    await admit(key)
    const first = admit(key)
    const [one, two] = await Promise.all([
      admit(key, () => readOf(1, 101)),
      admit(key, () => readOf(1, 101)),
    ])
    await first
    expect([await one.ahead?.rows, two.ahead]).toEqual([[{ value: 12 }], undefined])
  })
})
