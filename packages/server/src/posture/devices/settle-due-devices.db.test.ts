import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { createPosture, FAIL, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import { DAY_MS, HOUR_MS, SECOND_MS, systemClock } from '../../platform/clock.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { startDueJob } from '../../platform/jobs/due-job.ts'
import { reevaluateDevices } from './reevaluate-devices.ts'
import { reevaluateEveryDevice } from './reevaluate-every-device.ts'
import { settleAndFindNext, settleDueDevices } from './settle-due-devices.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check')
  posture = createPosture(db)
})

const rethrow = (error: unknown) => {
  throw error
}

const settleDue = () => settleDueDevices({ db, runChange: posture.runChange, logError: rethrow })

async function insertWarnedDevice(graceDays: number): Promise<{ id: string; graceEnd: Date }> {
  const check = await posture.insertCheck({
    remediation_strategy: 'warn_then_block',
    grace_period_days: graceDays,
  })
  const id = await posture.insertDevice()
  await posture.report(id, { [check]: FAIL })
  return { id, graceEnd: new Date(posture.clock.now().getTime() + graceDays * DAY_MS) }
}

test('a grace period ends at its exact end, not before and not when it is noticed', async () => {
  const { graceEnd } = await insertWarnedDevice(3)
  posture.clock.set(new Date(graceEnd.getTime() - 1))
  expect(await settleDue()).toMatchObject({ settledCount: 0 })

  posture.clock.set(new Date(graceEnd.getTime() + 90 * SECOND_MS))
  expect(await settleDue()).toMatchObject({ settledCount: 1 })
  expect(posture.announced.at(-1)).toMatchObject({
    previous: { authState: 'Will Block', compliance: 'compliant' },
    current: { authState: 'Blocked', compliance: 'not-compliant' },
    occurredAt: graceEnd,
    initiatingEntity: 'policy',
  })
  const transition = await db
    .selectFrom('device_status_transition')
    .selectAll()
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  expect(transition.occurred_at).toEqual(graceEnd)
  expect(await settleDue()).toMatchObject({ settledCount: 0 })
})

test('what ended while no scheduler ran is made up for in its order, each at its own time', async () => {
  const { id, graceEnd } = await insertWarnedDevice(2)
  const exemptionEnd = new Date(posture.clock.now().getTime() + DAY_MS)
  await posture.change(async (change) => {
    await change.tx
      .updateTable('issue')
      .set({ exempted_at: change.at, exemption_expires_at: exemptionEnd })
      .execute()
    const cause = { initiatingEntity: 'admin', occurredAt: change.at } as const
    await reevaluateDevices(change, [id], cause)
  })
  posture.clock.advance(30 * DAY_MS)
  await settleDue()
  expect(
    posture.announced.map((item) => [
      item.current.authState,
      item.occurredAt,
      item.initiatingEntity,
    ]),
  ).toEqual([
    ['Will Block', new Date(graceEnd.getTime() - 2 * DAY_MS), 'policy'],
    ['Good', new Date(graceEnd.getTime() - 2 * DAY_MS), 'admin'],
    ['Will Block', exemptionEnd, 'policy'],
    ['Blocked', graceEnd, 'policy'],
  ])
})

test('several schedulers at once change every status exactly once', async () => {
  const check = await posture.insertCheck({
    remediation_strategy: 'warn_then_block',
    grace_period_days: 1,
  })
  for (let index = 0; index < 120; index += 1) {
    await posture.report(await posture.insertDevice(), { [check]: FAIL })
  }
  posture.announced.length = 0
  posture.clock.advance(DAY_MS)
  await Promise.all([settleDue(), settleDue(), settleDue()])
  await settleDue()
  const ids = posture.announced.map((item) => item.device.id)
  expect(ids).toHaveLength(120)
  expect(new Set(ids).size).toBe(120)
})

test('a device that cannot be settled does not hold up the others', async () => {
  const check = await posture.insertCheck({
    remediation_strategy: 'warn_then_block',
    grace_period_days: 1,
  })
  const [broken, fine] = [await posture.insertDevice(), await posture.insertDevice()]
  for (const id of [broken, fine]) await posture.report(id, { [check]: FAIL })
  posture.clock.advance(DAY_MS)
  const settled: string[] = []
  const logged: string[] = []
  const runChange = createChangeRunner(db, posture.clock, [
    async ({ events }) => {
      const ids = events.flatMap((event) =>
        event.type === 'device.status_changed' ? [event.device.id] : [],
      )
      if (ids.includes(broken)) throw new Error('refused by a test')
      settled.push(...ids)
    },
  ])
  const logError = (_error: unknown, message: string) => logged.push(message)
  expect(await settleDueDevices({ db, runChange, logError })).toEqual({
    settledCount: 1,
    failedCount: 1,
  })
  expect(settled).toContain(fine)
  expect(logged).toEqual([`the status of device ${broken} could not be changed`])
})

test('a passing result before the end takes the end back', async () => {
  const check = await posture.insertCheck({
    remediation_strategy: 'warn_then_block',
    grace_period_days: 1,
  })
  const device = await posture.insertDevice()
  await posture.report(device, { [check]: FAIL })
  posture.clock.advance(HOUR_MS)
  await posture.report(device, { [check]: PASS })
  posture.clock.advance(DAY_MS)
  expect(await settleDue()).toMatchObject({ settledCount: 0 })
})

test('a running scheduler sleeps until the end, is woken by an earlier one, and stops', async () => {
  const seen: Date[] = []
  let resolveSeen: () => void = () => undefined
  const first = new Promise<void>((resolve) => (resolveSeen = resolve))
  const runChange = createChangeRunner(db, systemClock, [
    async ({ events }) => {
      for (const event of events) {
        if (event.type === 'device.status_changed') seen.push(event.occurredAt)
      }
      resolveSeen()
    },
  ])
  const asleep = Promise.withResolvers<void>()
  const job = startDueJob({
    name: 'device statuses',
    clock: systemClock,
    run: async () => {
      const next = await settleAndFindNext({ db, runChange, logError: rethrow })
      asleep.resolve()
      return next
    },
    logError: rethrow,
    pollMs: 60_000,
  })
  await asleep.promise
  const real = createPosture(db, systemClock.now().toISOString())
  const check = await real.insertCheck({ begins_blocking_on: new Date(Date.now() + 400) })
  const device = await real.insertDevice()
  await real.report(device, { [check]: FAIL })
  const { reevaluate_at } = await db
    .selectFrom('device')
    .select('reevaluate_at')
    .executeTakeFirstOrThrow()
  job.wake(reevaluate_at ?? new Date(0))
  await first
  await job.stop()
  expect(seen).toEqual([reevaluate_at])
})

test('another compliance threshold changes compliance at once, and the state of nobody', async () => {
  const check = await posture.insertCheck({ remediation_strategy: 'notify_only' })
  const device = await posture.insertDevice()
  await posture.report(device, { [check]: FAIL })
  await posture.change(async (change) => {
    await sql`insert into organisation (name, compliance_threshold, created_at, updated_at)
      values ('Example', 'notified', now(), now())
      on conflict (id) do update set compliance_threshold = 'notified'`.execute(change.tx)
    await reevaluateEveryDevice(change)
  })
  await sql`delete from organisation`.execute(db)
  expect(posture.announced.at(-1)).toMatchObject({
    previous: { authState: 'Notified', compliance: 'compliant' },
    current: { authState: 'Notified', compliance: 'not-compliant' },
    initiatingEntity: 'admin',
  })
})
