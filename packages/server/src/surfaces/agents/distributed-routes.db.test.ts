import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  Agents,
  expectFailure,
  expectNodeInvalid,
  type ReadAnswer,
} from '../../../test/support/agent-fixtures.ts'
import { ReportProblems } from '../../../test/support/report-problems.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { FAIL } from '../../../test/support/posture-fixtures.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { createListener, notify } from '../../platform/db/listener.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
const problems = new ReportProblems(db)
beforeEach(async () => {
  agents = await Agents.create(db)
  await problems.begin()
})
afterEach(() => agents.close())

describe('distributed read', () => {
  test('a new device gets all its checks, each with a discovery that holds, and polls quickly', async () => {
    const [first, second] = [
      await agents.posture.insertCheck(),
      await agents.posture.insertCheck({ revision: 4 }),
    ]
    await agents.posture.insertCheck({ platforms: ['windows'] })
    await agents.posture.insertCheck({ type: 'external' })
    const nodeKey = await agents.enroll()
    const answer = await agents.read(nodeKey)
    const ids = [`check:${first}:1`, `check:${second}:4`]
    expect(Object.keys(answer.queries)).toEqual(ids)
    expect(answer.discovery).toEqual(Object.fromEntries(ids.map((id) => [id, 'SELECT 1'])))
    expect(answer.accelerate).toBe(120)
  })

  test('work that a device asks for again is handed out three times in a row, then not before its time-out', async () => {
    await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    for (let round = 0; round < 2; round += 1) {
      for (let time = 0; time < 3; time += 1) {
        expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
      }
      expect((await agents.read(nodeKey)).queries).toEqual({})
      const before = agents.queryCount
      agents.posture.clock.advance(5 * MINUTE_MS - 1)
      expect((await agents.read(nodeKey)).queries).toEqual({})
      expect(agents.queryCount).toBe(before)
      agents.posture.clock.advance(1)
    }
  })

  test('a device whose answer another process took gets its next round in time where it got this one', async () => {
    const check = await agents.posture.insertCheck()
    const settings = { checkIntervalMs: MINUTE_MS }
    const [one, other] = [agents.build(settings).app, agents.build(settings).app]
    const nodeKey = await agents.enroll({}, one)
    expect(Object.keys((await agents.read(nodeKey, one)).queries)).toHaveLength(1)
    agents.posture.clock.advance(SECOND_MS)
    await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' }, other)
    // The clocks of two processes may differ a little: this one had asked later than that.
    await db
      .updateTable('device_round')
      .set({ ran_at: new Date(agents.posture.clock.now().getTime() - 2 * SECOND_MS) })
      .execute()
    await db
      .updateTable('device')
      .set({ checks_ran_at: new Date(agents.posture.clock.now().getTime() - 2 * SECOND_MS) })
      .execute()
    expect((await agents.read(nodeKey, one)).queries).toEqual({})
    // Long before what was handed out counts as lost.
    agents.posture.clock.advance(2 * MINUTE_MS)
    expect(Object.keys((await agents.read(nodeKey, one)).queries)).toHaveLength(1)
  })

  test('an idle check-in touches no database', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    await agents.post('distributed/write', {
      node_key: nodeKey,
      queries: { [`check:${check}:1`]: [{ KOLIDE_CHECK_STATUS: 'PASS' }] },
      statuses: { [`check:${check}:1`]: 0 },
    })
    await agents.read(nodeKey)
    agents.queryCount = 0
    for (let index = 0; index < 20; index += 1) {
      agents.posture.clock.advance(MINUTE_MS)
      expect((await agents.read(nodeKey)).queries).toEqual({})
    }
    expect(agents.queryCount).toBe(0)
  })

  test('the next round is due after the interval and at most a tenth more, also after a restart', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' })
    agents.posture.clock.advance(HOUR_MS - 1)
    const { app: restarted } = agents.build()
    expect((await agents.read(nodeKey, restarted)).queries).toEqual({})
    expect((await agents.read(nodeKey)).queries).toEqual({})
    agents.posture.clock.advance(HOUR_MS / 10 + 1)
    expect(Object.keys((await agents.read(nodeKey, restarted)).queries)).toHaveLength(1)
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
  })

  test('a round that is answered in part is due again after the time-out', async () => {
    const [first] = [await agents.posture.insertCheck(), await agents.posture.insertCheck()]
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    await agents.answer(nodeKey, { [`check:${first}:1`]: 'PASS' })
    expect((await agents.read(nodeKey)).queries).toEqual({})
    agents.posture.clock.advance(5 * MINUTE_MS)
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(2)
  })

  test('a requested rerun is handed out at once and alone, with quick polling, until it is answered', async () => {
    const [first, second] = [await agents.posture.insertCheck(), await agents.posture.insertCheck()]
    const listener = createListener(database.connection, {
      log: pino({ level: 'silent' }),
      network: new DatabaseNetwork(),
    })
    listener.start()
    const { app: other } = agents.build({}, { listener })
    await listener.whenListening()
    const nodeKey = await agents.enroll({}, other)
    await agents.read(nodeKey, other)
    await agents.answer(
      nodeKey,
      { [`check:${first}:1`]: 'PASS', [`check:${second}:1`]: 'PASS' },
      other,
    )
    agents.posture.clock.advance(10 * MINUTE_MS)
    expect((await agents.read(nodeKey, other)).queries).toEqual({})

    await agents.posture.change(async (change) => {
      await change.tx
        .insertInto('check_refresh')
        .values({ device_id: '1', check_id: second, requested_at: change.at })
        .execute()
      await notify(change.tx, 'device', '1')
    })
    let answer: ReadAnswer = { queries: {} }
    await expect
      .poll(async () => Object.keys((answer = await agents.read(nodeKey, other)).queries))
      .toEqual([`check:${second}:1`])
    expect(answer.accelerate).toBe(120)
    agents.posture.clock.advance(5 * SECOND_MS)
    await agents.answer(nodeKey, { [`check:${second}:1`]: 'PASS' }, other)
    expect((await agents.read(nodeKey, other)).queries).toEqual({})
    expect(await db.selectFrom('check_refresh').selectAll().execute()).toEqual([])
    await listener.stop()
  })

  test('an answer to some of its checks does not have a device looked up again', async () => {
    const [first] = [await agents.posture.insertCheck(), await agents.posture.insertCheck()]
    const nodeKey = await agents.enroll()
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(2)
    await agents.answer(nodeKey, { [`check:${first}:1`]: 'FAIL' })
    const before = agents.queryCount
    expect((await agents.read(nodeKey)).queries).toEqual({})
    expect(agents.queryCount).toBe(before)
  })

  test('an answer to all of them does not either, and its round has ended all the same', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
    await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' })
    const before = agents.queryCount
    agents.posture.clock.advance(59 * MINUTE_MS)
    expect((await agents.read(nodeKey)).queries).toEqual({})
    expect(agents.queryCount).toBe(before)
    agents.posture.clock.advance(8 * MINUTE_MS)
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
  })

  test('live queries ride along and their answers are handed on', async () => {
    const nodeKey = await agents.enroll()
    agents.liveQueries = { 'live:7': 'select 7' }
    expect((await agents.read(nodeKey)).queries).toEqual({ 'live:7': 'select 7' })
    await agents.post('distributed/write', {
      node_key: nodeKey,
      queries: { 'live:7': [{ a: '7' }], 'nobody:1': [{}] },
      statuses: { 'live:7': 0 },
    })
    expect(agents.liveResults).toEqual([
      { id: 'live:7', rows: [{ a: '7' }], statusCode: 0, message: '' },
    ])
  })
})

