import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startDueJob, type RunningDueJob } from './due-job.ts'

const POLL_MS = 5_000
const START = new Date('2026-01-02T03:04:05.678Z')

let job: RunningDueJob
let runs: number[]
let dueAtMs: number | undefined
let failure: Error | undefined
const failures: unknown[] = []

beforeEach(() => {
  vi.useFakeTimers({ now: START })
  runs = []
  dueAtMs = undefined
  failure = undefined
  failures.length = 0
})
afterEach(async () => {
  await job.stop()
  vi.useRealTimers()
})

function start(): void {
  job = startDueJob({
    name: 'test',
    clock: { now: () => new Date(vi.getMockedSystemTime() ?? 0) },
    run: async () => {
      runs.push(elapsedMs())
      if (failure !== undefined) throw failure
      return dueAtMs === undefined ? undefined : new Date(START.getTime() + dueAtMs)
    },
    logError: (error) => failures.push(error),
    pollMs: POLL_MS,
  })
}

const elapsedMs = () => (vi.getMockedSystemTime()?.getTime() ?? 0) - START.getTime()
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const at = (ms: number) => new Date(START.getTime() + ms)

test('runs at once and then at every poll interval', async () => {
  start()
  await pass(2 * POLL_MS)
  expect(runs).toEqual([0, POLL_MS, 2 * POLL_MS])
})

test('runs exactly when the next thing is due', async () => {
  dueAtMs = 1_234
  start()
  await pass(1_233)
  expect(runs).toEqual([0])
  await pass(1)
  expect(runs).toEqual([0, 1_234])
})

test('is woken for an earlier time and not put off by a later one', async () => {
  dueAtMs = 3_000
  start()
  await pass(0)
  job.wake(at(1_000))
  job.wake(at(4_000))
  job.wake(new Date(Number.NaN))
  await pass(1_000)
  expect(runs).toEqual([0, 1_000])
  await pass(2_000)
  expect(runs).toEqual([0, 1_000, 3_000])
})

test('a time that is told during a run counts after it', async () => {
  let finish: () => void = () => undefined
  job = startDueJob({
    name: 'blocked',
    clock: { now: () => new Date(vi.getMockedSystemTime() ?? 0) },
    run: () =>
      new Promise((resolve) => {
        runs.push(elapsedMs())
        finish = () => resolve(undefined)
      }),
    logError: () => undefined,
    pollMs: POLL_MS,
  })
  job.wake(at(700))
  finish()
  await pass(700)
  expect(runs).toEqual([0, 700])
  finish()
})

test('comes back soon to what is due but was not done', async () => {
  dueAtMs = -1
  start()
  await pass(250)
  expect(runs).toEqual([0, 100, 200])
})

test('tells a failure and tries again after the poll interval', async () => {
  failure = new Error('no')
  start()
  await pass(2 * POLL_MS)
  expect(runs).toEqual([0, POLL_MS, 2 * POLL_MS])
  expect(failures).toEqual([failure, failure, failure])
})

test('does not run again once it is stopped', async () => {
  start()
  await job.stop()
  job.wake(at(0))
  await pass(2 * POLL_MS)
  expect(runs).toEqual([0])
})
