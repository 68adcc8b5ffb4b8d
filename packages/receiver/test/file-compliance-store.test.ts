import { appendFile, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createComplianceState,
  createMemoryComplianceStore,
  type ComplianceChange,
  type ComplianceChanges,
  type ComplianceEntry,
  type ComplianceStore,
} from '../src/index.ts'
import { createFileComplianceStore } from '../src/node.ts'
import { deviceSubject, eventOf } from './support/compliance-events.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compliance-store-'))
  path = join(folder, 'state.jsonl')
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

function entryOf(sub: string): ComplianceEntry {
  return {
    subject: { format: 'opaque', id: sub },
    status: 'compliant',
    eventTimestamp: 1,
    issuedAt: 2,
  }
}

function changesOf(changes: Partial<ComplianceChanges>): ComplianceChanges {
  return { entries: new Map(), removedKeys: [], position: undefined, ...changes }
}

async function keysOf(store: ComplianceStore): Promise<string[]> {
  const keys = []
  for await (const [key] of store.list()) keys.push(key)
  return keys
}

/** Has something done while the next line is on its way to the disk. */
async function whileSyncing(work: () => Promise<void>): Promise<void> {
  const file = await open(path)
  const prototype = Object.getPrototypeOf(file) as typeof file
  await file.close()
  vi.spyOn(prototype, 'datasync').mockImplementationOnce(work)
}

describe.each([
  ['in memory', async () => ({ ...createMemoryComplianceStore(), close: () => undefined })],
  ['in a file', () => createFileComplianceStore({ path })],
])('a compliance store %s', (_title, create) => {
  test('finds what was committed last, removes, and keeps the position', async () => {
    const store = await create()
    expect(await store.readPosition()).toBeUndefined()
    const position = { sequence: 3, ahead: [[5, 6]] } as const
    const entries = new Map([
      ['a', entryOf('a')],
      ['b', entryOf('b')],
    ])
    await store.commit(changesOf({ entries, position }))
    const changed = { ...entryOf('a'), status: 'not-compliant' } as const
    await store.commit(changesOf({ entries: new Map([['a', changed]]), removedKeys: ['b'] }))
    expect(await store.find('a')).toEqual(changed)
    expect(await store.find('b')).toBeUndefined()
    expect(await keysOf(store)).toEqual(['a'])
    expect(await store.readPosition()).toEqual(position)
    await store.close()
  })
})

