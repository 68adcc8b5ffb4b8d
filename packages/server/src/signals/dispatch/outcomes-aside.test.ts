import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAnsweredDatabase } from '../../../test/support/answered-database.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { BRIEF_WAIT } from './lock-waits.ts'
import { OutcomesAside } from './outcomes-aside.ts'

const LOCKED = '55P03'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/**
 * Outcomes of a destination each, named `destination:number`, which are put aside together. What is locked is waited
 * for when it is slow.
 */
function begin(
  names: readonly string[],
  codeOf: (tried: readonly string[]) => string | undefined,
  isSlow = false,
) {
  const tries: (readonly string[])[] = []
  const waitedFor: string[] = []
  const written: string[] = []
  const ended: string[] = []
  const aside = new OutcomesAside({
    db: createAnsweredDatabase(() => undefined),
    log: SILENT_LOGGER,
    random: () => 0,
    tryWriting: async (batch, { lockMs }) => {
      const tried = batch.map(({ outcome }) => outcome.delivery.id)
      tries.push(tried)
      const code = codeOf(tried)
      if (code === LOCKED && lockMs === BRIEF_WAIT.lockMs) waitedFor.push(...tried)
      if (code === LOCKED && isSlow) await new Promise((resolve) => setTimeout(resolve, lockMs))
      if (code !== undefined) return Object.assign(new Error(code), { code })
      written.push(...tried)
      return undefined
    },
  })
  const add = (added: readonly string[]) => {
    const onGivenUp = () => Promise.resolve()
    aside.add(
      added.map((name) => ({
        outcome: toOutcome(name),
        onRecorded: () => ended.push(name),
        onGivenUp,
      })),
    )
  }
  add(names)
  return { aside, add, tries, waitedFor, written, ended }
}

function toOutcome(name: string): DeliveryOutcome {
  const delivery = { id: name, destinationId: name.split(':')[0] as DestinationId }
  return { delivery, verdict: { kind: 'accepted' }, notice: null } as DeliveryOutcome
}

const lockedWith = (name: string) => (tried: readonly string[]) =>
  tried.includes(name) ? LOCKED : undefined

test('of a destination everything before what is locked is written, and what is behind it waits', async () => {
  const names = ['a:1', 'b:1', 'a:2', 'a:3', 'b:2']
  const { aside, written } = begin(names, lockedWith('a:2'))
  await vi.advanceTimersByTimeAsync(100)
  expect(written.toSorted()).toEqual(['a:1', 'b:1', 'b:2'])
  expect(aside.has('a' as DestinationId)).toBe(true)
  expect(aside.has('b' as DestinationId)).toBe(false)
})

test('many that are locked hold up the others for one wait together, and each is waited for in its turn', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `${index}:1`)
  let isLocked = (name: string) => name !== '99:1'
  const codeOf = (tried: readonly string[]) =>
    tried.some((name) => isLocked(name)) ? LOCKED : undefined
  const { waitedFor, written } = begin(names, codeOf, true)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(written).toEqual(['99:1'])
  await vi.advanceTimersByTimeAsync(3_000)
  expect(waitedFor).toEqual(['0:1', '1:1', '2:1'])
  isLocked = () => false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(written).toHaveLength(100)
})

test('what is locked is tried alone while it is, and all that waits goes together afterwards', async () => {
  let isLocked = true
  const names = Array.from({ length: 40 }, (_, index) => `a:${index}`)
  const { add, tries, written } = begin(names, (tried) =>
    isLocked ? lockedWith('a:0')(tried) : undefined,
  )
  await vi.advanceTimersByTimeAsync(5_000)
  add(['a:40'])
  expect(new Set(tries.slice(10).map((tried) => tried.join()))).toEqual(new Set(['a:0']))
  isLocked = false
  tries.length = 0
  await vi.advanceTimersByTimeAsync(300)
  expect(tries.map((tried) => tried.length)).toEqual([1, 40])
  expect(written).toEqual([...names, 'a:40'])
})

test('an end tries once more what is locked, and gives up its destination alone', async () => {
  const { aside, add, written, ended, tries } = begin(['a:1'], lockedWith('a:1'))
  await vi.advanceTimersByTimeAsync(100)
  add(['b:1'])
  tries.length = 0
  const closing = aside.close()
  await vi.advanceTimersByTimeAsync(300)
  await closing
  expect(tries).toEqual([['a:1'], ['b:1']])
  expect(written).toEqual(['b:1'])
  expect(ended.toSorted()).toEqual(['a:1', 'b:1'])
})

test('while the database is away nothing more is tried in vain, and an end gives up everything after one try', async () => {
  const { aside, ended, tries } = begin(['a:1', 'b:1', 'c:1'], () => 'ECONNREFUSED')
  await vi.advanceTimersByTimeAsync(100)
  expect(tries).toEqual([['a:1']])
  tries.length = 0
  const closing = aside.close()
  await vi.advanceTimersByTimeAsync(300)
  await closing
  expect(tries).toEqual([['a:1']])
  expect(ended).toEqual(['a:1', 'b:1', 'c:1'])
})

test('an end leaves of a destination what is locked, and records what stands before and behind it', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `a:${index}`)
  const lockedNames = ['a:7', 'a:8', 'a:30']
  const codeOf = (tried: readonly string[]) =>
    tried.some((name) => lockedNames.includes(name)) ? LOCKED : undefined
  const { aside, written, ended } = begin(names, codeOf, true)
  const closing = aside.close()
  await vi.advanceTimersByTimeAsync(1_000)
  await closing
  expect(written).toEqual(names.filter((name) => !lockedNames.includes(name)))
  expect(ended).toEqual(names)
})

test.each([
  { title: 'for two seconds', latestMs: 60_000, enoughMs: 4_000 },
  { title: 'until the process must have ended', latestMs: 300, enoughMs: 1_500 },
])('an end searches among what is locked $title at most', async ({ latestMs, enoughMs }) => {
  const names = Array.from({ length: 5_000 }, (_, index) => `${index % 50}:${index}`)
  const { aside, written, ended } = begin(names, () => LOCKED, true)
  let isClosed = false
  void aside.close(performance.now() + latestMs).then(() => (isClosed = true))
  await vi.advanceTimersByTimeAsync(enoughMs)
  expect(isClosed).toBe(true)
  expect(written).toEqual([])
  expect(ended).toHaveLength(names.length)
})