describe('a clock that was set back', () => {
  test('leaves a round due at once instead of when the clock is as late again', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' })
    expect((await agents.read(nodeKey)).queries).toEqual({})
    agents.posture.clock.advance(-6 * HOUR_MS)
    const { app: restarted } = agents.build()
    const answer = await agents.read(nodeKey)
    expect(Object.keys(answer.queries)).toEqual([`check:${check}:1`])
    expect(Object.keys((await agents.read(nodeKey, restarted)).queries)).toHaveLength(1)
    await agents.answer(nodeKey, { [`check:${check}:1`]: 'FAIL' })
    expect(agents.posture.announced.at(-1)?.current.authState).toBe('Blocked')
    expect((await agents.read(nodeKey)).queries).toEqual({})
    agents.posture.clock.advance(1.1 * HOUR_MS)
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
  })

  test('does not have a device poll quickly for as long as the clock lost', async () => {
    await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    expect((await agents.read(nodeKey)).accelerate).toBe(120)
    agents.posture.clock.advance(-6 * HOUR_MS)
    expect((await agents.read(nodeKey)).accelerate).toBeUndefined()
  })
})

describe('distributed write', () => {
  const readResults = () =>
    db.selectFrom('check_result').select(['status', 'error_message']).orderBy('check_id').execute()

  test('answers become results, issues and the status of the device', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    const answer = await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' })
    expect(answer.json()).toEqual({})
    expect(agents.posture.announced.at(-1)?.current.authState).toBe('Good')
    await agents.post('distributed/write', {
      node_key: nodeKey,
      queries: { [`check:${check}:1`]: FAIL },
    })
    expect(agents.posture.announced.at(-1)?.current.authState).toBe('Blocked')
  })

  test('what old and new agents send is understood: "" for no rows, texts for statuses, missing maps', async () => {
    const checks: string[] = []
    for (let index = 0; index < 5; index += 1)
      checks.push(`check:${await agents.posture.insertCheck()}:1`)
    const [empty = '', text = '', textError = '', noStatus = '', denylisted = ''] = checks
    const nodeKey = await agents.enroll()
    await agents.post('distributed/write', {
      node_key: nodeKey,
      queries: { [empty]: '', [text]: FAIL, [textError]: FAIL, [noStatus]: FAIL },
      statuses: { [empty]: 0, [text]: '0', [textError]: '1', [denylisted]: 1 },
      messages: { [denylisted]: 'distributed query is denylisted' },
    })
    expect(await readResults()).toEqual([
      { status: 'errored', error_message: 'The query answered no row.' },
      { status: 'failing', error_message: null },
      { status: 'errored', error_message: 'The query failed with status 1.' },
      { status: 'failing', error_message: null },
      { status: 'errored', error_message: 'distributed query is denylisted' },
    ])
  })

  test('unknown ids, other revisions and repeated answers are harmless', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    const strange = {
      [`check:${check}:2`]: 'FAIL',
      'check:999:1': 'FAIL',
      'check:x:1': 'FAIL',
      other: 'FAIL',
    }
    expect((await agents.answer(nodeKey, strange)).statusCode).toBe(200)
    expect(await readResults()).toEqual([{ status: 'pending', error_message: null }])
    for (let index = 0; index < 2; index += 1) {
      expect((await agents.answer(nodeKey, { [`check:${check}:1`]: 'FAIL' })).statusCode).toBe(200)
    }
    expect(await db.selectFrom('issue').select('id').execute()).toHaveLength(1)
  })

  test('answers are acknowledged only once they are stored', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    agents.fault = Object.assign(new Error('the database restarts'), { code: '57P01' })
    expectFailure(await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' }), 503)
    agents.fault = undefined
    expect(await readResults()).toEqual([{ status: 'pending', error_message: null }])
    expect((await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' })).statusCode).toBe(200)
    expect(await readResults()).toEqual([{ status: 'passing', error_message: null }])
  })

  test('answers that come one by one and all at once are stored together, by one change at a time', async () => {
    const checks = []
    for (let index = 0; index < 12; index += 1) checks.push(await agents.posture.insertCheck())
    let running = 0
    let runningMax = 0
    let changes = 0
    const { app } = agents.build(
      {},
      {
        runChange: async (origin, work) => {
          changes += 1
          running += 1
          runningMax = Math.max(runningMax, running)
          return agents.posture.runChange(origin, work).finally(() => (running -= 1))
        },
      },
    )
    const nodeKey = await agents.enroll({}, app)
    await agents.read(nodeKey, app)
    changes = 0
    const answers = await Promise.all(
      checks.map((check) => agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' }, app)),
    )
    expect(answers.map((answer) => answer.body)).toEqual(checks.map(() => '{}'))
    expect((await readResults()).map(({ status }) => status)).toEqual(checks.map(() => 'passing'))
    expect(runningMax).toBe(1)
    expect(changes).toBeLessThan(checks.length / 2)
  })

  test('an answer that is too large is an error of its query, and the others count', async () => {
    const large = await agents.posture.insertCheck()
    const small = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    const rows = [{ KOLIDE_CHECK_STATUS: 'PASS' }]
    const body = {
      queries: {
        [`check:${large}:1`]: [{ text: 'x'.repeat(6_000_000) }],
        [`check:${small}:1`]: rows,
      },
      statuses: { [`check:${large}:1`]: 0, [`check:${small}:1`]: 0 },
      node_key: nodeKey,
    }
    expect((await agents.post('distributed/write', body)).json()).toEqual({})
    expect(await readResults()).toEqual([
      { status: 'errored', error_message: expect.stringContaining('too large') as string },
      { status: 'passing', error_message: null },
    ])
    expect(await problems.list()).toEqual([{ kind: 'answer_too_large', table_name: null }])
  })

  test('a device that has been removed is told that its key has ended', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    await db.deleteFrom('device').execute()
    expectNodeInvalid(await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' }))
    expectNodeInvalid(await agents.post('distributed/read', { node_key: nodeKey }))
  })
})

describe('a check that another system reports', () => {
  test('is not answered by the device, whatever it claims', async () => {
    const external = await agents.posture.insertCheck({ type: 'external' })
    const own = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.answer(nodeKey, { [`check:${own}:1`]: 'PASS', [`check:${external}:1`]: 'PASS' })
    const answered = await db.selectFrom('check_result').select(['check_id', 'status']).execute()
    expect(answered.toSorted((a, b) => Number(a.check_id) - Number(b.check_id))).toEqual([
      { check_id: external, status: 'unknown' },
      { check_id: own, status: 'passing' },
    ])
  })
})
