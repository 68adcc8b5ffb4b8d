import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findDatabaseFault } from './database-fault.ts'
import { PoolTurns, runAs } from './pool-turns.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const LIMITS = { max: 4, waitMaxMs: 10_000 }

/** Takes turns as work of a kind, and notes in which order they came. */
function createTaker(turns: PoolTurns) {
  const order: string[] = []
  const ends: (() => void)[] = []
  return {
    order,
    take: (kind: string, count = 1) => {
      for (let index = 0; index < count; index += 1) {
        void runAs(kind, async () => {
          const end = await turns.take()
          order.push(kind)
          ends.push(end)
        })
      }
    },
    endOne: async () => {
      ends.shift()?.()
      await vi.advanceTimersByTimeAsync(0)
    },
  }
}

test('one kind of work gets every connection while nobody else asks', async () => {
  const { take, order } = createTaker(new PoolTurns(LIMITS))
  take('devices', 6)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['devices', 'devices', 'devices', 'devices'])
})

test('a flood of one kind holds no other up: the next free connection is for who holds none', async () => {
  const { take, order, endOne } = createTaker(new PoolTurns(LIMITS))
  take('devices', 1_000)
  take('requests', 2)
  take('jobs', 1)
  await vi.advanceTimersByTimeAsync(0)
  for (let count = 0; count < 4; count += 1) await endOne()
  expect(order.slice(4)).toEqual(['requests', 'jobs', 'devices', 'requests'])
})

test('kinds that all ask for much share the connections, each in the order in which it asked', async () => {
  const { take, order, endOne } = createTaker(new PoolTurns({ ...LIMITS, max: 6 }))
  take('devices', 100)
  take('requests', 100)
  take('jobs', 100)
  for (let count = 0; count < 90; count += 1) await endOne()
  const late = order.slice(-30)
  for (const kind of ['devices', 'requests', 'jobs']) {
    expect(late.filter((each) => each === kind)).toHaveLength(10)
  }
})

test('whoever waits too long is told that the service is busy, and nobody else waits longer for it', async () => {
  const turns = new PoolTurns({ ...LIMITS, max: 1 })
  const end = await turns.take()
  const late = runAs('requests', () => turns.take()).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(findDatabaseFault(await late)?.kind).toBe('busy')
  const next = turns.take()
  end()
  end()
  const endNext = await next
  const waiting = turns.take()
  const isTaken = vi.fn()
  void waiting.then(isTaken)
  await vi.advanceTimersByTimeAsync(0)
  expect(isTaken).not.toHaveBeenCalled()
  endNext()
  await waiting
})
