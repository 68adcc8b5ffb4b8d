import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Agents } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { createListener, type Listener } from '../../platform/db/listener.ts'
import { requestCheckRefresh } from '../../posture/checks/request-check-refresh.ts'
import { createDeviceAsker, type DeviceAsker } from '../../posture/device-questions/ask-devices.ts'
import {
  QUESTION_ANSWER_CHANNEL,
  type AskedQuestion,
} from '../../posture/device-questions/device-question.ts'
import type { QuestionInbox } from '../../posture/device-questions/question-inbox.ts'
import { updateAnsweredQuestions } from '../../posture/device-questions/question-store.ts'
import { deleteDevice } from '../../posture/devices/delete-device.ts'
import { getDeviceForUpdate } from '../../posture/devices/device-store.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import type { HeldReads } from '../../posture/osquery/held-reads.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

const PATIENCE = { timeoutMs: 50 * SECOND_MS }
const QUESTION: AskedQuestion = {
  deviceId: '1',
  sql: 'select pid from processes',
  purpose: 'sign_in_proof',
}

/** Two processes: one takes what devices say, the other asks. */
let agents: Agents
let intakeListener: Listener
let askerListener: Listener
let app: FastifyInstance
let reads: HeldReads
let questions: QuestionInbox
let asker: DeviceAsker
let nodeKey: string

function listen(): Listener {
  const listener = createListener(database.connection, {
    log: pino({ level: 'silent' }),
    network: new DatabaseNetwork(),
  })
  listener.start()
  return listener
}

beforeEach(async () => {
  agents = await Agents.create(db)
  intakeListener = listen()
  askerListener = listen()
  const held = { checkInHoldMs: 20 * SECOND_MS }
  ;({ app, reads, questions } = agents.build(held, { listener: intakeListener }))
  asker = createDeviceAsker({
    clock: agents.posture.clock,
    db,
    runChange: agents.posture.runChange,
    logError: (error) => {
      throw error
    },
  })
  askerListener.subscribe(QUESTION_ANSWER_CHANNEL, (payload) => asker.noteAnswered(payload))
  await Promise.all([intakeListener.whenListening(), askerListener.whenListening()])
  nodeKey = await agents.enroll({}, app)
})
afterEach(async () => {
  asker.close()
  await agents.close()
  await Promise.all([intakeListener.stop(), askerListener.stop()])
})

/** Waits, held, until the device is asked something; answers the ids. */
async function awaitQuestions(): Promise<string[]> {
  const { queries } = await agents.read(nodeKey, app)
  return Object.keys(queries)
}

const answer = (id: string, rows: readonly object[], status = 0, messages: object = {}) =>
  agents.post(
    'distributed/write',
    { node_key: nodeKey, queries: { [id]: rows }, statuses: { [id]: status }, messages },
    {},
    app,
  )

const readRows = () => db.selectFrom('device_question').selectAll().execute()

test('a held device is asked at once, and its answer reaches whoever asked in another process', async () => {
  const held = awaitQuestions()
  await expect.poll(() => reads.count()).toBe(1)
  const asked = asker.askDevices([QUESTION], PATIENCE)
  const [id = ''] = await held
  expect(id).toMatch(/^ask:[\da-f-]{36}$/)
  agents.posture.clock.advance(250)
  await answer(id, [{ pid: '7' }])
  expect(await asked).toEqual([
    {
      deviceId: '1',
      status: 'answered',
      rows: [{ pid: '7' }],
      answeredAt: agents.posture.clock.now(),
      latencyMs: 250,
    },
  ])
})

test('an answer that nobody could tell of any more is found within seconds', async () => {
  const asked = asker.askDevices([QUESTION], PATIENCE)
  await expect.poll(readRows).toMatchObject([{ status: 'waiting' }])
  const [{ id } = { id: '' }] = await readRows()
  const answeredAt = agents.posture.clock.now()
  await createChangeRunner(
    db,
    agents.posture.clock,
    [],
  )({ actor: SYSTEM_ACTOR }, (change) =>
    updateAnsweredQuestions(
      change,
      '1',
      [{ id, status: 'answered', rows: [], errorMessage: null }],
      answeredAt,
    ),
  )
  // Long before the time is over, at which it is looked for as well.
  const soon = sleep(PATIENCE.timeoutMs / 2)
  expect(await Promise.race([asked, soon])).toMatchObject([{ status: 'answered', answeredAt }])
})

