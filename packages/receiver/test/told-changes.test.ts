import { expect, test } from 'vitest'
import type { StreamState } from '@heliograph/ssf'
import {
  createComplianceState,
  createMemoryComplianceStore,
  StoreChangedError,
  toComplianceKey,
  type ComplianceChanges,
  type ComplianceEntry,
  type ComplianceStore,
} from '../src/index.ts'
import { deviceSubject, eventOf, NOW } from './support/compliance-events.ts'

type Status = ComplianceEntry['status']
type Statuses = Readonly<Record<string, Status>>

function entryOf(device: string, status: Status, sequence: number): ComplianceEntry {
  const at = NOW + sequence
  return { subject: deviceSubject(device), status, eventTimestamp: at, issuedAt: at, sequence }
}

function pageOf(statuses: Statuses, asOf: number, sequence = asOf): StreamState {
  const subjects = Object.entries(statuses).map(([device, status]) => ({
    sub_id: deviceSubject(device),
    status,
    jti: null,
    sequence,
    event_timestamp: NOW + sequence,
  }))
  return { as_of_sequence: asOf, as_of: NOW + asOf, next_cursor: null, subjects }
}

/** What another process commits, or what keeps a commit from being stored. */
type Hindrance = ((store: ComplianceStore) => unknown) | Error

function createScene() {
  const shared = createMemoryComplianceStore()
  const hindrances: Hindrance[] = []
  const pages: StreamState[] = []
  const told: string[] = []
  const scene = {
    /** Told of each change, before it counts as told. */
    onChange: (): unknown => undefined,
    /** Done while a page is on its way. */
    onRead: async (): Promise<unknown> => undefined,
  }
  const committed: ComplianceChanges[] = []
  const store: ComplianceStore = {
    ...shared,
    async commit(changes) {
      const hindrance = hindrances.shift()
      if (hindrance instanceof Error) throw hindrance
      if (hindrance !== undefined) {
        await hindrance(shared)
        throw new StoreChangedError('changed')
      }
      committed.push(changes)
      return shared.commit(changes)
    },
  }
  const gaps: unknown[] = []
  const state = createComplianceState({
    store,
    gapGraceMs: 5,
    async *source() {
      const page = pages.length > 1 ? pages.shift() : pages[0]
      await scene.onRead()
      if (page !== undefined) yield page
    },
    async onChange({ subject, previous, current }) {
      await scene.onChange()
      const device = subject.format === 'complex' ? subject.device : subject
      told.push(`${device?.format === 'iss_sub' ? device.sub : ''} ${previous}>${current}`)
    },
    onGap: (gap) => gaps.push(gap),
  })
  const put = (statuses: Statuses, sequence: number) =>
    shared.commit({
      entries: new Map(
        Object.entries(statuses).map(([device, status]) => [
          toComplianceKey(deviceSubject(device)),
          entryOf(device, status, sequence),
        ]),
      ),
      removedKeys: [],
      position: { sequence, ahead: [] },
    })
  const remove = (device: string, sequence: number) =>
    shared.commit({
      entries: new Map(),
      removedKeys: [toComplianceKey(deviceSubject(device))],
      position: { sequence, ahead: [] },
    })
  const statusOf = (device: string) => state.statusOf(deviceSubject(device))
  return Object.assign(scene, {
    ...{ shared, hindrances, pages, told, state, committed, gaps, put, remove, statusOf },
  })
}

const numbered = (status: Status, sequence: number, device = 'd1') =>
  eventOf({ device, status, at: NOW + sequence, iat: NOW + sequence, sequence })

test('a change that was told and not stored is corrected by a later event of its subject', async () => {
  const { state, hindrances, told, put, statusOf } = createScene()
  await put({ d1: 'compliant' }, 2)
  hindrances.push(new Error('ENOSPC'))
  await expect(state.apply(numbered('not-compliant', 3))).rejects.toThrow('ENOSPC')
  await state.apply(numbered('compliant', 5))
  expect(await state.apply(numbered('not-compliant', 3))).toBe('outdated')
  expect(await statusOf('d1')).toBe('compliant')
  expect(told).toEqual(['d1 compliant>not-compliant', 'd1 not-compliant>compliant'])
})

