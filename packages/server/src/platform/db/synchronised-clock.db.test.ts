import { afterAll, afterEach, expect, test } from 'vitest'
import { createTestDatabase, setTimeAhead } from '../../../test/support/database.ts'
import { HOUR_MS, systemClock } from '../clock.ts'
import { SynchronisedClock, toTimeSource, type TimeSource } from './synchronised-clock.ts'

const database = await createTestDatabase({ hasSettableClock: true })
afterEach(() => setTimeAhead(database, 0))
afterAll(() => database.close())

const hoursAhead = (clock: SynchronisedClock) =>
  (clock.now().getTime() - systemClock.now().getTime()) / HOUR_MS

test('the time of a process is that of the database, whatever its machine says', async () => {
  const clock = new SynchronisedClock(toTimeSource(database.db))
  expect(hoursAhead(clock)).toBeCloseTo(0)
  await setTimeAhead(database, 3 * HOUR_MS)
  await clock.synchronise()
  expect(hoursAhead(clock)).toBeCloseTo(3)
  await setTimeAhead(database, -2 * HOUR_MS)
  await clock.synchronise()
  expect(hoursAhead(clock)).toBeCloseTo(-2)
})

test('between two looks the time goes on with the steady clock', async () => {
  const source = new ManualSource()
  const clock = new SynchronisedClock(source)
  await clock.synchronise()
  source.pass(1_500)
  expect(clock.now().getTime()).toBe(source.timeMs)
})

test('an answer that is late does not move the time, and a clock that was set does', async () => {
  const source = new ManualSource()
  const clock = new SynchronisedClock(source)
  await clock.synchronise()
  source.answerAfterMs = 800
  await clock.synchronise()
  expect(clock.now().getTime()).toBe(source.timeMs)
  source.timeMs -= 5_000
  await clock.synchronise()
  expect(Math.abs(clock.now().getTime() - source.timeMs)).toBeLessThanOrEqual(400)
  source.answerAfterMs = 0
  await clock.synchronise()
  expect(clock.now().getTime()).toBe(source.timeMs)
})

test('a quicker answer puts right what a slower one left uncertain', async () => {
  const source = new ManualSource()
  source.answerAfterMs = 800
  const clock = new SynchronisedClock(source)
  await clock.synchronise()
  source.answerAfterMs = 600
  await clock.synchronise()
  expect(Math.abs(clock.now().getTime() - source.timeMs)).toBeLessThanOrEqual(300)
})

test('a look that fails leaves the time as it is', async () => {
  const source = new ManualSource()
  const clock = new SynchronisedClock(source)
  await clock.synchronise()
  source.failure = new Error('the database is away')
  await expect(clock.synchronise()).rejects.toThrow('the database is away')
  source.pass(10)
  expect(clock.now().getTime()).toBe(source.timeMs)
})

class ManualSource implements TimeSource {
  timeMs = Date.UTC(2026, 0, 2)
  answerAfterMs = 0
  failure: Error | undefined
  #steadyMs = 1_000

  pass(ms: number): void {
    this.timeMs += ms
    this.#steadyMs += ms
  }

  steadyMs(): number {
    return this.#steadyMs
  }

  async readTimeMs(): Promise<number> {
    if (this.failure !== undefined) throw this.failure
    const timeMs = this.timeMs
    this.pass(this.answerAfterMs)
    return timeMs
  }
}
