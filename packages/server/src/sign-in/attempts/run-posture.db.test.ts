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
import { CleanupStack } from '../../platform/cleanup-stack.ts'
import { createListener } from '../../platform/db/listener.ts'
import { newSecret } from '../../platform/ids.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { createRerunAnswers, RERUN_CHANNEL } from '../../posture/checks/rerun-answers.ts'
import type { Attempt } from './attempt-store.ts'
import { ATTEMPT_LIFETIME_MS } from './move-attempt.ts'
import { insertCheckRefreshes } from './stale-checks-store.ts'
import { RECHECKS_MAX, runPosture, type RunPostureDependencies } from './run-posture.ts'

let database: TestDatabase
let clock: ManualClock
let posture: Posture
let context: RunPostureDependencies
let attempt: Attempt
let checkId: string
const cleanup = new CleanupStack()
/** Only what is told wakes whoever waits. */
const reruns = createRerunAnswers(MINUTE_MS)

beforeAll(async () => {
  database = await createTestDatabase()
  cleanup.add(() => database.close())
  posture = createPosture(database.db)
  const { connection, network } = database
  const listener = createListener(connection, { log: SILENT_LOGGER, network })
  listener.subscribe(RERUN_CHANNEL, (payload) => reruns.hear(payload))
  listener.start()
  cleanup.add(() => listener.stop())
  await listener.whenListening()
  checkId = await posture.insertCheck({ remediation_strategy: 'block_immediately' })
})
afterAll(() => cleanup.run())
beforeEach(async () => {
  const { db } = database
  // Later than the results of the checks, which come by the clock of the database.
  clock = new ManualClock(new Date(Date.now() + MINUTE_MS))
  const runChange = createChangeRunner(db, clock, [])
  context = { db, clock, runChange, reruns }
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

it('is woken by the answer, in whichever process it arrives, and looks once', async () => {
  let looks = 0
  const begin: typeof reruns.begin = (deviceId) => {
    const wait = reruns.begin(deviceId)
    return {
      end: () => wait.end(),
      // Longer than any test takes: nothing but the answer ends the wait.
      until: async (isAnswered) =>
        wait.until(async () => {
          looks += 1
          return isAnswered()
        }, 10 * MINUTE_MS),
    }
  }
  context = { ...context, reruns: { begin } }
  const waiting = recheck()
  await expect.poll(asked).toEqual([1, 1])
  // Another device is nothing to this one.
  const other = await posture.insertDevice(inOrder())
  await posture.change(({ tx }) => insertCheckRefreshes(tx, other, [checkId], clock.now()))
  await posture.report(other, { [checkId]: PASS })
  await posture.report(attempt.deviceId ?? '0', { [checkId]: FAIL })
  expect((await waiting).stage).toBe('blocked')
  expect(looks).toBe(1)
})

it('finds by itself what it was not told', async () => {
  context = { ...context, reruns: createRerunAnswers(20) }
  const waiting = recheck()
  await expect.poll(asked).toEqual([1, 1])
  await posture.report(attempt.deviceId ?? '0', { [checkId]: FAIL })
  expect((await waiting).stage).toBe('blocked')
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
