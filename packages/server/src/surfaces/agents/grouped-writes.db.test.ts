import { sql } from 'kysely'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Agents, describeSystem } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import type { RunChange } from '../../changes/change.ts'
import { lockDevices } from '../../posture/devices/device-status-store.ts'
import { reevaluateDevices } from '../../posture/devices/reevaluate-devices.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
beforeEach(async () => {
  agents = await Agents.create(db)
})
afterEach(() => agents.close())

const DEVICES = 12

interface Fleet {
  readonly check: string
  readonly queryId: string
  readonly nodeKeys: readonly string[]
  readonly deviceIds: readonly string[]
}

async function enrollFleet(): Promise<Fleet> {
  const check = await agents.posture.insertCheck()
  const nodeKeys: string[] = []
  for (let number = 1; number <= DEVICES; number += 1) {
    nodeKeys.push(
      await agents.enroll({
        host_identifier: `host-${number}`,
        host_details: describeSystem(`UUID-${number}`, `SERIAL-${number}`),
      }),
    )
  }
  const rows = await db.selectFrom('device').select('id').orderBy('id').execute()
  return { check, queryId: `check:${check}:1`, nodeKeys, deviceIds: rows.map(({ id }) => id) }
}

const statusCodesOf = (answers: readonly { statusCode: number }[]) =>
  answers.map(({ statusCode }) => statusCode)

async function readResults() {
  const { rows } = await sql<{ device_id: string; status: string; transaction: string }>`
    select device_id, status, xmin::text as transaction from check_result order by device_id`.execute(
    db,
  )
  return rows
}

test('answers of devices that come together are one transaction, each under its own cause', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  const answers = await Promise.all(
    nodeKeys.map((nodeKey) => agents.answer(nodeKey, { [queryId]: 'PASS' })),
  )
  expect(new Set(statusCodesOf(answers))).toEqual(new Set([200]))
  const results = await readResults()
  expect(results.map(({ status }) => status)).toEqual(deviceIds.map(() => 'passing'))
  expect(new Set(results.map(({ transaction }) => transaction)).size).toBeLessThan(DEVICES / 2)

  const entries = await db
    .selectFrom('audit_entry')
    .select(['target_id', 'txn', 'request_id'])
    .where('action', '=', 'device.status_changed')
    .where('target_id', 'in', deviceIds)
    .execute()
  expect(entries).toHaveLength(DEVICES)
  expect(new Set(entries.map(({ txn }) => txn)).size).toBe(DEVICES)
  expect(new Set(entries.map(({ request_id }) => request_id)).size).toBe(DEVICES)
  const moved = await db
    .selectFrom('device_status_transition')
    .select(['device_id as target_id', 'txn'])
    .where('to_state', '=', 'Good')
    .execute()
  const byDevice = (rows: readonly { target_id: string | null; txn: string }[]) =>
    new Map(rows.map(({ target_id, txn }) => [target_id, txn]))
  expect(byDevice(moved)).toEqual(byDevice(entries))
  expect(await listCounterDrift(db)).toEqual([])
})

test('of devices that answer together one that cannot be recorded fails alone', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  const poisoned = 5
  const { app } = agents.build(
    {},
    {
      noteProblems: async (_change, deviceId) => {
        if (deviceId === deviceIds[poisoned]) throw new Error('poison')
      },
    },
  )
  const answers = await Promise.all(
    nodeKeys.map((nodeKey) => agents.answer(nodeKey, { [queryId]: 'FAIL' }, app)),
  )
  const expected = nodeKeys.map((_, index) => (index === poisoned ? 500 : 200))
  expect(statusCodesOf(answers)).toEqual(expected)
  expect((await readResults()).map(({ status }) => status)).toEqual(
    nodeKeys.map((_, index) => (index === poisoned ? 'pending' : 'failing')),
  )
})

test('of devices that answer together one that is gone is told so alone', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  await Promise.all(nodeKeys.map((nodeKey) => agents.read(nodeKey)))
  const gone = deviceIds[3] ?? ''
  await db.deleteFrom('device').where('id', '=', gone).execute()
  const answers = await Promise.all(
    nodeKeys.map((nodeKey) => agents.answer(nodeKey, { [queryId]: 'FAIL' })),
  )
  expect(statusCodesOf(answers)).toEqual(nodeKeys.map((_, index) => (index === 3 ? 401 : 200)))
  expect(await readResults()).toHaveLength(DEVICES - 1)
})

