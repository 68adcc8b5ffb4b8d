import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { MINUTE_MS, SECOND_MS } from '../platform/clock.ts'
import { SYSTEM_ACTOR } from './audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from './change.ts'

const database = await createTestDatabase()
const { db } = database
const origin = { actor: SYSTEM_ACTOR }

const clock = new ManualClock()

let told: string[]
let runChange: RunChange

beforeEach(() => {
  told = []
  runChange = createChangeRunner(db, clock, [], {
    tell: (channel, payloads) => void told.push(...payloads.map((one) => `${channel} ${one}`)),
  })
})
afterAll(() => database.close())

test('other processes are told once the change is durable, of each channel in order', async () => {
  await runChange(origin, async (change) => {
    change.tellAfterCommit('first', '1')
    change.tellAfterCommit('second', 'a', 'b')
    change.tellAfterCommit('first', '2')
    expect(told).toEqual([])
  })
  expect(told).toEqual(['first 1', 'first 2', 'second a', 'second b'])
})

test('of several times at which something is due the earliest alone is told', async () => {
  const [early, late] = [clock.now(), new Date(clock.now().getTime() + SECOND_MS)]
  await runChange(origin, async (change) => {
    change.tellDueAfterCommit('statuses', late)
    change.tellDueAfterCommit('statuses', early)
    change.tellDueAfterCommit('statuses', late)
    change.tellDueAfterCommit('sessions', late)
  })
  expect(told).toEqual([`statuses ${early.toISOString()}`, `sessions ${late.toISOString()}`])
})

test('a time that its job learns of by itself is not told, one of the next minute is', async () => {
  const [near, far] = [59 * SECOND_MS, MINUTE_MS].map((ms) => new Date(clock.now().getTime() + ms))
  await runChange(origin, async (change) => {
    change.tellDueAfterCommit('statuses', near!)
    change.tellDueAfterCommit('sessions', far!)
  })
  expect(told).toEqual([`statuses ${near!.toISOString()}`])
})

test('a change that has more to tell than a notification takes fails where it says so, and does not commit', async () => {
  const work = runChange(origin, async (change) => {
    await change.tx.insertInto('person_group').values(GROUP).execute()
    expect(() => change.tellAfterCommit('first', 'é'.repeat(4_000))).toThrow(RangeError)
    change.tellAfterCommit('first', 'é'.repeat(4_000))
  })
  await expect(work).rejects.toThrow(RangeError)
  expect(await db.selectFrom('person_group').selectAll().execute()).toEqual([])
  expect(told).toEqual([])
})

const now = new Date()
const GROUP = { name: 'told', created_at: now, updated_at: now }
