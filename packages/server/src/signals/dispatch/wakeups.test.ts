import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Wakeups } from './wakeups.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** When each run began, in milliseconds since now; a run does this and takes so long. */
function begin(
  during: (wakeups: Wakeups) => void = () => undefined,
  takesMs = 0,
  intervalMinMs = 0,
) {
  const startMs = performance.now()
  const begins: number[] = []
  const wakeups: Wakeups = new Wakeups(async () => {
    begins.push(Math.round(performance.now() - startMs))
    wakeups.forget()
    during(wakeups)
    if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs))
  }, intervalMinMs)
  return { begins, wakeups }
}

const pass = (durationMs: number) => vi.advanceTimersByTimeAsync(durationMs)

test('what is planned for earlier stays, also when its time is near', async () => {
  const { begins, wakeups } = begin()
  wakeups.wakeIn(100)
  await pass(90)
  wakeups.wakeWithin(50)
  await pass(1_000)
  expect(begins).toEqual([100])
})

test('what is planned for later gives way', async () => {
  const { begins, wakeups } = begin()
  wakeups.wakeIn(100)
  wakeups.wakeWithin(20)
  await pass(1_000)
  wakeups.wakeWithin(20)
  wakeups.wakeIn(50)
  await pass(1_000)
  expect(begins).toEqual([20, 1_050])
})

test('what is planned during a run is counted from then, and waits for its end', async () => {
  const { begins, wakeups } = begin((running) => {
    if (begins.length === 1) running.wakeIn(80)
    if (begins.length === 2) running.wakeIn(10)
  }, 50)
  wakeups.wake()
  await pass(1_000)
  // A timer takes a millisecond at least.
  expect(begins).toEqual([0, 80, 131])
  expect(wakeups.isIdle).toBe(true)
})

test('many reasons to wake during a run are one more run', async () => {
  const { begins, wakeups } = begin(undefined, 50)
  for (let times = 0; times < 3; times += 1) {
    wakeups.wake()
    await pass(10)
  }
  await pass(1_000)
  expect(begins).toEqual([0, 50])
})

test('the first after a pause runs at once, and those that follow closely share a run', async () => {
  const { begins, wakeups } = begin(undefined, 2, 10)
  for (let times = 0; times < 15; times += 1) {
    wakeups.wake()
    await pass(1)
  }
  await pass(100)
  wakeups.wake()
  await pass(100)
  expect(begins).toEqual([0, 10, 20, 115])
  expect(wakeups.isIdle).toBe(true)
})

test('what is planned runs at its time, also when the last run is not long ago', async () => {
  const { begins, wakeups } = begin(
    (running) => {
      if (begins.length === 1) running.wakeIn(4)
    },
    2,
    10,
  )
  wakeups.wake()
  await pass(1)
  wakeups.wake()
  await pass(100)
  expect(begins).toEqual([0, 4])
})

test('who wakes it soon after a planned run waits for nothing', async () => {
  const { begins, wakeups } = begin(undefined, 2, 10)
  wakeups.wakeIn(20)
  await pass(25)
  wakeups.wake()
  await pass(5)
  wakeups.wake()
  await pass(100)
  expect(begins).toEqual([20, 25, 35])
})