test('what is waited for is looked for once at a time, however long that takes', async () => {
  const asked = asker.askDevices([QUESTION], PATIENCE)
  await expect.poll(readRows).toMatchObject([{ status: 'waiting' }])
  const transaction = await db.startTransaction().execute()
  await sql`lock table device_question in access exclusive mode`.execute(transaction)
  const countLooks = async () => {
    const { rows } = await sql`select from pg_locks where not granted
      and relation = 'device_question'::regclass
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
    return rows.length
  }
  await expect.poll(countLooks).toBeGreaterThan(0)
  // Two more would have begun by then.
  await sleep(4.5 * SECOND_MS)
  expect(await countLooks()).toBe(1)
  await transaction.rollback().execute()
  asker.close()
  expect(await asked).toMatchObject([{ status: 'expired' }])
})

test('a device is asked again until it has answered, before anything else, and never after', async () => {
  const checkId = await agents.posture.insertCheck()
  await agents.posture.change((change) => requestCheckRefresh(change, '1', checkId))
  const asked = asker.askDevices([QUESTION, { ...QUESTION, sql: 'select 2' }], PATIENCE)
  // The process hears of it after the request for a rerun.
  await expect.poll(() => Object.keys(questions.pendingQueries('1') ?? {}).length).toBe(2)
  const ids = await awaitQuestions()
  expect(ids.map((id) => id.slice(0, 4))).toEqual(['ask:', 'ask:'])
  expect(await awaitQuestions()).toEqual(ids)
  const [first = '', second = ''] = ids
  await answer(first, [{ a: '1' }])
  expect(await awaitQuestions()).toEqual([second])
  await answer(second, [], 1, { [second]: 'no such table' })
  expect((await asked).map(({ status }) => status).sort()).toEqual(['answered', 'failed'])
  expect(await awaitQuestions()).toEqual([`check:${checkId}:1`])
})

test('a question that is not answered in time expires, is not asked any more, and a late answer changes nothing', async () => {
  const asked = asker.askDevices([QUESTION], { timeoutMs: 400 })
  await expect.poll(async () => (await readRows()).length).toBe(1)
  const [id = ''] = await awaitQuestions()
  expect(await asked).toMatchObject([{ status: 'expired', rows: [], latencyMs: null }])
  agents.posture.clock.advance(SECOND_MS)
  await answer(id, [{ pid: '7' }])
  expect(await readRows()).toMatchObject([{ status: 'expired', rows: null }])
  const held = agents.read(nodeKey, app)
  await expect.poll(() => reads.count()).toBe(1)
  reads.close()
  expect((await held).queries).toEqual({})
})

test('whoever wants no answer any more does not wait, and neither does a process that stops', async () => {
  const aborting = new AbortController()
  const aborted = asker.askDevices([QUESTION], { ...PATIENCE, signal: aborting.signal })
  await expect.poll(async () => (await readRows()).length).toBe(1)
  aborting.abort()
  expect(await aborted).toMatchObject([{ status: 'expired' }])
  const stopped = asker.askDevices([QUESTION], PATIENCE)
  await expect.poll(async () => (await readRows()).length).toBe(2)
  asker.close()
  expect(await stopped).toMatchObject([{ status: 'expired' }])
  expect((await readRows()).map(({ status }) => status)).toEqual(['expired', 'expired'])
})

test('an answer of which the notification was lost is found when listening begins anew', async () => {
  await askerListener.stop()
  const asked = asker.askDevices([QUESTION], PATIENCE)
  await expect.poll(async () => (await readRows()).length).toBe(1)
  const [id = ''] = await awaitQuestions()
  await answer(id, [{ pid: '7' }])
  asker.lookForAll()
  expect(await asked).toMatchObject([{ status: 'answered' }])
})

test('a device answers for itself alone', async () => {
  const other = await agents.enroll({ host_identifier: 'host-2', host_details: {} }, app)
  const enough = new AbortController()
  const asked = asker.askDevices([QUESTION], { ...PATIENCE, signal: enough.signal })
  const [id = ''] = await awaitQuestions()
  await agents.post(
    'distributed/write',
    { node_key: other, queries: { [id]: [{ pid: '666' }] }, statuses: { [id]: 0 } },
    {},
    app,
  )
  expect(await readRows()).toMatchObject([{ status: 'waiting', rows: null }])
  enough.abort()
  expect(await asked).toMatchObject([{ status: 'expired', rows: [] }])
})

test('devices that are revoked, deleted or unknown are not asked, and others are', async () => {
  await agents.enroll({ host_identifier: 'host-2', host_details: {} }, app)
  await agents.enroll({ host_identifier: 'host-3', host_details: {} }, app)
  await agents.posture.change((change) => revokeDeviceNode(change, '2'))
  await agents.posture.change(async (change) =>
    deleteDevice(change, await getDeviceForUpdate(change.tx, '3')),
  )
  const asked = asker.askDevices(
    ['2', '3', '99', 'x', '1'].map((deviceId) => ({ ...QUESTION, deviceId })),
    PATIENCE,
  )
  const [id = ''] = await awaitQuestions()
  await answer(id, [])
  expect((await asked).map(({ status }) => status)).toEqual([
    'expired',
    'expired',
    'expired',
    'expired',
    'answered',
  ])
  expect((await readRows()).map((row) => row.device_id)).toEqual(['1'])
})

test('few questions wait for one device, and answers are bounded', async () => {
  const waiting = Array.from({ length: 8 }, () => asker.askDevices([QUESTION], PATIENCE))
  await expect.poll(async () => (await readRows()).length).toBe(8)
  expect(await asker.askDevices([QUESTION], PATIENCE)).toMatchObject([{ status: 'expired' }])
  const [id = ''] = await awaitQuestions()
  await answer(
    id,
    Array.from({ length: 1_500 }, (_, index) => ({ pid: `${index}` })),
  )
  const [row] = await db
    .selectFrom('device_question')
    .selectAll()
    .where('status', '=', 'answered')
    .execute()
  expect(row?.rows).toHaveLength(1_000)
  asker.close()
  await Promise.all(waiting)
})
