import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createChangeRunner, type RunChange } from '../../changes/change.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertPerson } from '../../../test/support/factories.ts'
import { createPosture, FAIL, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import {
  beginTestAttempt,
  identifyTestPerson,
  inOrder,
  insertApplication,
  proveTestDevice,
} from '../../../test/support/sign-in-fixtures.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { newSecret } from '../../platform/ids.ts'
import type { Attempt } from './attempt-store.ts'
import { ATTEMPT_LIFETIME_MS } from './move-attempt.ts'
import { RECHECKS_MAX, runPosture, type RunPostureDependencies } from './run-posture.ts'

let database: TestDatabase
let clock: ManualClock
let posture: Posture
let context: RunPostureDependencies
let attempt: Attempt
let checkId: string

beforeAll(async () => {
  database = await createTestDatabase()
  posture = createPosture(database.db)
  checkId = await posture.insertCheck({ remediation_strategy: 'block_immediately' })
})
afterAll(() => database.close())
beforeEach(async () => {
  const { db } = database
  // Later than the results of the checks, which come by the clock of the database.
  clock = new ManualClock(new Date(Date.now() + MINUTE_MS))
  const runChange = createChangeRunner(db, clock, [])
  context = { db, clock, runChange }
  const email = `${newSecret(6)}@example.com`
  const owner = await insertPerson(db, { email })
  const deviceId = await posture.insertDevice({ ...inOrder(), owner_person_id: owner })
  await posture.report(deviceId, { [checkId]: FAIL })
  const begun = await beginTestAttempt(runChange, await insertApplication(db))
  await identifyTestPerson(runChange, begun.attempt.id, email)
  attempt = await proveTestDevice(runChange, begun.attempt.id, deviceId)
  expect(attempt.stage).toBe('posture')
})

const recheck = async () => runPosture(context, attempt, { isContinuing: false, isRecheck: true })

/** How often the device was asked: by what is on record, and what it still has to answer. */
async function asked() {
  const { db } = database
  const entries = await db
    .selectFrom('audit_entry')
    .select('action')
    .where('action', '=', 'check.refresh_requested')
    .where('target_id', '=', attempt.deviceId)
    .execute()
  const refreshes = await db
    .selectFrom('check_refresh')
    .select('check_id')
    .where('device_id', '=', attempt.deviceId ?? '0')
    .execute()
  return [entries.length, refreshes.length]
}

it('asks the device once while it has not answered, however often somebody asks', async () => {
  const { runChange } = context
  let committed = 0
  const counting: RunChange = async (...change) => {
    const result = await runChange(...change)
    committed += 1
    return result
  }
  context = { ...context, runChange: counting }
  const rechecks = Array.from({ length: 5 }, recheck)
  // All have asked or found that the device is being asked.
  await expect.poll(() => committed).toBe(5)
  expect(await asked()).toEqual([1, 1])
  await posture.report(attempt.deviceId ?? '0', { [checkId]: PASS })
  const ended = await Promise.allSettled(rechecks)
  expect(ended.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
  expect(await asked()).toEqual([1, 0])
})

it('asks no device for a sign-in that is over', async () => {
  clock.advance(ATTEMPT_LIFETIME_MS)
  await expect(recheck()).rejects.toThrow('This sign-in has ended')
  expect(await asked()).toEqual([0, 0])
})

it('asks no device for a sign-in that stands at another step', async () => {
  await database.db
    .updateTable('sign_in_attempt')
    .set({ stage: 'registration' })
    .where('id', '=', attempt.id)
    .execute()
  await expect(recheck()).rejects.toThrow('This sign-in is at another step: registration.')
  expect(await asked()).toEqual([0, 0])
})

it('asks no device any more for a sign-in that has asked too often', async () => {
  const { db } = database
  await db
    .updateTable('sign_in_attempt')
    .set({ fallback_state: JSON.stringify({ rechecks: RECHECKS_MAX - 1 }) })
    .where('id', '=', attempt.id)
    .execute()
  const last = recheck()
  await expect.poll(asked).toEqual([1, 1])
  await posture.report(attempt.deviceId ?? '0', { [checkId]: FAIL })
  expect((await last).stage).toBe('blocked')
  await expect(recheck()).rejects.toThrow('The device was checked too often in this sign-in.')
  expect(await asked()).toEqual([1, 0])
})
