import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withLocks } from './lock-tries.ts'

const LOCKED = new Error('the migration failed', { cause: { code: '55P03' } })

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

/** Passes as this time does, without anybody waiting for it. */
const pass = (ms: number) => async () => void vi.advanceTimersByTime(ms)

it('a migration whose own work takes longer than locks are waited for is tried again all the same', async () => {
  const work = vi.fn(pass(60_000)).mockImplementationOnce(async () => {
    vi.advanceTimersByTime(60_000)
    throw LOCKED
  })
  await withLocks(work, pass(1_000))
  expect(work).toHaveBeenCalledTimes(2)
})

it('a lock that is not to be had is reported after half a minute of waiting', async () => {
  const beganMs = performance.now()
  const work = async () => {
    vi.advanceTimersByTime(2_000)
    throw LOCKED
  }
  await expect(withLocks(work, pass(1_000))).rejects.toBe(LOCKED)
  expect(performance.now() - beganMs).toBe(29_000)
})

it('what fails for something else is not tried again', async () => {
  const failure = new Error('the migration failed', { cause: { code: '42P01' } })
  const work = vi.fn(() => Promise.reject(failure))
  await expect(withLocks(work, pass(1_000))).rejects.toBe(failure)
  expect(work).toHaveBeenCalledOnce()
})
