import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PollWaiters } from './poll-waiters.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

const WAITERS_MAX = 10_000
const FIRST = '1' as DestinationId
const SECOND = '2' as DestinationId

describe('waiting for events', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('ends when the destination is woken, and not when another one is', async () => {
    const waiters = new PollWaiters(WAITERS_MAX)
    const waiter = waiters.begin(FIRST, 25_000)
    waiters.wake(SECOND)
    vi.advanceTimersByTime(24_999)
    waiters.wake(FIRST)
    expect(await waiter.outcome).toBe('woken')
  })

  it('ends with nothing after its time', async () => {
    const waiters = new PollWaiters(WAITERS_MAX)
    const waiter = waiters.begin(FIRST, 25_000)
    vi.advanceTimersByTime(25_000)
    waiters.wake(FIRST)
    expect(await waiter.outcome).toBe('over')
  })

  it('wakes everybody of a destination, and everybody of all when wake-ups may have been missed', async () => {
    const waiters = new PollWaiters(WAITERS_MAX)
    const first = [waiters.begin(FIRST, 1_000), waiters.begin(FIRST, 1_000)]
    const second = waiters.begin(SECOND, 1_000)
    waiters.wake(FIRST)
    expect(await Promise.all(first.map(({ outcome }) => outcome))).toEqual(['woken', 'woken'])
    waiters.wakeAll()
    expect(await second.outcome).toBe('woken')
  })

  it('ends at once, and gives its place back, when the receiver is gone', async () => {
    const waiters = new PollWaiters(1)
    const gone = new AbortController()
    const waiter = waiters.begin(FIRST, 25_000, gone.signal)
    gone.abort()
    expect(await waiter.outcome).toBe('over')
    waiter.end()
    waiter.end()
    expect(waiters.count()).toBe(0)
    const next = waiters.begin(FIRST, 25_000)
    waiters.wake(FIRST)
    expect(await next.outcome).toBe('woken')
  })

  it('is over at once beyond the limit, for no time, for a receiver that is gone, and after closing', async () => {
    const waiters = new PollWaiters(1)
    const only = waiters.begin(FIRST, 25_000)
    expect(await waiters.begin(SECOND, 25_000).outcome).toBe('over')
    only.end()
    expect(await waiters.begin(FIRST, 0).outcome).toBe('over')
    expect(await waiters.begin(FIRST, 25_000, AbortSignal.abort()).outcome).toBe('over')
    const last = waiters.begin(FIRST, 25_000)
    waiters.close()
    expect(await last.outcome).toBe('over')
    last.end()
    expect(await waiters.begin(FIRST, 25_000).outcome).toBe('over')
    expect(waiters.count()).toBe(0)
  })
})

describe('shared looks', () => {
  it('look once for all that ask in one turn, and anew for who asks while it runs', async () => {
    const waiters = new PollWaiters(WAITERS_MAX)
    const first = Promise.withResolvers<string>()
    const look = vi.fn(() => Promise.resolve('second')).mockReturnValueOnce(first.promise)
    const together = [waiters.share('1 100', look), waiters.share('1 100', look)]
    await expect.poll(() => look).toHaveBeenCalledOnce()
    const later = waiters.share('1 100', look)
    first.resolve('first')
    expect(await Promise.all(together)).toEqual(['first', 'first'])
    expect(await later).toBe('second')
    expect(look).toHaveBeenCalledTimes(2)
  })
})
