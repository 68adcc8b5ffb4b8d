import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Agents, expectNodeInvalid, type ReadAnswer } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { CommitNotifier } from '../../platform/db/commit-notifier.ts'
import { createListener, type Listener } from '../../platform/db/listener.ts'
import { requestCheckRefresh } from '../../posture/checks/request-check-refresh.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { nextRoundAtMs } from '../../posture/osquery/check-schedule.ts'
import type { HeldReads } from '../../posture/osquery/held-reads.ts'
import { hurryDevices } from '../../posture/osquery/hurried-devices.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

/** Longer than any test takes: what ends such a hold is not its time. */
const LONG_HOLD_MS = 10 * MINUTE_MS

let agents: Agents
let listener: Listener
let app: FastifyInstance
let reads: HeldReads
let nodeKey: string
let checkId: string
let answeredAt: Date

beforeEach(async () => {
  agents = await Agents.create(db)
  listener = createListener(database.connection, {
    log: pino({ level: 'silent' }),
    network: new DatabaseNetwork(),
  })
  listener.start()
  checkId = await agents.posture.insertCheck()
})
afterEach(async () => {
  await agents.close()
  await listener.stop()
})

/** A process that holds so long, and a device that has answered its checks. */
async function begin(checkInHoldMs: number): Promise<void> {
  ;({ app, reads } = agents.build({ checkInHoldMs }, { listener }))
  await listener.whenListening()
  nodeKey = await agents.enroll({}, app)
  await agents.read(nodeKey, app)
  await agents.answer(nodeKey, { [`check:${checkId}:1`]: 'PASS' }, app)
  answeredAt = agents.posture.clock.now()
  agents.posture.clock.advance(10 * MINUTE_MS)
  // The service looks a device up again after its answers.
  await agents.post('config', { node_key: nodeKey }, {}, app)
}

/** A request for work that is being held. */
async function hold(): Promise<{ readonly answer: Promise<ReadAnswer> }> {
  const answer = agents.read(nodeKey, app)
  await expect.poll(() => reads.count()).toBe(1)
  return { answer }
}

const askAgain = () => agents.posture.change((change) => requestCheckRefresh(change, '1', checkId))

test('a hold that ends with nothing lasts as long as it should and asks the database nothing', async () => {
  await begin(300)
  agents.queryCount = 0
  const startMs = performance.now()
  expect((await agents.read(nodeKey, app)).queries).toEqual({})
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(290)
  expect([agents.queryCount, reads.count()]).toEqual([0, 0])
})

test('a rerun that is asked for in another process reaches a held device at once', async () => {
  await begin(LONG_HOLD_MS)
  const { answer } = await hold()
  await askAgain()
  expect(Object.keys((await answer).queries)).toEqual([`check:${checkId}:1`])
  expect(reads.count()).toBe(0)
})

test('a live query reaches a held device when its intake is told', async () => {
  await begin(LONG_HOLD_MS)
  const { answer } = await hold()
  agents.liveQueries = { 'live:7': 'select 7' }
  reads.wake('1')
  expect((await answer).queries).toEqual({ 'live:7': 'select 7' })
})

test('a round reaches a held device when it is due', async () => {
  await begin(LONG_HOLD_MS)
  const dueAtMs = nextRoundAtMs('1', answeredAt, HOUR_MS)
  agents.posture.clock.set(new Date(dueAtMs - 100))
  const { answer } = await hold()
  agents.posture.clock.advance(100)
  expect(Object.keys((await answer).queries)).toEqual([`check:${checkId}:1`])
})

test('news that bring no work leave a device held', async () => {
  await begin(LONG_HOLD_MS)
  const { answer } = await hold()
  reads.wake('1')
  await sleep(50)
  expect(reads.count()).toBe(1)
  reads.close()
  expect((await answer).queries).toEqual({})
  expect((await agents.read(nodeKey, app)).queries).toEqual({})
})

test('a second request of the same device answers the first', async () => {
  await begin(LONG_HOLD_MS)
  const first = await hold()
  const second = agents.read(nodeKey, app)
  expect((await first.answer).queries).toEqual({})
  expect(reads.count()).toBe(1)
  await askAgain()
  expect(Object.keys((await second).queries)).toHaveLength(1)
})

