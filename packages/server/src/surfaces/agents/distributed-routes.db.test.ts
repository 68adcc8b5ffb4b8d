import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  Agents,
  expectFailure,
  expectNodeInvalid,
  type ReadAnswer,
} from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { FAIL } from '../../../test/support/posture-fixtures.ts'
import { AppError } from '../../platform/app-error.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { createListener, notify } from '../../platform/db/listener.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
beforeEach(async () => {
  agents = await Agents.create(db)
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

  test('work that was handed out is not handed out again before its time-out', async () => {
    await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
    agents.posture.clock.advance(5 * MINUTE_MS - 1)
    expect((await agents.read(nodeKey)).queries).toEqual({})
    agents.posture.clock.advance(1)
    expect(Object.keys((await agents.read(nodeKey)).queries)).toHaveLength(1)
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
    const listener = createListener(database.connection, { log: pino({ level: 'silent' }) })
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
    expect((await agents.read(nodeKey, other)).queries).toEqual({})
    agents.posture.clock.advance(5 * SECOND_MS)
    await agents.answer(nodeKey, { [`check:${second}:1`]: 'PASS' }, other)
    expect(await db.selectFrom('check_refresh').selectAll().execute()).toEqual([])
    await listener.stop()
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

  test('a device that has been removed is told that its key has ended', async () => {
    const check = await agents.posture.insertCheck()
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    await db.deleteFrom('device').execute()
    expectNodeInvalid(await agents.answer(nodeKey, { [`check:${check}:1`]: 'PASS' }))
    expectNodeInvalid(await agents.post('distributed/read', { node_key: nodeKey }))
  })
})

describe('logs', () => {
  const line = (more: object = {}) => ({
    name: 'report:usb_devices',
    hostIdentifier: 'host-1',
    unixTime: 1_767_000_000,
    epoch: 0,
    counter: 3,
    snapshot: [{ vendor: 'A', model_id: 7 }],
    action: 'snapshot',
    ...more,
  })
  const log = (nodeKey: string, data: object[], type = 'result') => ({
    node_key: nodeKey,
    log_type: type,
    data,
  })

  test('snapshots of reported tables are handed on, whatever else is in the message', async () => {
    const nodeKey = await agents.enroll()
    const data = [
      line(),
      line({ name: 'other', snapshot: [{}] }),
      line({ unixTime: '1767000001', counter: '4', snapshot: '' }),
      { name: 'report:usb_devices', columns: {}, action: 'added' },
      'not a line',
    ]
    const answer = await agents.post('log', log(nodeKey, data as object[]))
    expect(answer.json()).toEqual({})
    expect(agents.snapshots).toEqual([
      {
        tableName: 'usb_devices',
        unixTime: 1_767_000_000,
        epoch: 0,
        counter: 3,
        rows: [{ vendor: 'A', model_id: '7' }],
      },
      { tableName: 'usb_devices', unixTime: 1_767_000_001, epoch: 0, counter: 4, rows: [] },
    ])
  })

  test('status lines and unknown log types are acknowledged', async () => {
    const nodeKey = await agents.enroll()
    for (const type of ['status', 'tomorrow']) {
      expect((await agents.post('log', log(nodeKey, [{ message: 'hello' }], type))).json()).toEqual(
        {},
      )
    }
  })

  test('a log that cannot be stored is not acknowledged', async () => {
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    agents.fault = new AppError('unavailable', 'Down.')
    expectFailure(await agents.post('log', log(nodeKey, [line()])), 503)
  })

  test('gzip is understood, and what is not gzip or grows too large is refused', async () => {
    const nodeKey = await agents.enroll()
    const send = (payload: Buffer, encoding = 'gzip') =>
      agents.app.inject({
        method: 'POST',
        url: '/osquery/log',
        headers: { 'content-encoding': encoding, authorization: `NodeKey ${nodeKey}` },
        payload,
      })
    expect((await send(gzipSync(JSON.stringify(log(nodeKey, [line()]))))).json()).toEqual({})
    expect(agents.snapshots).toHaveLength(1)
    expectFailure(await send(Buffer.from('no gzip')), 400)
    expectFailure(await send(gzipSync('x').subarray(0, 10)), 400)
    expectFailure(await send(Buffer.from('x'), 'br'), 400)
    expectFailure(await send(gzipSync(Buffer.alloc(11 * 1024 * 1024))), 413)
  })
})
