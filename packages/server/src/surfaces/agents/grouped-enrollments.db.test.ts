/* Devices that enroll at the same moment are committed together, and nothing of that shows but the cost. */
import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  Agents,
  describeSystem,
  enrollBody,
  expectFailure,
  expectNodeInvalid,
} from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { LEFT_FOR_LATER } from '../../platform/group-committer.ts'
import { lockCheckScope } from '../../posture/checks/check-scope-store.ts'
import { enrollDevices } from '../../posture/osquery/enroll-devices.ts'
import type { Enrollment, EnrollmentAttempt } from '../../posture/osquery/enrollment.ts'
import { parseEnrollment } from './parse-agent-message.ts'

const ELSEWHERE = '198.51.100.66'
const DEVICES = 12
const HOUR_MS = 3_600_000

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
beforeEach(async () => {
  agents = await Agents.create(db)
})
afterEach(() => agents.close())

const bodyOf = (number: number) =>
  enrollBody({
    host_identifier: `host-${number}`,
    host_details: describeSystem(`UUID-${number}`, `SERIAL-${number}`),
  })
const BODIES = Array.from({ length: DEVICES }, (_, index) => bodyOf(index + 1))

/** Sends all of them at once; an address of its own for each that has one. */
const enrollAll = (
  bodies: readonly object[],
  addresses: readonly string[] = [],
  app = agents.app,
) =>
  Promise.all(bodies.map((body, index) => agents.post('enroll', body, {}, app, addresses[index])))
const statusCodesOf = (answers: readonly { statusCode: number }[]) =>
  answers.map(({ statusCode }) => statusCode)
const keyOf = (answer: { json<Value>(): Value } | undefined) =>
  answer?.json<{ node_key: string }>().node_key ?? ''

async function readDevices() {
  const { rows } = await sql<{ id: string; host_identifier: string; transaction: string }>`
    select id, host_identifier, xmin::text as transaction from device order by id`.execute(db)
  return rows
}

async function readSecret() {
  return db.selectFrom('enrollment_secret').selectAll().executeTakeFirstOrThrow()
}

async function listAudit(action: string) {
  const entries = await db
    .selectFrom('audit_entry')
    .select(['target_id', 'txn', 'request_id', 'ip_address', 'after'])
    .where('action', '=', action)
    .orderBy('sequence')
    .execute()
  return entries
}

test('devices that enroll together are one transaction, each under its own cause', async () => {
  const checks = [await agents.posture.insertCheck(), await agents.posture.insertCheck()]
  const before = (await listAudit('device.enrolled')).length
  const addresses = BODIES.map((_, index) => `198.51.100.${index + 1}`)
  const answers = await enrollAll(BODIES, addresses)
  expect(new Set(statusCodesOf(answers))).toEqual(new Set([200]))
  expect(new Set(answers.map(keyOf)).size).toBe(DEVICES)
  const devices = await readDevices()
  expect(devices).toHaveLength(DEVICES)
  expect(new Set(devices.map(({ transaction }) => transaction)).size).toBeLessThan(DEVICES / 2)

  const entries = (await listAudit('device.enrolled')).slice(before)
  const hostOf = new Map(devices.map(({ id, host_identifier: host }) => [id, host]))
  expect(new Set(entries.map(({ txn }) => txn)).size).toBe(DEVICES)
  expect(new Set(entries.map(({ request_id: id }) => id)).size).toBe(DEVICES)
  for (const { target_id: id, ip_address: address } of entries) {
    expect(`host-${address?.split('.').at(-1)}`).toBe(hostOf.get(id ?? ''))
  }
  const results = await db.selectFrom('check_result').select(['device_id', 'status']).execute()
  expect(results).toHaveLength(DEVICES * checks.length)
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['pending']))
  expect(await listCounterDrift(db)).toEqual([])
  expect(await readSecret()).toMatchObject({ use_count: '12', hour_uses: '12' })
  // Each key is that of its own device.
  for (const answer of answers) await agents.use(keyOf(answer))
})