test('a device that disconnects gives its place back, and nothing is handed out to it', async () => {
  await begin(LONG_HOLD_MS)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path: '/osquery/distributed/read',
    method: 'POST',
  })
  outgoing.end(JSON.stringify({ node_key: nodeKey }))
  await expect.poll(() => reads.count()).toBe(1)
  const failed = once(outgoing, 'error')
  outgoing.destroy(new Error('gone'))
  await failed
  await expect.poll(() => reads.count()).toBe(0)
  await askAgain()
  await expect
    .poll(async () => Object.keys((await agents.read(nodeKey, app)).queries))
    .toHaveLength(1)
})

test('a device whose key is revoked is not left waiting', async () => {
  await begin(LONG_HOLD_MS)
  const { answer } = await hold()
  await agents.posture.change((change) => revokeDeviceNode(change, '1'))
  expect((await answer).queries).toEqual({})
  expectNodeInvalid(await agents.post('distributed/read', { node_key: nodeKey }, {}, app))
})

test('work that a held device did not get is handed out once more when it asks again', async () => {
  await begin(LONG_HOLD_MS)
  const { answer } = await hold()
  await askAgain()
  expect(Object.keys((await answer).queries)).toHaveLength(1)
  expect(Object.keys((await agents.read(nodeKey, app)).queries)).toHaveLength(1)
  await agents.answer(nodeKey, { [`check:${checkId}:1`]: 'PASS' }, app)
  const again = await hold()
  reads.close()
  expect((await again.answer).queries).toEqual({})
})

test('work that a held device has answered is not handed out again', async () => {
  await begin(LONG_HOLD_MS)
  const { answer } = await hold()
  await askAgain()
  await answer
  agents.posture.clock.advance(SECOND_MS)
  await agents.answer(nodeKey, { [`check:${checkId}:1`]: 'PASS' }, app)
  const next = await hold()
  reads.close()
  expect((await next.answer).queries).toEqual({})
})

test('a device that somebody waits for is held longer, comes back sooner and is not slowed down', async () => {
  ;({ app, reads } = agents.build(
    { checkInHoldMs: 1, hurried: { checkInIntervalSeconds: 1, checkInHoldMs: LONG_HOLD_MS } },
    { listener },
  ))
  await listener.whenListening()
  nodeKey = await agents.enroll({}, app)
  expect((await agents.read(nodeKey, app)).accelerate).toBe(120)
  await agents.answer(nodeKey, { [`check:${checkId}:1`]: 'PASS' }, app)
  const interval = async () => {
    const answer = await agents.post('config', { node_key: nodeKey }, {}, app)
    return answer.json<{ options: object }>().options
  }
  expect(await interval()).toMatchObject({ distributed_interval: 5 })
  const untilMs = agents.posture.clock.now().getTime() + MINUTE_MS
  hurryDevices(new CommitNotifier({ db, logError: () => undefined }), ['1'], untilMs)
  await expect.poll(interval).toMatchObject({ distributed_interval: 1 })
  const { answer } = await hold()
  reads.wake('1')
  await sleep(20)
  expect(reads.count()).toBe(1)
  reads.close()
  expect((await answer).accelerate).toBeUndefined()
  agents.posture.clock.advance(MINUTE_MS)
  expect(await interval()).toMatchObject({ distributed_interval: 5 })
})

test('a device that has issues is held longer and comes back sooner in every process, until they are resolved', async () => {
  const settings = {
    checkInHoldMs: 1,
    hurried: { checkInIntervalSeconds: 1, checkInHoldMs: LONG_HOLD_MS },
  }
  ;({ app, reads } = agents.build(settings, { listener }))
  const deaf = agents.build(settings)
  await listener.whenListening()
  nodeKey = await agents.enroll({}, app)
  const interval = async (process: FastifyInstance) => {
    const answer = await agents.post('config', { node_key: nodeKey }, {}, process)
    return answer.json<{ options: { distributed_interval: number } }>().options.distributed_interval
  }
  const report = async (status: 'FAIL' | 'PASS') =>
    agents.posture.report('1', { [checkId]: [{ KOLIDE_CHECK_STATUS: status }] })
  expect(await interval(app)).toBe(5)
  await report('FAIL')
  await expect.poll(async () => interval(app)).toBe(1)
  // A process that begins only now has it from the database.
  expect(await interval(deaf.app)).toBe(1)
  const { answer } = await hold()
  reads.close()
  expect((await answer).accelerate).toBeUndefined()
  await report('PASS')
  await expect.poll(async () => interval(app)).toBe(5)
})
