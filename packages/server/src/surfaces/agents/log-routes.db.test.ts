/* Logs of agents: which snapshots are handed on, and what is left out and told. */
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Agents, expectFailure, expectNodeInvalid } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { ReportProblems } from '../../../test/support/report-problems.ts'
import { AppError } from '../../platform/app-error.ts'

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
    expectFailure(await send(Buffer.from('x'), other), 415)
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
    expect(await problems.list()).toEqual([{ kind: 'lines_left_out', table_name: null }])
  })

  test('of more lines than agents ever send the first are taken', async () => {
    const nodeKey = await agents.enroll()
    const authorization = `NodeKey ${nodeKey}`
    const data = `[${JSON.stringify(line())},${'0,'.repeat(300_000)}${JSON.stringify(line({ unixTime: 1_768_000_000 }))}]`
    const many = gzipSync(`{"log_type":"result","data":${data}}`)
    expect((await send(many, { authorization })).json()).toEqual({})
    expect(agents.snapshots).toMatchObject([{ unixTime: 1_767_000_000 }])
    expect(await problems.list()).toEqual([{ kind: 'lines_left_out', table_name: null }])
  })

  test('a line that is too long is left out and told, and the others are taken', async () => {
    const nodeKey = await agents.enroll()
    const long = line({ snapshot: [{ vendor: 'x'.repeat(3_000_000) }], unixTime: 1_768_000_000 })
    expect((await agents.post('log', log(nodeKey, [long, line()]))).json()).toEqual({})
    expect(agents.snapshots).toMatchObject([{ unixTime: 1_767_000_000 }])
    expect(await problems.list()).toMatchObject([{ kind: 'line_too_long' }])
  })

  test('a wide snapshot is cut and told, once a day at most', async () => {
    const nodeKey = await agents.enroll()
    const wide = line({ snapshot: [{ vendor: 'x'.repeat(10_000) }] })
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await agents.post('log', log(nodeKey, [wide]))).json()).toEqual({})
    }
    expect(agents.snapshots[0]?.content.cutValueCount).toBe(1)
    expect(await problems.list()).toEqual([{ kind: 'snapshot_cut', table_name: 'usb_devices' }])
  })

  test('snapshots that an option turns into events are told to admins', async () => {
    const nodeKey = await agents.enroll()
    const row = { ...line(), snapshot: undefined, columns: { vendor: 'A' } }
    expect((await agents.post('log', log(nodeKey, [row]))).json()).toEqual({})
    expect(await problems.list()).toMatchObject([{ kind: 'snapshots_as_events' }])
  })

  test('lines that the agent drops itself are told to admins', async () => {
    const nodeKey = await agents.enroll()
    const status = { message: 'Linesize exceeds TLS logger maximum: 2000000', severity: '1' }
    expect((await agents.post('log', log(nodeKey, [status], 'status'))).json()).toEqual({})
    expect(await problems.list()).toMatchObject([{ kind: 'line_dropped_by_agent' }])
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