test('of devices that enroll together one that cannot be recorded fails alone', async () => {
  const poisoned = 5
  await sql`
    create function poison() returns trigger language plpgsql as $$
    begin raise exception 'poison'; end $$`.execute(db)
  await sql`
    create trigger poison before insert on device for each row
    when (new.host_identifier = 'host-6') execute function poison()`.execute(db)
  try {
    const answers = await enrollAll(BODIES)
    expect(statusCodesOf(answers)).toEqual(BODIES.map((_, at) => (at === poisoned ? 500 : 200)))
    expect((await readDevices()).map((device) => device.host_identifier).sort()).toEqual(
      BODIES.map((_, at) => `host-${at + 1}`)
        .filter((host) => host !== 'host-6')
        .sort(),
    )
    expect(await readSecret()).toMatchObject({ use_count: '11' })
  } finally {
    await sql`drop function poison() cascade`.execute(db)
  }
})

test('when the database ends the transaction of a group, nothing of it is there, and all may come again', async () => {
  const before = (await listAudit('device.enrolled')).length
  const sent = await agents.posture.change(async ({ tx }) => {
    await lockCheckScope(tx)
    let isOver = false
    const answers = enrollAll(BODIES).finally(() => (isOver = true))
    // The first is a group of its own, and the others are the next one, or several on a busy machine.
    await expect.poll(async () => (await listWaiting()).length).toBeGreaterThanOrEqual(2)
    while (!isOver) {
      for (const pid of await listWaiting()) {
        await sql`select pg_terminate_backend(${pid})`.execute(tx)
      }
      await sleep(10)
    }
    expect(await readDevices()).toEqual([])
    return { answers }
  })
  for (const { statusCode } of await sent.answers) expect(statusCode).toBeGreaterThanOrEqual(500)
  expect(await readDevices()).toEqual([])
  expect(await listAudit('device.enrolled')).toHaveLength(before)
  expect(new Set(statusCodesOf(await enrollAll(BODIES)))).toEqual(new Set([200]))
  expect(await readSecret()).toMatchObject({ use_count: '12' })
})

async function listWaiting(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows.map(({ pid }) => pid)
}

/** Attempts to enroll that come together. */
const toAttempts = (bodies: readonly object[], addresses: readonly string[] = []) =>
  bodies.map((body, index) => ({
    request: parseEnrollment(body as Record<string, unknown>),
    origin: {
      actor: { type: 'System' as const, id: null, name: 'test', email: null },
      ipAddress: addresses[index] ?? '127.0.0.1',
      requestId: `request-${index}`,
    },
    auditsRefusals: true,
  }))

/** Enrolls all of them in one change, and those that it leaves in the next one. */
async function enrollInOne(bodies: readonly object[], addresses: readonly string[] = []) {
  const enrollments = new Map<EnrollmentAttempt, Enrollment>()
  const attempts = toAttempts(bodies, addresses)
  for (let waiting: readonly EnrollmentAttempt[] = attempts; waiting.length > 0;) {
    const group = waiting
    const outcomes = await agents.posture.change((change) => enrollDevices(change, group, HOUR_MS))
    for (const [index, attempt] of group.entries()) {
      const outcome = outcomes[index]
      if (typeof outcome === 'object') enrollments.set(attempt, outcome)
    }
    waiting = group.filter((attempt) => !enrollments.has(attempt))
    expect(waiting.length).toBeLessThan(group.length)
  }
  return attempts.flatMap((attempt) => enrollments.get(attempt) ?? [])
}

