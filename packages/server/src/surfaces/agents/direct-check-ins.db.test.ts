/*
 * Check-ins over connections, as devices make them: what is answered before the router is what the router would answer.
 */
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Agents } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { createListener, type Listener } from '../../platform/db/listener.ts'
import type { HeldReads } from '../../posture/osquery/held-reads.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

let agents: Agents
let app: FastifyInstance
let reads: HeldReads
let nodeKey: string
let checkId: string
/** The devices of which the intake noted a contact. */
let seen: string[]

beforeEach(async () => {
  agents = await Agents.create(database.db)
  checkId = await agents.posture.insertCheck()
})
afterEach(() => agents.close())

/** A process that listens and holds so long, and a device that has answered its checks. */
async function begin(checkInHoldMs: number, listener?: Listener): Promise<void> {
  seen = []
  ;({ app, reads } = agents.build(
    { checkInHoldMs },
    {
      contacts: {
        recordContact: (deviceId, _atMs, address) => void seen.push(`${deviceId} ${address}`),
        start: () => undefined,
        flush: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      },
      ...(listener === undefined ? {} : { listener }),
    },
  ))
  nodeKey = await agents.enroll({}, app)
  const { queries } = await agents.read(nodeKey, app)
  await agents.answer(
    nodeKey,
    Object.fromEntries(Object.keys(queries).map((id) => [id, 'PASS'])),
    app,
  )
  agents.posture.clock.advance(10 * MINUTE_MS)
  // The service looks a device up again after its answers.
  await agents.post('config', { node_key: nodeKey }, {}, app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  agents.queryCount = 0
  seen = []
}

async function post(path: string, body: object | string) {
  const { port } = app.server.address() as AddressInfo
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path: `/osquery/${path}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    agent: false,
  })
  outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
  const [answer] = (await once(outgoing, 'response')) as [
    Parameters<typeof text>[0] & { statusCode: number },
  ]
  return { status: answer.statusCode, body: await text(answer) }
}

test.each(['config', 'distributed/read'])(
  'over a connection %s answers what it answers else, asks no database and counts as a contact',
  async (path) => {
    await begin(0)
    const usual = await agents.post(path, { node_key: nodeKey }, {}, app)
    expect(await post(path, { node_key: nodeKey })).toEqual({ status: 200, body: usual.body })
    expect(agents.queryCount).toBe(0)
    expect(seen).toEqual(['1 127.0.0.1', '1 127.0.0.1'])
  },
)

test.each([
  ['a key that nobody has', { node_key: 'nobody' }],
  ['no key', {}],
  ['no JSON', 'nope'],
  ['a list', '[]'],
])('a request for work with %s is refused as it is else', async (_what, body) => {
  await begin(0)
  const usual = await agents.post('distributed/read', body, {}, app)
  expect(usual.statusCode).toBeGreaterThanOrEqual(400)
  expect(await post('distributed/read', body)).toEqual({
    status: usual.statusCode,
    body: usual.body,
  })
  expect(seen).toEqual([])
})

test('a revoked key is refused as soon as the process has heard of it', async () => {
  const listener = createListener(database.connection, {
    log: pino({ level: 'silent' }),
    network: new DatabaseNetwork(),
  })
  listener.start()
  try {
    await begin(0, listener)
    await listener.whenListening()
    await agents.posture.change((change) => revokeDeviceNode(change, '1'))
    await expect
      .poll(async () => (await post('distributed/read', { node_key: nodeKey })).body)
      .toContain('"node_invalid":true')
  } finally {
    await listener.stop()
  }
})

test('a device is given work that waits for it', async () => {
  await begin(0)
  agents.liveQueries = { 'live:7': 'select 7' }
  expect((await post('distributed/read', { node_key: nodeKey })).body).toContain('select 7')
})

test('checks that are due are handed out until they are answered', async () => {
  await begin(0)
  agents.posture.clock.advance(2 * HOUR_MS)
  const first = await post('distributed/read', { node_key: nodeKey })
  await agents.answer(nodeKey, { [`check:${checkId}:1`]: 'PASS' }, app)
  const second = await post('distributed/read', { node_key: nodeKey })
  expect([first.body, second.body]).toEqual([
    expect.stringContaining(`check:${checkId}:1`),
    expect.stringContaining('"queries":{}'),
  ])
})

test('a device is held until it is woken, and gives its place back', async () => {
  await begin(10 * MINUTE_MS)
  const answer = post('distributed/read', { node_key: nodeKey })
  await expect.poll(() => reads.count()).toBe(1)
  agents.liveQueries = { 'live:7': 'select 7' }
  reads.wake('1')
  expect((await answer).body).toContain('select 7')
  expect(reads.count()).toBe(0)
})

test('a held device whose work cannot be read is told a fault, and gives its place back', async () => {
  await begin(10 * MINUTE_MS)
  const answer = post('distributed/read', { node_key: nodeKey })
  await expect.poll(() => reads.count()).toBe(1)
  agents.posture.clock.advance(2 * HOUR_MS)
  agents.fault = new Error('broken')
  reads.wake('1')
  const { status, body } = await answer
  expect([status, body]).toEqual([500, expect.stringContaining('An unexpected fault')])
  expect(reads.count()).toBe(0)
})