describe('a compliance store in a file', () => {
  test('survives the process, and a commit that a crash cut off is as if it never was', async () => {
    const store = await createFileComplianceStore({ path })
    const position = { sequence: 1, ahead: [] }
    await store.commit(changesOf({ entries: new Map([['a', entryOf('a')]]), position }))
    await store.close()
    await appendFile(path, '{"entries":[["b",{"sub')
    const again = await createFileComplianceStore({ path })
    expect(await keysOf(again)).toEqual(['a'])
    await again.commit(changesOf({ entries: new Map([['c', entryOf('c')]]) }))
    await again.close()
    const last = await createFileComplianceStore({ path })
    expect(await keysOf(last)).toEqual(['a', 'c'])
    expect(last.readPosition()).toEqual(position)
    await last.close()
  })

  test('is shared by two processes in a rolling restart, and a start that fails takes it from nobody', async () => {
    const former = await createFileComplianceStore({ path })
    const latter = await createFileComplianceStore({ path })
    await former.commit(changesOf({ entries: new Map([['a', entryOf('a')]]) }))
    const next = changesOf({ entries: new Map([['b', entryOf('b')]]), removedKeys: ['a'] })
    await expect(latter.commit(next)).rejects.toThrow('another process has changed the state')
    expect(await keysOf(latter)).toEqual(['a'])
    await latter.commit(next)
    expect(await keysOf(latter)).toEqual(['b'])
    await latter.close()
    const last = changesOf({ entries: new Map([['c', entryOf('c')]]) })
    await expect(former.commit(last)).rejects.toThrow('another process has changed the state')
    await former.commit(last)
    expect(await keysOf(former)).toEqual(['b', 'c'])
    await former.close()
  })

  test.each([
    ['as it was written', 0],
    ['also after it was replaced', 1_010],
  ])('loses no newer truth to a process that knows an older one, %s', async (_title, repeats) => {
    const stores = [
      await createFileComplianceStore({ path }),
      await createFileComplianceStore({ path }),
    ] as const
    const told: string[] = []
    const onChange = ({ current }: ComplianceChange) => void told.push(String(current))
    const former = createComplianceState({ store: stores[0], onChange })
    const latter = createComplianceState({ store: stores[1] })
    const newer = eventOf({ status: 'not-compliant', at: 200, sequence: 2 })
    const older = eventOf({ status: 'compliant', at: 100, sequence: 1 })
    for (let repeat = 0; repeat <= repeats; repeat += 1) await latter.apply(newer)
    const subject = deviceSubject('d1')
    expect(await former.apply(older)).toBe('outdated')
    expect(await former.statusOf(subject)).toBe('not-compliant')
    // The last that is told is what is so.
    expect(told).toEqual(['compliant', 'not-compliant'])
    expect(await latter.apply(eventOf({ status: 'compliant', at: 300, sequence: 3 }))).toBe(
      'applied',
    )
    for (const store of stores) await store.close()
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    expect(lines.length).toBeLessThan(300)
    const fresh = await createFileComplianceStore({ path })
    expect(await createComplianceState({ store: fresh }).find(subject)).toMatchObject({
      status: 'compliant',
      sequence: 3,
    })
    expect(await fresh.readPosition()).toEqual({ sequence: 3, ahead: [] })
    await fresh.close()
  })

  test('is reconciled by one process while another one applies events, and loses none of them', async () => {
    const stores = await Promise.all([1, 2].map(() => createFileComplianceStore({ path })))
    const [first, second] = stores.map((store) =>
      createComplianceState({
        store,
        async *source() {
          yield await Promise.resolve({ as_of: 50, as_of_sequence: 0, next_cursor: null, subjects })
        },
      }),
    )
    const subjects = ['known', 'd1'].map((device) => ({
      sub_id: deviceSubject(device),
      status: 'not-compliant' as const,
      event_timestamp: 40,
      sequence: null,
      jti: null,
    }))
    const applying = (async () => {
      for (let at = 100; at < 140; at += 1) {
        await first?.apply(eventOf({ device: 'd1', status: 'compliant', at, iat: at }))
        await first?.apply(eventOf({ device: `d${at}`, status: 'compliant', at, iat: at }))
      }
    })()
    for (let run = 0; run < 10; run += 1) await second?.reconcile()
    await applying
    expect(await second?.reconcile()).toMatchObject({ removed: 0 })
    expect(await first?.statusOf(deviceSubject('d1'))).toBe('compliant')
    await Promise.all(stores.map((store) => store.close()))
    const fresh = await createFileComplianceStore({ path })
    expect(await keysOf(fresh)).toHaveLength(42)
    await fresh.close()
  })

  test('tells a commit that is queued behind one that did not count that it does not count either', async () => {
    const former = await createFileComplianceStore({ path })
    const latter = await createFileComplianceStore({ path })
    await former.commit(changesOf({ entries: new Map([['a', entryOf('a')]]) }))
    const commits = ['b', 'c'].map(async (key) =>
      latter.commit(changesOf({ entries: new Map([[key, entryOf(key)]]) })),
    )
    const outcomes = await Promise.allSettled(commits)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await keysOf(latter)).toEqual(['a'])
    await Promise.all([former.close(), latter.close()])
  })

  test('counts the lines of former versions, and judges by them', async () => {
    const lineOf = (sub: string) => JSON.stringify({ entries: [[sub, entryOf(sub)]] })
    await writeFile(path, `${lineOf('a')}\n`)
    const store = await createFileComplianceStore({ path })
    await store.commit(changesOf({ entries: new Map([['b', entryOf('b')]]) }))
    expect(await keysOf(store)).toEqual(['a', 'b'])
    await appendFile(path, `${lineOf('c')}\n`)
    const next = changesOf({ removedKeys: ['a'] })
    await expect(store.commit(next)).rejects.toThrow('another process has changed the state')
    await store.commit(next)
    expect(await keysOf(store)).toEqual(['b', 'c'])
    await store.close()
  })

  test('holds every commit that it took of many processes, while the file is replaced, and no other', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => createFileComplianceStore({ path })))
    let taken = 0
    const count = async (store: ComplianceStore) => {
      const sequence = ((await store.readPosition())?.sequence ?? 0) + 1
      await store.commit(changesOf({ position: { sequence, ahead: [] } }))
      taken += 1
    }
    await Promise.all(
      stores.map(async (store) => {
        for (let turn = 0; turn < 500; turn += 1) await count(store).catch(() => undefined)
      }),
    )
    for (const store of stores) await store.close()
    const again = await createFileComplianceStore({ path })
    expect(await again.readPosition()).toEqual({ sequence: taken, ahead: [] })
    await again.close()
  })

  test('tells a commit that counted that it did, although another process goes on and replaces the file', async () => {
    const former = await createFileComplianceStore({ path })
    const changes = changesOf({ entries: new Map([['a', entryOf('a')]]) })
    await Promise.all(Array.from({ length: 995 }, async () => former.commit(changes)))
    const latter = await createFileComplianceStore({ path })
    await whileSyncing(async () => {
      await expect(latter.commit(changes)).rejects.toThrow('another process has changed the state')
      for (let commits = 0; commits < 20; commits += 1) await latter.commit(changes)
    })
    await former.commit(changesOf({ entries: new Map([['b', entryOf('b')]]) }))
    expect(await keysOf(former)).toEqual(['a', 'b'])
    await Promise.all([former.close(), latter.close()])
    expect((await readFile(path, 'utf8')).split('\n').length).toBeLessThan(100)
  })

  test('takes what is committed before it is closed, and nothing after that', async () => {
    const store = await createFileComplianceStore({ path })
    const changes = changesOf({ entries: new Map([['a', entryOf('a')]]) })
    const before = store.commit(changes)
    const closed = store.close()
    const after = store.commit(changesOf({ entries: new Map([['b', entryOf('b')]]) }))
    await expect(after).rejects.toThrow('is closed')
    await Promise.all([before, closed])
    const again = await createFileComplianceStore({ path })
    expect(await keysOf(again)).toEqual(['a'])
    await again.close()
  })

  test('stays bounded on disk also where each commit holds many subjects', async () => {
    const store = await createFileComplianceStore({ path })
    const keys = Array.from({ length: 500 }, (_, index) => `d${index}`)
    const entries = new Map(keys.map((key) => [key, entryOf(key)]))
    for (let commits = 0; commits < 20; commits += 1) await store.commit(changesOf({ entries }))
    await store.close()
    const held = (await readFile(path, 'utf8')).match(/"status"/g) ?? []
    expect(held.length).toBeLessThan(3 * keys.length + 1_000)
    const again = await createFileComplianceStore({ path })
    expect(await keysOf(again)).toEqual(keys)
    await again.close()
  })

  test('stays bounded on disk', async () => {
    const store = await createFileComplianceStore({ path })
    const commits = Array.from({ length: 2_500 }, (_, sequence) =>
      changesOf({
        entries: new Map([['a', entryOf('a')]]),
        position: { sequence, ahead: [] },
      }),
    )
    for (const commit of commits) void store.commit(commit)
    await store.close()
    expect((await readFile(path, 'utf8')).split('\n').length).toBeLessThan(1_100)
    const again = await createFileComplianceStore({ path })
    expect((await again.readPosition())?.sequence).toBe(2_499)
    await again.close()
  })
})