describe('in one group', () => {
  test('each is answered for itself: a wrong secret, an unknown platform, and those that are fine', async () => {
    const enrollments = await enrollInOne([
      bodyOf(1),
      { ...bodyOf(2), enroll_secret: 'guessed' },
      { ...bodyOf(3), platform_type: '0', host_details: {} },
      bodyOf(4),
    ])
    expect(enrollments.map(({ kind }) => kind)).toEqual([
      'enrolled',
      'unknown_secret',
      'unsupported_platform',
      'enrolled',
    ])
    expect((await readDevices()).map((device) => device.host_identifier)).toEqual([
      'host-1',
      'host-4',
    ])
    expect(await readSecret()).toMatchObject({ use_count: '2' })
  })

  test('the second under one host identifier finds the device of the first, as one after the other', async () => {
    const [first, second] = await enrollInOne([bodyOf(1), bodyOf(1)])
    expect(first).toMatchObject({ kind: 'enrolled' })
    expect(second).toMatchObject({ kind: 'enrolled' })
    if (first?.kind !== 'enrolled' || second?.kind !== 'enrolled') return
    expect(second.deviceId).toBe(first.deviceId)
    expect(await readDevices()).toHaveLength(1)
    // The answer of the first was lost, as it seems: its key has ended, and the secret was used once.
    await agents.use(second.nodeKey)
    expectNodeInvalid(await agents.post('config', { node_key: first.nodeKey }))
    expect(await readSecret()).toMatchObject({ use_count: '1' })
  })

  test('the second of one machine is left for the next group: nothing is locked behind the secrets', async () => {
    await agents.posture.insertCheck()
    const enroll = () =>
      agents.posture.change((change) =>
        enrollDevices(change, toAttempts([bodyOf(1), bodyOf(1), bodyOf(2)]), HOUR_MS),
      )
    const statements = await recordStatements(async () => {
      const outcomes = await enroll()
      expect(outcomes).toMatchObject([{ kind: 'enrolled' }, LEFT_FOR_LATER, { kind: 'enrolled' }])
    })
    const texts = statements.map(({ text }) => text)
    const ofSecrets = texts.findIndex((text) => text.includes('update enrollment_secret'))
    expect(texts.slice(0, ofSecrets).filter(locksDevices)).not.toEqual([])
    expect(texts.slice(ofSecrets).filter(locksDevices)).toEqual([])
  })

  const locksDevices = (text: string) =>
    /(?:into|update) "?device"? |"device"[^]* for (?:no key )?update|from device[^]* for (?:no key )?update/.test(
      text,
    )

  test('the second under one host identifier from elsewhere waits for an approval', async () => {
    const enrollments = await enrollInOne([bodyOf(1), bodyOf(1)], ['127.0.0.1', ELSEWHERE])
    expect(enrollments.map(({ kind }) => kind)).toEqual(['enrolled', 'approval_needed'])
    expect(await listAudit('device.reenrollment_requested')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ ip_address: ELSEWHERE, request_id: 'request-1' }),
      ]),
    )
    expect(await readSecret()).toMatchObject({ use_count: '1', hour_uses: '2' })
  })

  test.each([
    ['serial', describeSystem('UUID-2', 'serial-1')],
    ['hardware UUID', describeSystem('uuid-1', 'SERIAL-2')],
  ])('the second with one %s waits for an approval', async (_, details) => {
    const twin = enrollBody({ host_identifier: 'host-2', host_details: details })
    const bodies = [bodyOf(1), twin, bodyOf(3)]
    const enrollments = await enrollInOne(bodies, ['127.0.0.1', ELSEWHERE])
    expect(enrollments.map(({ kind }) => kind)).toEqual(['enrolled', 'approval_needed', 'enrolled'])
    expect(await readDevices()).toHaveLength(2)
    const requests = await db.selectFrom('reenrollment_request').selectAll().execute()
    expect(requests).toMatchObject([{ reason: 'known_hardware', ip_address: ELSEWHERE }])
  })

  test('two of one serial that both come in are told of, each by the one that brought it about', async () => {
    const twin = enrollBody({
      host_identifier: 'host-2',
      host_details: describeSystem('UUID-2', 'SERIAL-1'),
    })
    const before = (await listAudit('device.hardware_duplicated')).length
    const enrollments = await enrollInOne([bodyOf(1), twin])
    expect(enrollments.map(({ kind }) => kind)).toEqual(['enrolled', 'enrolled'])
    const told = (await listAudit('device.hardware_duplicated')).slice(before)
    expect(told.map(({ request_id: id }) => id)).toEqual(['request-1', 'request-1'])
  })

  test('no more come in than a secret is good for, and each alarm is told with its own count', async () => {
    await db
      .updateTable('enrollment_secret')
      .set({ uses_max: 10, alarm_uses_per_hour: 3 })
      .execute()
    const actions = ['nearly_used_up', 'used_up', 'unusual_use'].map(
      (alarm) => `enrollment_secret.${alarm}`,
    )
    const before = await Promise.all(actions.map(listAudit))
    const enrollments = await enrollInOne(BODIES)
    expect(enrollments.map(({ kind }) => kind)).toEqual(
      BODIES.map((_, index) => (index < 10 ? 'enrolled' : 'unknown_secret')),
    )
    expect(await readSecret()).toMatchObject({ use_count: '10', hour_uses: '10' })
    const after = await Promise.all(actions.map(listAudit))
    const told = after.map((entries, index) => entries.slice(before[index]?.length))
    expect(told).toMatchObject([
      [
        {
          request_id: 'request-8',
          after: { use_count: '9', uses_max: '10', uses_within_hour: '9' },
        },
      ],
      [{ request_id: 'request-9', after: { use_count: '10', uses_within_hour: '10' } }],
      [{ request_id: 'request-3', after: { use_count: '4', uses_within_hour: '4' } }],
    ])
  })

  test('a use that one leaves is there for the next: of a kept out host the secret is not used', async () => {
    await db.updateTable('enrollment_secret').set({ uses_max: 1 }).execute()
    const removedAt = agents.posture.clock.now()
    await db
      .insertInto('removed_host')
      .values({ host_identifier: 'host-1', device_name: 'gone', removed_at: removedAt })
      .execute()
    const enrollments = await enrollInOne([bodyOf(1), bodyOf(2), bodyOf(3)])
    expect(enrollments.map(({ kind }) => kind)).toEqual([
      'removed_host',
      'enrolled',
      'unknown_secret',
    ])
    expect(await readSecret()).toMatchObject({ use_count: '1' })
  })

  test('devices that lost their keys enroll again beside new ones', async () => {
    const [known] = await enrollInOne([bodyOf(2)])
    agents.posture.clock.advance(2 * HOUR_MS)
    const check = await agents.posture.insertCheck()
    const enrollments = await enrollInOne([bodyOf(1), bodyOf(2), bodyOf(3)])
    expect(enrollments.map(({ kind }) => kind)).toEqual(['enrolled', 'enrolled', 'enrolled'])
    expect(enrollments[1]).toMatchObject({ deviceId: known?.kind === 'enrolled' && known.deviceId })
    const results = await db.selectFrom('check_result').select('check_id').execute()
    expect(results).toEqual([1, 2, 3].map(() => ({ check_id: check })))
    expect(await listCounterDrift(db)).toEqual([])
  })
})

test('two processes that enroll the same hosts at once make one device of each, without an error', async () => {
  const other = agents.build().app
  const [here, there] = await Promise.all([
    enrollAll(BODIES),
    enrollAll(BODIES.toReversed(), [], other),
  ])
  expect(new Set(statusCodesOf([...here, ...there]))).toEqual(new Set([200]))
  expect(await readDevices()).toHaveLength(DEVICES)
  expect(await listCounterDrift(db)).toEqual([])
})

test('a secret that is revoked while a device waits for its group enrolls it no more', async () => {
  const sent = await agents.posture.change(async ({ tx, at }) => {
    await lockCheckScope(tx)
    const answers = enrollAll([bodyOf(1), bodyOf(2)])
    await expect.poll(async () => (await listWaiting()).length).toBeGreaterThan(0)
    await tx.updateTable('enrollment_secret').set({ revoked_at: at }).execute()
    return { answers }
  })
  for (const answer of await sent.answers) expectFailure(answer, 401)
  expect(await readDevices()).toEqual([])
})
