import { expect, test } from 'vitest'
import type { StreamState } from '@heliograph/ssf'
import {
  createComplianceState,
  createMemoryComplianceStore,
  StoreChangedError,
  toComplianceKey,
  type ComplianceChange,
  type ComplianceEntry,
  type ComplianceStore,
} from '../src/index.ts'
import { deviceSubject, eventOf, NOW } from './support/compliance-events.ts'

const KEY = toComplianceKey(deviceSubject('d1'))

function entryOf(status: ComplianceEntry['status'], sequence: number): ComplianceEntry {
  const at = NOW + sequence
  return { subject: deviceSubject('d1'), status, eventTimestamp: at, issuedAt: at, sequence }
}

function pageOf(status: ComplianceEntry['status'], sequence: number): StreamState {
  const subject = { sub_id: deviceSubject('d1'), status, jti: null, sequence }
  return {
    as_of_sequence: sequence,
    as_of: NOW + sequence,
    next_cursor: null,
    subjects: [{ ...subject, event_timestamp: NOW + sequence }],
  }
}

/** A store that other processes change before the commits that are to come, one by each of these. */
function createScene(page: StreamState = pageOf('compliant', 0)) {
  const shared = createMemoryComplianceStore()
  const others: ((store: ComplianceStore) => unknown)[] = []
  const told: string[] = []
  let commits = 0
  const store: ComplianceStore = {
    ...shared,
    async commit(changes) {
      commits += 1
      const change = others.shift()
      if (change === undefined) return shared.commit(changes)
      await change(shared)
      throw new StoreChangedError('changed')
    },
  }
  const state = createComplianceState({
    store,
    async *source() {
      yield await Promise.resolve(page)
    },
    onChange: ({ previous, current }: ComplianceChange) => void told.push(`${previous}>${current}`),
  })
  const put = (entry: ComplianceEntry, sequence?: number) => (to: ComplianceStore) =>
    to.commit({
      entries: new Map([[KEY, entry]]),
      removedKeys: [],
      position: sequence === undefined ? undefined : { sequence, ahead: [] },
    })
  const remove = (from: ComplianceStore) =>
    from.commit({ entries: new Map(), removedKeys: [KEY], position: undefined })
  return { shared, state, told, others, put, remove, commits: () => commits }
}

const nothing = () => undefined

test('an event that is out of date tells of nothing, although its number is stored by the second attempt', async () => {
  const { shared, state, told, others, put } = createScene()
  await put(entryOf('not-compliant', 5), 2)(shared)
  others.push(nothing)
  const older = eventOf({ status: 'compliant', at: NOW + 3, sequence: 3 })
  expect(await state.apply(older)).toBe('outdated')
  expect(told).toEqual([])
  expect(await shared.readPosition()).toEqual({ sequence: 3, ahead: [] })
})

test('an event that is out of date tells of nothing that another process has stored meanwhile', async () => {
  const { shared, state, told, others, put } = createScene()
  await put(entryOf('not-compliant', 5), 2)(shared)
  others.push(put(entryOf('not-compliant', 6)))
  const older = eventOf({ status: 'compliant', at: NOW + 3, sequence: 3 })
  expect(await state.apply(older)).toBe('outdated')
  expect(told).toEqual([])
})

test('what was told too early is followed by what is so', async () => {
  const { shared, state, told, others, put } = createScene()
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(put(entryOf('compliant', 4)), put(entryOf('not-compliant', 5)))
  const event = eventOf({ status: 'not-compliant', at: NOW + 3, sequence: 3 })
  expect(await state.apply(event)).toBe('outdated')
  // The number of the event is stored by the third attempt.
  expect(told).toEqual([
    'compliant>not-compliant',
    'not-compliant>compliant',
    'compliant>not-compliant',
  ])
})

test.each([
  ['nothing has changed for its subject', () => nothing],
  ['another process has stored the same', (put: Put) => put(entryOf('not-compliant', 3))],
])('a change is told of once where %s', async (_title, change) => {
  const { shared, state, told, others, put } = createScene()
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(change(put))
  const event = eventOf({ status: 'not-compliant', at: NOW + 3, sequence: 3 })
  expect(await state.apply(event)).toBe('applied')
  expect(told).toEqual(['compliant>not-compliant'])
})