test('a correction that could not be told is told when the event comes again', async () => {
  const scene = createScene()
  await scene.put({ d1: 'compliant' }, 2)
  scene.hindrances.push(async () => {
    await scene.put({ d1: 'compliant' }, 4)
    scene.onChange = () => {
      throw new Error('down')
    }
  })
  await expect(scene.state.apply(numbered('not-compliant', 3))).rejects.toThrow('down')
  scene.onChange = () => undefined
  expect(await scene.state.apply(numbered('not-compliant', 3))).toBe('outdated')
  expect(scene.told).toEqual(['d1 compliant>not-compliant', 'd1 not-compliant>compliant'])
})

test('what was told before others changed the store too often is corrected afterwards', async () => {
  const { state, hindrances, told, put } = createScene()
  await put({ d1: 'compliant' }, 2)
  hindrances.push(...Array.from({ length: 10 }, () => () => undefined))
  await expect(state.apply(numbered('not-compliant', 3))).rejects.toThrow(StoreChangedError)
  await put({ d1: 'compliant' }, 4)
  expect(await state.apply(numbered('not-compliant', 3))).toBe('outdated')
  expect(told).toEqual(['d1 compliant>not-compliant', 'd1 not-compliant>compliant'])
})

test('a page that broke off is corrected by the next reconciliation, also for a subject that is gone', async () => {
  const scene = createScene()
  await scene.put({ d1: 'compliant', d2: 'compliant' }, 2)
  const { pages, told, state } = scene
  pages.push(pageOf({ d1: 'not-compliant', d3: 'compliant', d2: 'not-compliant' }, 5))
  scene.onChange = () => {
    if (told.length === 2) throw new Error('down')
  }
  await expect(state.reconcile()).rejects.toThrow('down')
  scene.onChange = () => undefined
  pages.splice(0, 1, pageOf({ d1: 'compliant', d2: 'compliant' }, 6))
  expect(await state.reconcile()).toMatchObject({ unchanged: 2, removed: 0 })
  expect(told).toEqual([
    'd1 compliant>not-compliant',
    'd3 undefined>compliant',
    'd1 not-compliant>compliant',
    'd3 compliant>undefined',
  ])
})

test('a subject that another process removes while an older page is compared does not come back', async () => {
  const { state, hindrances, told, put, remove, pages, statusOf } = createScene()
  await put({ d1: 'compliant', d2: 'compliant' }, 2)
  pages.push(
    pageOf({ d1: 'not-compliant', d2: 'not-compliant' }, 5),
    pageOf({ d2: 'compliant' }, 9),
  )
  hindrances.push(() => remove('d1', 9))
  expect(await state.reconcile()).toMatchObject({ added: 0, removed: 0, asOfSequence: 9 })
  expect(await statusOf('d1')).toBeUndefined()
  expect(told.filter((change) => change.startsWith('d1'))).toEqual([
    'd1 compliant>not-compliant',
    'd1 not-compliant>undefined',
  ])
})

test('a page that tells of what another process had added and removed since is read anew', async () => {
  const { state, hindrances, put, remove, pages, statusOf } = createScene()
  await put({ d2: 'compliant' }, 2)
  pages.push(pageOf({ d1: 'compliant', d2: 'not-compliant' }, 5), pageOf({ d2: 'compliant' }, 9))
  hindrances.push(() => remove('d1', 9))
  expect(await state.reconcile()).toMatchObject({ added: 0 })
  expect(await statusOf('d1')).toBeUndefined()
})

