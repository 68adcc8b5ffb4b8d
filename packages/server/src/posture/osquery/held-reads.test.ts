import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHeldReads } from './held-reads.ts'

const LIMITS = { placesMax: 100, wakesPerTick: 10 }

describe('a request that is held', () => {
  beforeEach(
    () =>
      void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'], now: 5 }),
  )
  afterEach(() => void vi.useRealTimers())

  it('ends when its device is woken, and not when another one is', async () => {
    const reads = createHeldReads(LIMITS)
    const outcome = reads.begin('1')?.wait(10_000)
    reads.begin('2')
    reads.wake('2')
    vi.advanceTimersByTime(9_000)
    reads.wake('1')
    expect(await outcome).toBe('woken')
  })

  it('ends after its time, at most a tenth of a second late, and many ends cost one timer', async () => {
    const reads = createHeldReads(LIMITS)
    const ended: number[] = []
    for (let index = 1; index <= 50; index += 1) {
      void reads
        .begin(`${index}`)
        ?.wait(index * 100)
        .then(() => ended.push(index))
    }
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(2_500)
    expect(ended).toContain(24)
    expect(ended).not.toContain(26)
    await vi.advanceTimersByTimeAsync(2_700)
    expect(ended).toHaveLength(50)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('misses nothing that comes between its beginning and the wait', async () => {
    const reads = createHeldReads(LIMITS)
    const read = reads.begin('1')
    reads.wake('1')
    expect(await read?.wait(10_000)).toBe('woken')
    const again = read?.wait(300)
    await vi.advanceTimersByTimeAsync(500)
    expect(await again).toBe('time')
  })

  it('is answered when its device asks again, and gives its place back when it ends', async () => {
    const reads = createHeldReads({ ...LIMITS, placesMax: 2 })
    const first = reads.begin('1')
    const outcome = first?.wait(10_000)
    const second = reads.begin('1')
    expect(await outcome).toBe('over')
    first?.end()
    expect(reads.count()).toBe(1)
    reads.begin('2')
    expect(reads.begin('3')).toBeUndefined()
    second?.end()
    expect(await second?.wait(10_000)).toBe('over')
    expect(reads.begin('3')).toBeDefined()
    expect(reads.count()).toBe(2)
  })

  it('ends at once when the process stops, and nobody is held any more', async () => {
    const reads = createHeldReads(LIMITS)
    const outcomes = ['1', '2'].map(async (deviceId) => reads.begin(deviceId)?.wait(10_000))
    reads.close()
    expect(await Promise.all(outcomes)).toEqual(['over', 'over'])
    expect([reads.count(), reads.begin('3')]).toEqual([0, undefined])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is woken in its turn when very many are', async () => {
    const reads = createHeldReads(LIMITS)
    const woken: string[] = []
    const deviceIds = Array.from({ length: 35 }, (_, index) => `${index + 1}`)
    for (const deviceId of deviceIds) {
      void reads
        .begin(deviceId)
        ?.wait(10_000)
        .then((outcome) => woken.push(outcome))
    }
    for (const deviceId of deviceIds) reads.wake(deviceId)
    await vi.advanceTimersByTimeAsync(0)
    expect(woken).toHaveLength(10)
    await vi.advanceTimersByTimeAsync(100)
    expect(woken).toHaveLength(20)
    await vi.advanceTimersByTimeAsync(200)
    expect(woken).toEqual(deviceIds.map(() => 'woken'))
  })
})
