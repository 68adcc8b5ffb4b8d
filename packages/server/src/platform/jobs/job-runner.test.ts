import type { Kysely } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Listener } from '../db/listener.ts'
import { startJobs } from './job-runner.ts'
import type { RunningJob } from './running-job.ts'

let running: RunningJob
let begun: string[]

beforeEach(() => {
  vi.useFakeTimers()
  begun = []
})
afterEach(async () => {
  await running.stop()
  vi.useRealTimers()
})

function start(...names: readonly string[]): void {
  running = startJobs(
    names.map((name) => ({
      kind: 'due',
      name,
      roles: [],
      run: () => {
        begun.push(name)
        return Promise.resolve(undefined)
      },
    })),
    {
      clock: { now: () => new Date(vi.getMockedSystemTime() ?? 0) },
      // Due jobs without a channel ask neither.
      db: {} as Kysely<unknown>,
      listener: {} as Listener,
      lockClass: 0,
      logError: () => undefined,
    },
  )
}

test('jobs do not begin at once, so that their first looks share connections', async () => {
  start('one', 'two', 'three')
  await vi.advanceTimersByTimeAsync(0)
  expect(begun).toEqual(['one'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(begun).toEqual(['one', 'two', 'three'])
})

test('a job that has not begun when the process stops does not begin any more', async () => {
  start('one', 'two')
  await vi.advanceTimersByTimeAsync(0)
  await running.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(begun).toEqual(['one'])
})
