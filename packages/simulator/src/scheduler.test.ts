import { describe, expect, test, vi } from 'vitest'
import { createHeapScheduler, createManualScheduler } from './scheduler.ts'
import { createRandom } from './random.ts'

describe('schedulers', () => {
  test('the manual scheduler runs tasks in the order of their time, and equals in order of arrival', async () => {
    const scheduler = createManualScheduler(() => Promise.resolve())
    const random = createRandom(3)
    const ran: number[] = []
    const delays = Array.from({ length: 500 }, () => Math.floor(random() * 100))
    for (const delayMs of delays) scheduler.schedule(delayMs, () => ran.push(delayMs))
    await scheduler.advance(100)
    expect(ran).toEqual([...delays].sort((left, right) => left - right))
  })

  test('a cancelled task does not run', async () => {
    const scheduler = createManualScheduler(() => Promise.resolve())
    const ran: string[] = []
    const cancel = scheduler.schedule(10, () => ran.push('cancelled'))
    scheduler.schedule(10, () => ran.push('kept'))
    cancel()
    await scheduler.advance(20)
    expect(ran).toEqual(['kept'])
  })

  test('the heap scheduler runs a task in time when the clock of the machine is set back meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const scheduler = createHeapScheduler()
    const ran = new Promise<void>((resolve) => scheduler.schedule(20, resolve))
    vi.setSystemTime(Date.now() - 3_600_000)
    await ran
    scheduler.close()
    vi.useRealTimers()
  })

  test('the heap scheduler runs a later but sooner due task first, and nothing after close', async () => {
    const scheduler = createHeapScheduler()
    const ran: string[] = []
    await new Promise<void>((resolve) => {
      scheduler.schedule(20, () => {
        ran.push('late')
        resolve()
      })
      scheduler.schedule(1, () => ran.push('soon'))
    })
    scheduler.schedule(1, () => ran.push('after close'))
    scheduler.close()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(ran).toEqual(['soon', 'late'])
  })
})
