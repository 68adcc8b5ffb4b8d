import { describe, expect, test } from 'vitest'
import { createDeviceQueue, type DeviceQueueLimits } from './device-queue.ts'
import { gatherByDevice } from './gather-by-device.ts'

function setUp(limits: Partial<DeviceQueueLimits> = {}) {
  const queue = createDeviceQueue({
    runningMax: 2,
    messagesPerDeviceMax: 4,
    bytesPerDeviceMax: 100,
    waitMaxMs: 10_000,
    ...limits,
  })
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const run = (deviceId: string, name: string, bytes = 1) =>
    queue.run(deviceId, bytes, () => {
      started.push(name)
      const end = Promise.withResolvers<string>()
      ends.set(name, end)
      return end.promise
    })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const end = async (name: string) => {
    ends.get(name)?.resolve(name)
    await settle()
  }
  return { run, started, end, ends, settle }
}

describe('the queue of devices', () => {
  test('runs one message of a device at a time, in their order', async () => {
    const { run, started, end, settle } = setUp()
    const runs = [run('1', 'a'), run('1', 'b'), run('1', 'c')]
    await settle()
    expect(started).toEqual(['a'])
    await end('a')
    expect(started).toEqual(['a', 'b'])
    await end('b')
    await end('c')
    expect(await Promise.all(runs)).toEqual(['a', 'b', 'c'])
  })

  test('lets devices take turns when there is no room for all', async () => {
    const { run, started, end, settle } = setUp({ runningMax: 1 })
    void run('1', '1a')
    void run('1', '1b')
    void run('2', '2a')
    await settle()
    await end('1a')
    expect(started).toEqual(['1a', '2a'])
    await end('2a')
    expect(started).toEqual(['1a', '2a', '1b'])
    await end('1b')
  })

  test('refuses as busy what finds no room in time, and goes on with the others', async () => {
    const { run, started, end } = setUp({ runningMax: 1, waitMaxMs: 20 })
    const first = run('1', 'a')
    await expect(run('2', 'b')).rejects.toMatchObject({ code: 'unavailable' })
    const third = run('3', 'c')
    await end('a')
    await end('c')
    expect(await Promise.all([first, third])).toEqual(['a', 'c'])
    expect(started).toEqual(['a', 'c'])
  })

  test('goes on after a message that failed', async () => {
    const { run, started, end, ends, settle } = setUp({ runningMax: 1 })
    const failing = run('1', 'a')
    const next = run('1', 'b')
    await settle()
    ends.get('a')?.reject(new Error('no'))
    await expect(failing).rejects.toThrow('no')
    await settle()
    expect(started).toEqual(['a', 'b'])
    await end('b')
    expect(await next).toBe('b')
  })

  test('refuses what a device sends beyond its share, and nobody else', async () => {
    const { run, started, end, settle } = setUp({ messagesPerDeviceMax: 2 })
    void run('1', 'a')
    void run('1', 'b')
    await expect(run('1', 'c')).rejects.toMatchObject({ code: 'rate_limited' })
    void run('2', 'd')
    await settle()
    expect(started).toEqual(['a', 'd'])
    await end('a')
    await end('b')
    await end('d')
    void run('1', 'e')
    await settle()
    expect(started).toContain('e')
    await end('e')
  })

  test('holds no more of a device than its share of bytes, but one message of any size', async () => {
    const { run, end, settle } = setUp()
    const large = run('1', 'a', 1_000)
    await settle()
    await expect(run('1', 'b', 1)).rejects.toMatchObject({ code: 'rate_limited' })
    await end('a')
    expect(await large).toBe('a')
  })
})

describe('what is gathered by device', () => {
  const limits = {
    runningMax: 1,
    messagesPerDeviceMax: 2,
    bytesPerDeviceMax: 100,
    waitMaxMs: 10_000,
  }

  test('is done together when it waits together, and each gets the result', async () => {
    const done: string[][] = []
    const gather = gatherByDevice(createDeviceQueue(limits), async (items: readonly string[]) => {
      done.push([...items])
      await new Promise((resolve) => setImmediate(resolve))
      return items.length
    })
    const first = gather('1', 1, 'a')
    await Promise.resolve()
    await new Promise((resolve) => process.nextTick(resolve))
    const later = [gather('1', 1, 'b'), gather('1', 1, 'c'), gather('2', 1, 'x')]
    expect(await Promise.all([first, ...later])).toEqual([1, 2, 2, 1])
    expect(done).toEqual([['a'], ['x'], ['b', 'c']])
  })

  test('fails together, and goes on afterwards', async () => {
    let isBroken = true
    const gather = gatherByDevice(createDeviceQueue(limits), async (items: readonly string[]) => {
      if (isBroken) throw new Error('no')
      return items.length
    })
    await expect(Promise.all([gather('1', 1, 'a'), gather('1', 1, 'b')])).rejects.toThrow('no')
    isBroken = false
    expect(await gather('1', 1, 'c')).toBe(1)
  })

  test('is refused when the device has too much waiting, and not for ever', async () => {
    const ends: (() => void)[] = []
    const gather = gatherByDevice(
      createDeviceQueue({ ...limits, messagesPerDeviceMax: 1 }),
      (items: readonly string[]) =>
        new Promise<number>((resolve) => ends.push(() => resolve(items.length))),
    )
    const first = gather('1', 1, 'a')
    await new Promise((resolve) => setImmediate(resolve))
    await expect(gather('1', 1, 'b')).rejects.toMatchObject({ code: 'rate_limited' })
    ends[0]?.()
    expect(await first).toBe(1)
    const next = gather('1', 1, 'c')
    await new Promise((resolve) => setImmediate(resolve))
    ends[1]?.()
    expect(await next).toBe(1)
  })
})
