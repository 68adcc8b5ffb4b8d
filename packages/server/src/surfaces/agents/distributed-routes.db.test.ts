import { PassThrough } from 'node:stream'
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
import { DatabaseNetwork } from '../../platform/db/database-network.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
/** The audit log cannot be emptied: what was told in other tests. */
let problemsBefore = 0
beforeEach(async () => {
  agents = await Agents.create(db)
  problemsBefore = 0
  problemsBefore = (await readProblems()).length
})
afterEach(() => agents.close())

/** What admins were told of messages that could not be taken as a whole. */
async function readProblems() {
  const entries = await db
    .selectFrom('audit_entry')
    .select('after')
    .where('action', '=', 'device.report_cut')
    .orderBy('sequence')
    .execute()
  return entries.slice(problemsBefore).map(({ after }) => after)
}

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
    expect((await agents.read(nodeKey, other)).queries).toEqual({})
    agents.posture.clock.advance(5 * SECOND_MS)
    await agents.answer(nodeKey, { [`check:${second}:1`]: 'PASS' }, other)
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
    expect(await readProblems()).toEqual([{ kind: 'answer_too_large', table_name: null }])
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
    expect(answered).toEqual([{ check_id: own, status: 'passing' }])
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

  test('the newest snapshot of each reported table is handed on, whatever else is in the message', async () => {
    const nodeKey = await agents.enroll()
    const data = [
      line(),
      line({ name: 'other', snapshot: [{}] }),
      line({ name: 'report:unknown', snapshot: [{}] }),
      line({ unixTime: '1767000001', counter: '4', snapshot: [{ vendor: 'A', model_id: 7 }] }),
      line({ unixTime: 1_766_000_000, snapshot: '' }),
      { name: 'report:usb_devices', columns: {}, action: 'added' },
      'not a line of report:usb_devices',
    ]
    const answer = await agents.post('log', log(nodeKey, data as object[]))
    expect(answer.json()).toEqual({})
    expect(agents.snapshots).toMatchObject([
      {
        tableName: 'usb_devices',
        unixTime: 1_767_000_001,
        epoch: 0,
        counter: 4,
        content: { text: '[{"vendor":"A","model_id":"7"}]' },
      },
    ])
  })

  test('a snapshot without rows, as old agents write it, is one', async () => {
    const nodeKey = await agents.enroll()
    await agents.post('log', log(nodeKey, [line({ snapshot: '' })]))
    expect(agents.snapshots).toMatchObject([{ content: { text: '[]' } }])
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

  const send = (payload: Buffer, headers: Record<string, string> = {}) =>
    agents.app.inject({
      method: 'POST',
      url: '/osquery/log',
      headers: { 'content-encoding': 'gzip', ...headers },
      payload,
    })

  test('gzip is understood, and what is not gzip is refused', async () => {
    const nodeKey = await agents.enroll()
    const authorization = `NodeKey ${nodeKey}`
    const whole = gzipSync(JSON.stringify(log(nodeKey, [line()])))
    expect((await send(whole, { authorization })).json()).toEqual({})
    expect(agents.snapshots).toHaveLength(1)
    expectFailure(await send(Buffer.from('no gzip'), { authorization }), 400)
    expectFailure(await send(gzipSync('x').subarray(0, 10), { authorization }), 400)
    const other = { authorization, 'content-encoding': 'br' }
    expectFailure(await send(Buffer.from('x'), other), 400)
  })

  test('a log of any size is taken: what is beyond the limit is left out and told', async () => {
    const { app } = agents.build({
      bodyBytesMax: { enroll: 65_536, read: 65_536, write: 65_536, log: 400_000 },
    })
    const nodeKey = await agents.enroll({}, app)
    const filler = { name: 'other', columns: { text: 'x'.repeat(500_000) } }
    const data = [line(), filler, line({ unixTime: 1_767_000_009 })]
    expect((await agents.post('log', log(nodeKey, data), {}, app)).json()).toEqual({})
    expect(agents.snapshots).toMatchObject([{ unixTime: 1_767_000_000 }])
    expect(await readProblems()).toEqual([{ kind: 'lines_left_out', table_name: null }])
  })

  test('of more lines than agents ever send the first are taken', async () => {
    const nodeKey = await agents.enroll()
    const authorization = `NodeKey ${nodeKey}`
    const data = `[${JSON.stringify(line())},${'0,'.repeat(300_000)}${JSON.stringify(line({ unixTime: 1_768_000_000 }))}]`
    const many = gzipSync(`{"log_type":"result","data":${data}}`)
    expect((await send(many, { authorization })).json()).toEqual({})
    expect(agents.snapshots).toMatchObject([{ unixTime: 1_767_000_000 }])
    expect(await readProblems()).toEqual([{ kind: 'lines_left_out', table_name: null }])
  })

  test('a line that is too long is left out and told, and the others are taken', async () => {
    const nodeKey = await agents.enroll()
    const long = line({ snapshot: [{ vendor: 'x'.repeat(3_000_000) }], unixTime: 1_768_000_000 })
    expect((await agents.post('log', log(nodeKey, [long, line()]))).json()).toEqual({})
    expect(agents.snapshots).toMatchObject([{ unixTime: 1_767_000_000 }])
    expect(await readProblems()).toMatchObject([{ kind: 'line_too_long' }])
  })

  test('a wide snapshot is cut and told, once a day at most', async () => {
    const nodeKey = await agents.enroll()
    const wide = line({ snapshot: [{ vendor: 'x'.repeat(10_000) }] })
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await agents.post('log', log(nodeKey, [wide]))).json()).toEqual({})
    }
    expect(agents.snapshots[0]?.content.cutValueCount).toBe(1)
    expect(await readProblems()).toEqual([{ kind: 'snapshot_cut', table_name: 'usb_devices' }])
  })

  test('snapshots that an option turns into events are told to admins', async () => {
    const nodeKey = await agents.enroll()
    const row = { ...line(), snapshot: undefined, columns: { vendor: 'A' } }
    expect((await agents.post('log', log(nodeKey, [row]))).json()).toEqual({})
    expect(await readProblems()).toMatchObject([{ kind: 'snapshots_as_events' }])
  })

  test('lines that the agent drops itself are told to admins', async () => {
    const nodeKey = await agents.enroll()
    const status = { message: 'Linesize exceeds TLS logger maximum: 2000000', severity: '1' }
    expect((await agents.post('log', log(nodeKey, [status], 'status'))).json()).toEqual({})
    expect(await readProblems()).toMatchObject([{ kind: 'line_dropped_by_agent' }])
  })

  describe('of senders that are not known yet', () => {
    const big = (nodeKey: string, bytes: number) =>
      `{"data":[${JSON.stringify(line())},"${'x'.repeat(bytes)}"],"log_type":"result","node_key":"${nodeKey}"}`

    test('the key may come last', async () => {
      const nodeKey = await agents.enroll()
      const body = big(nodeKey, 500_000)
      expect((await agents.post('log', body)).json()).toEqual({})
      expect((await send(gzipSync(body))).json()).toEqual({})
      expect(agents.snapshots).toHaveLength(2)
    })

    test('nothing is decompressed beyond a ratio before the key is known', async () => {
      const nodeKey = await agents.enroll()
      const bomb = gzipSync(big(nodeKey, 9_000_000))
      expect(bomb.length).toBeLessThan(12_000)
      expectFailure(await send(bomb), 413)
      expect(agents.snapshots).toEqual([])
      const known = await send(bomb, { authorization: `NodeKey ${nodeKey}` })
      expect(known.json()).toEqual({})
    })

    test('values that never end are held up to the share of their address', async () => {
      const begun = Buffer.from(`{"data":["${'x'.repeat(2_000_000)}`)
      const bodies = Array.from({ length: 18 }, () => new PassThrough())
      const answers = bodies.map((payload) =>
        agents.app.inject({ method: 'POST', url: '/osquery/log', payload }),
      )
      for (const body of bodies) body.write(begun)
      expectFailure(await Promise.race(answers), 429)
      for (const body of bodies) body.end()
      await Promise.all(answers)
    })

    test('an address that fails too often has to show its key early', async () => {
      const { app } = agents.build({ failuresPerAddressPerMinute: 2 })
      const nodeKey = await agents.enroll({}, app)
      for (let index = 0; index < 2; index += 1) {
        expectNodeInvalid(await agents.post('config', { node_key: 'wrong' }, {}, app))
      }
      expectFailure(await agents.post('log', big(nodeKey, 500_000), {}, app), 429)
      expect((await agents.post('log', big(nodeKey, 10_000), {}, app)).json()).toEqual({})
      const early = log(nodeKey, [line(), { text: 'x'.repeat(500_000) }])
      expect((await agents.post('log', early, {}, app)).json()).toEqual({})
      expectNodeInvalid(await agents.post('config', { node_key: 'wrong' }, {}, app))
    })

    test('a key in the body that differs from that of the header is refused', async () => {
      const nodeKey = await agents.enroll()
      const headers = { authorization: `NodeKey ${nodeKey}` }
      expectFailure(await agents.post('log', big('another', 10), headers), 401)
    })
  })
})
