/*
 * Requests for work whose agent leaves before it is answered, as after a process was frozen or the database was away:
 * the next one is given what they would have been.
 */
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Agents, expectFailure } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import type { AgentSettings } from '../../posture/osquery/agent-settings.ts'
import type { HeldReads } from '../../posture/osquery/held-reads.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
let app: FastifyInstance
let reads: HeldReads
let nodeKey: string
let checkId: string

beforeEach(async () => {
  agents = await Agents.create(db)
  checkId = await agents.posture.insertCheck()
  build({ checkInHoldMs: 10 * MINUTE_MS })
  nodeKey = await agents.enroll({}, app)
  // From here on the process knows the device.
  await agents.post('config', { node_key: nodeKey }, {}, app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  agents.queryCount = 0
})
afterEach(() => agents.close())

/** How many requests the process has done with. */
let doneCount: number

function build(settings: Partial<AgentSettings>): void {
  ;({ app, reads } = agents.build(settings))
  doneCount = 0
  app.addHook('onSend', async () => void (doneCount += 1))
}

const toRequest = () => {
  const body = JSON.stringify({ node_key: nodeKey })
  const head = `host: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  return `POST /osquery/distributed/read HTTP/1.1\r\n${head}\r\n\r\n${body}`
}

async function open(): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const countConnections = () =>
  new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))

/** Requests for work on one connection, which is closed while the database makes the first wait. */
async function leave(
  table: 'device' | 'posture_check',
  close: (socket: Socket) => void = (socket) => void socket.destroy(),
  count = 1,
): Promise<void> {
  const doneBefore = doneCount
  await db.transaction().execute(async (tx) => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(tx)
    const socket = await open()
    socket.resume().write(toRequest().repeat(count))
    await waitForLock(db, count)
    close(socket)
    await expect.poll(countConnections).toBe(0)
    socket.destroy()
  })
  await expect.poll(() => doneCount).toBe(doneBefore + count)
}

const readIds = async () => Object.keys((await agents.read(nodeKey, app)).queries)
const ids = () => [`check:${checkId}:1`]

test.each([
  ['closed', (socket: Socket) => void socket.destroy()],
  ['closed on one side', (socket: Socket) => void socket.end()],
  ['broken', (socket: Socket) => void socket.resetAndDestroy()],
])('nothing is handed out to a connection that was %s meanwhile', async (_how, close) => {
  for (let time = 0; time < 5; time += 1) await leave('posture_check', close)
  expect(agents.queryCount).toBe(5)
  // As often as to a device that was never given anything.
  for (let time = 0; time < 3; time += 1) expect(await readIds()).toEqual(ids())
})

test('of requests behind each other on a connection that was closed none is given anything', async () => {
  await leave('posture_check', undefined, 2)
  for (let time = 0; time < 3; time += 1) expect(await readIds()).toEqual(ids())
})

test('a request that left while its key was looked up is neither held nor has its work looked up', async () => {
  build({ checkInHoldMs: 10 * MINUTE_MS })
  await app.listen({ host: '127.0.0.1', port: 0 })
  await leave('device')
  expect([agents.queryCount, reads.count()]).toEqual([1, 0])
  expect(await readIds()).toEqual(ids())
})

test('who always leaves has work looked up a few times before its time-out', async () => {
  build({ checkInHoldMs: 0 })
  await agents.post('config', { node_key: nodeKey }, {}, app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  // The last of them counts as given its work, so that the device is given it twice more.
  for (let time = 0; time < 11; time += 1) await leave('posture_check')
  for (const expected of [ids(), ids(), []]) expect(await readIds()).toEqual(expected)
})

test('what was answered to a device that had left is handed out at once when it asks again', async () => {
  const socket = await open()
  socket.write(toRequest())
  // As through a proxy that has kept its side open.
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toContain(ids()[0])
  socket.destroy()
  expect(await readIds()).toEqual(ids())
})

test('a device that sends to another process what failed here gets its next round here in time', async () => {
  const settings = { checkIntervalMs: MINUTE_MS }
  const other = agents.build(settings).app
  build(settings)
  expect(await readIds()).toEqual(ids())
  const answer = (to: FastifyInstance) =>
    agents.answer(nodeKey, { [`check:${checkId}:1`]: 'PASS' }, to)
  agents.fault = Object.assign(new Error('the database restarts'), { code: '57P01' })
  expectFailure(await answer(app), 503)
  agents.fault = undefined
  agents.posture.clock.advance(SECOND_MS)
  expect((await answer(other)).statusCode).toBe(200)
  expect(await readIds()).toEqual([])
  // Long before what was handed out counts as lost.
  agents.posture.clock.advance(2 * MINUTE_MS)
  expect(await readIds()).toEqual(ids())
})
