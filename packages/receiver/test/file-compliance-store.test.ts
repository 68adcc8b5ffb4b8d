import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createMemoryComplianceStore,
  type ComplianceChanges,
  type ComplianceEntry,
  type ComplianceStore,
} from '../src/index.ts'
import { createFileComplianceStore } from '../src/node.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compliance-store-'))
  path = join(folder, 'state.jsonl')
})

afterEach(() => rm(folder, { recursive: true }))

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
    await latter.commit(changesOf({ entries: new Map([['b', entryOf('b')]]), removedKeys: ['a'] }))
    expect(await keysOf(latter)).toEqual(['b'])
    await latter.close()
    await former.commit(changesOf({ entries: new Map([['c', entryOf('c')]]) }))
    expect(await keysOf(former)).toEqual(['b', 'c'])
    await former.close()
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