test('a subject that nobody removed is new in the end, although another process is beyond each page', async () => {
  const { state, hindrances, put, pages, told, statusOf } = createScene()
  await put({ d2: 'compliant' }, 2)
  for (const asOf of [5, 10, 12]) {
    pages.push(pageOf({ d1: 'compliant', d2: 'compliant' }, asOf))
    hindrances.push(() => put({}, asOf + 1))
  }
  expect(await state.reconcile()).toMatchObject({ added: 1, removed: 0 })
  expect(await statusOf('d1')).toBe('compliant')
  expect(told).toEqual(['d1 undefined>compliant'])
  expect(hindrances).toEqual([])
})

test('pages whose subjects another process removes again and again are given up', async () => {
  const scene = createScene()
  const { state, hindrances, put, remove, pages, statusOf } = scene
  scene.onRead = async () => put({ d1: 'not-compliant' }, 2)
  for (const asOf of [5, 10, 12]) {
    pages.push(pageOf({ d1: 'compliant' }, asOf))
    hindrances.push(() => remove('d1', asOf + 1))
  }
  await expect(state.reconcile()).rejects.toThrow(StoreChangedError)
  expect(await statusOf('d1')).toBeUndefined()
  expect(hindrances).toEqual([])
})

test('a stream that counts anew is not set back behind what another process has stored of it', async () => {
  const { state, hindrances, put, pages, shared } = createScene()
  await put({ d1: 'compliant' }, 9)
  pages.push(pageOf({ d1: 'not-compliant' }, 5))
  hindrances.push(() => put({ d1: 'compliant' }, 8))
  await state.reconcile()
  expect(await shared.readPosition()).toEqual({ sequence: 8, ahead: [] })
})

test('an event that comes while a stream that counts anew is read is not missing afterwards', async () => {
  const scene = createScene()
  await scene.put({ d1: 'compliant' }, 9)
  scene.pages.push(pageOf({ d1: 'not-compliant' }, 5))
  scene.onRead = () => scene.state.apply(numbered('compliant', 6, 'd2'))
  await scene.state.reconcile()
  await scene.state.apply(numbered('compliant', 7, 'd2'))
  expect(await scene.shared.readPosition()).toEqual({ sequence: 7, ahead: [] })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(scene.gaps).toEqual([])
  await scene.state.close()
})

test('a reconciliation stores again nothing that is stored already', async () => {
  const { state, put, pages, committed, statusOf } = createScene()
  await put({ d1: 'compliant', d2: 'compliant' }, 5)
  const changed = entryOf('d2', 'not-compliant', 7)
  const { subjects } = pageOf({ d1: 'compliant', d2: 'compliant' }, 5)
  pages.push({
    ...pageOf({}, 8),
    subjects: subjects.map((subject, index) =>
      index === 0 ? subject : { ...subject, status: changed.status, sequence: 7 },
    ),
  })
  expect(await state.reconcile()).toMatchObject({ unchanged: 1, changed: 1 })
  expect(await statusOf('d2')).toBe('not-compliant')
  expect(committed.flatMap(({ entries }) => [...entries.keys()])).toEqual([
    toComplianceKey(deviceSubject('d2')),
  ])
})

test('a reconciliation that the state began tells and stores nothing more once that is closed', async () => {
  const scene = createScene()
  await scene.put({ d1: 'compliant', d2: 'compliant' }, 2)
  scene.pages.push(pageOf({ d1: 'not-compliant', d2: 'not-compliant' }, 5))
  let closed: Promise<void> | undefined
  scene.onChange = async () => {
    if (scene.told.length > 0) return
    closed ??= scene.state.close()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await scene.state.apply({
    ...numbered('compliant', 4),
    event: { isKnown: false, type: 'urn:example:other', payload: {} },
  })
  await expect.poll(() => closed !== undefined).toBe(true)
  const { length } = scene.committed
  await closed
  expect(scene.told).toEqual(['d1 compliant>not-compliant'])
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(scene.told).toHaveLength(1)
  expect(scene.committed).toHaveLength(length)
})
