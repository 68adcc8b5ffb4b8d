import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../clock.ts'
import { addressBucket } from './address-bucket.ts'
import { ProcessRateLimiter } from './process-rate-limiter.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'], now: 1_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a limit that a process keeps alone', () => {
  it('accepts no more than the capacity in any window, whoever else is accepted', () => {
    const limiter = new ProcessRateLimiter(systemClock)
    expect(limiter.take('a', 5, 3, 60)).toMatchObject({ accepted: 3, remaining: 2 })
    vi.advanceTimersByTime(20_000)
    expect(limiter.take('a', 5, 3, 60)).toEqual({
      ...{ accepted: 2, remaining: 0 },
      ...{ reset_epoch_seconds: 1_060, reset_seconds: 40 },
    })
    expect(limiter.take('a', 5, 1, 60)).toMatchObject({ accepted: 0, reset_seconds: 40 })
    expect(limiter.take('b', 5, 1, 60)).toMatchObject({ accepted: 1 })
    vi.advanceTimersByTime(40_000)
    expect(limiter.take('a', 5, 9, 60)).toMatchObject({ accepted: 3, reset_seconds: 20 })
  })

  it('forgets nobody for those who come after, until their window is over', () => {
    const limiter = new ProcessRateLimiter(systemClock)
    limiter.take('a', 1, 1, 60)
    for (let other = 1; other < 10_000; other += 1) limiter.take(`other ${other}`, 1, 1, 60)
    expect(limiter.take('late', 1, 1, 60).accepted).toBe(0)
    expect(limiter.take('a', 1, 1, 60).accepted).toBe(0)
    vi.advanceTimersByTime(60_000)
    expect(limiter.take('late', 1, 1, 60).accepted).toBe(1)
  })

  it('refuses nobody who is known because strangers come from too many addresses', () => {
    const limiter = new ProcessRateLimiter(systemClock)
    for (let other = 0; other < 10_000; other += 1) {
      limiter.take(addressBucket(`2001:db8:${other.toString(16)}::1`), 1, 1, 60)
    }
    expect(limiter.take(addressBucket('2001:db8:ffff::1'), 270, 1, 60).accepted).toBe(0)
    expect(limiter.take('session:1', 1_200, 1, 60).accepted).toBe(1)
  })

  it('tells whom it refuses for want of room that nothing is left', () => {
    const limiter = new ProcessRateLimiter(systemClock)
    for (let other = 0; other < 10_000; other += 1) limiter.take(`other ${other}`, 1, 1, 60)
    expect(limiter.take('late', 600, 1, 60)).toMatchObject({ accepted: 0, remaining: 0 })
  })

  it('looks for room at most once a second', () => {
    const limiter = new ProcessRateLimiter(systemClock)
    for (let other = 0; other < 10_000; other += 1) limiter.take(`other ${other}`, 1, 1, 60)
    vi.advanceTimersByTime(59_500)
    expect(limiter.take('late', 1, 1, 60).accepted).toBe(0)
    vi.advanceTimersByTime(500)
    expect(limiter.take('late', 1, 1, 60).accepted).toBe(0)
    vi.advanceTimersByTime(500)
    expect(limiter.take('late', 1, 1, 60).accepted).toBe(1)
  })
})