test('a change that another process has told the opposite of meanwhile is told of anew', async () => {
  const { shared, state, told, others, put } = createScene()
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(put(entryOf('compliant', 2)))
  const event = eventOf({ status: 'not-compliant', at: NOW + 3, sequence: 3 })
  expect(await state.apply(event)).toBe('applied')
  expect(told).toEqual(['compliant>not-compliant', 'compliant>not-compliant'])
})

test('an event that others always change the store before is told of as not stored', async () => {
  const { state, others, commits } = createScene()
  others.push(...Array.from({ length: 20 }, () => nothing))
  const event = eventOf({ status: 'compliant', sequence: 1 })
  await expect(state.apply(event)).rejects.toBeInstanceOf(StoreChangedError)
  expect(commits()).toBe(10)
})

test('a reconciliation goes on where another process changes the store, and counts each subject once', async () => {
  const { shared, state, told, others, put } = createScene(pageOf('not-compliant', 5))
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(nothing, put(entryOf('compliant', 3)))
  expect(await state.reconcile()).toEqual({
    added: 0,
    changed: 1,
    removed: 0,
    unchanged: 0,
    asOfSequence: 5,
  })
  expect(await shared.find(KEY)).toMatchObject({ status: 'not-compliant', sequence: 5 })
  expect(told).toEqual(['compliant>not-compliant', 'compliant>not-compliant'])
})

test('a reconciliation respects what another process stores meanwhile, and tells what is so', async () => {
  const { shared, state, told, others, put } = createScene(pageOf('not-compliant', 5))
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(put(entryOf('compliant', 7)))
  expect(await state.reconcile()).toMatchObject({ changed: 0, unchanged: 1 })
  expect(await shared.find(KEY)).toMatchObject({ status: 'compliant', sequence: 7 })
  expect(told).toEqual(['compliant>not-compliant', 'not-compliant>compliant'])
})

test('a removal is judged anew: what another process has heard of since stays', async () => {
  const { shared, state, told, others, put } = createScene({
    ...pageOf('compliant', 5),
    subjects: [],
  })
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(put(entryOf('not-compliant', 7)))
  expect(await state.reconcile()).toMatchObject({ removed: 0 })
  expect(await shared.find(KEY)).toMatchObject({ status: 'not-compliant' })
  expect(told).toEqual(['compliant>undefined', 'undefined>not-compliant'])
  expect(await shared.readPosition()).toEqual({ sequence: 5, ahead: [] })
})

test('what another process has removed is not removed twice', async () => {
  const { shared, state, told, others, put, remove } = createScene({
    ...pageOf('compliant', 5),
    subjects: [],
  })
  await put(entryOf('compliant', 1), 1)(shared)
  others.push(remove)
  expect(await state.reconcile()).toMatchObject({ removed: 0 })
  expect(told).toEqual(['compliant>undefined'])
})

test('a reconciliation that finds everything as it is stored commits nothing', async () => {
  const { shared, state, put, commits } = createScene(pageOf('compliant', 3))
  await put(entryOf('compliant', 7), 3)(shared)
  expect(await state.reconcile()).toMatchObject({ unchanged: 1 })
  expect(commits()).toBe(0)
})

test('a gap without a source is passed over although another process changes the store meanwhile', async () => {
  const shared = createMemoryComplianceStore()
  let refusals = 0
  const store: ComplianceStore = {
    ...shared,
    async commit(changes) {
      const isSkip = changes.entries.size === 0 && changes.position?.sequence === 3
      if (isSkip && (refusals += 1) <= 2) throw new StoreChangedError('changed')
      return shared.commit(changes)
    },
  }
  const errors: unknown[] = []
  const gaps: unknown[] = []
  const state = createComplianceState({
    store,
    gapGraceMs: 5,
    onGap: (gap) => gaps.push(gap),
    onError: (error) => errors.push(error),
  })
  for (const sequence of [1, 3]) {
    await state.apply(eventOf({ status: 'compliant', at: NOW + sequence, sequence }))
  }
  await expect.poll(() => shared.readPosition()).toEqual({ sequence: 3, ahead: [] })
  await state.close()
  expect(errors).toEqual([])
  expect(gaps).toHaveLength(1)
})

type Put = ReturnType<typeof createScene>['put']