test('the messages of a device are taken in their order, however many others answer', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  const sent: Promise<{ statusCode: number }>[] = []
  for (let round = 0; round < 9; round += 1) {
    for (const nodeKey of nodeKeys) {
      sent.push(agents.answer(nodeKey, { [queryId]: round % 2 === 0 ? 'FAIL' : 'PASS' }))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(new Set(statusCodesOf(await Promise.all(sent)))).toEqual(new Set([200]))
  expect((await readResults()).map(({ status }) => status)).toEqual(deviceIds.map(() => 'failing'))
  const { rows } = await sql<{ count: string }>`
    with ordered as (
      select from_state, lag(to_state) over (partition by device_id order by id) as before
      from device_status_transition)
    select count(*) as count from ordered where before is not null and before <> from_state`.execute(
    db,
  )
  expect(rows).toEqual([{ count: '0' }])
})

test('a message waits for the one before it of its device, also when another group overtakes that', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  const [lowest = '', device = '', other = ''] = nodeKeys
  await Promise.all(nodeKeys.map((nodeKey) => agents.read(nodeKey)))
  const sent = await agents.posture.change(async ({ tx }) => {
    await lockDevices(tx, deviceIds.slice(0, 1))
    // The first is a group of its own; the others are one, which waits for the lowest and holds none after it.
    const failures = [other, lowest, device].map((nodeKey) =>
      agents.answer(nodeKey, { [queryId]: 'FAIL' }),
    )
    await expect.poll(countWaiting).toBe(1)
    const passed = agents.answer(device, { [queryId]: 'PASS' })
    // What comes later of another device goes with a group that does not wait.
    expect(await agents.answer(other, { [queryId]: 'PASS' })).toMatchObject({ statusCode: 200 })
    return [...failures, passed]
  })
  expect(new Set(statusCodesOf(await Promise.all(sent)))).toEqual(new Set([200]))
  const statuses = (await readResults()).slice(0, 3).map(({ status }) => status)
  expect(statuses).toEqual(['failing', 'passing', 'passing'])
})

test('two processes and an admin take the same devices without a deadlock', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  let changes = 0
  let attempts = 0
  const runChange: RunChange = (origin, work) => {
    changes += 1
    return agents.posture.runChange(origin, (change) => {
      attempts += 1
      return work(change)
    })
  }
  const first = agents.build({}, { runChange }).app
  const second = agents.build({}, { runChange }).app
  for (let round = 0; round < 10; round += 1) {
    const [here, there] = round % 2 === 0 ? ['FAIL', 'PASS'] : ['PASS', 'FAIL']
    const reevaluated = runChange(
      { actor: { type: 'System', id: null, name: 'test', email: null } },
      (change) =>
        reevaluateDevices(change, deviceIds, {
          initiatingEntity: 'admin',
          occurredAt: change.at,
        }),
    )
    const answers = await Promise.all([
      ...nodeKeys.map((nodeKey) => agents.answer(nodeKey, { [queryId]: here }, first)),
      ...nodeKeys
        .toReversed()
        .map((nodeKey) => agents.answer(nodeKey, { [queryId]: there }, second)),
    ])
    await reevaluated
    expect(new Set(statusCodesOf(answers))).toEqual(new Set([200]))
  }
  expect(attempts).toBe(changes)
  expect(changes).toBeLessThan(10 * DEVICES)
  expect(await listCounterDrift(db)).toEqual([])
})

test('devices that answer together are locked by ascending id, as admins lock them', async () => {
  const { nodeKeys, queryId, deviceIds } = await enrollFleet()
  const [lowest = '', higher = ''] = deviceIds
  await Promise.all(nodeKeys.map((nodeKey) => agents.read(nodeKey)))
  const sent = await agents.posture.change(async ({ tx }) => {
    await lockDevices(tx, [lowest])
    const answers = nodeKeys
      .toReversed()
      .map((nodeKey) => agents.answer(nodeKey, { [queryId]: 'FAIL' }))
    await expect.poll(countWaiting).toBe(1)
    // Whoever waits for the lowest holds none that comes after it; one that came before may be about to commit.
    const lockFree = () =>
      sql`select from device where id = ${higher} for no key update skip locked`.execute(tx)
    // Before the group would be given up for waiting too long.
    await expect.poll(async () => (await lockFree()).rows, { timeout: 10_000 }).toHaveLength(1)
    return answers
  })
  expect(new Set(statusCodesOf(await Promise.all(sent)))).toEqual(new Set([200]))
})

async function countWaiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows[0]?.count ?? 0
}
