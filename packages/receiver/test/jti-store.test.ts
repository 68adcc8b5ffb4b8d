import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryJtiStore } from '../src/index.ts'
import { createFileJtiStore } from '../src/node.ts'
import { ISSUER } from './support/signing.ts'

test('the store in memory forgets the oldest entry first', async () => {
  const store = createMemoryJtiStore({ entriesMax: 2 })
  for (const jti of ['a', 'b', 'a', 'c']) await store.markSeen(jti, ISSUER)
  expect([store.isSeen('a', ISSUER), store.isSeen('b', ISSUER), store.isSeen('c', ISSUER)]).toEqual(
    [true, false, true],
  )
})

test('one issuer cannot make a receiver skip the events of another', async () => {
  const store = createMemoryJtiStore()
  await store.markSeen('a', 'https://other.example.com')
  expect(store.isSeen('a', ISSUER)).toBe(false)
})

describe('the store in a file', () => {
  let folder: string
  let path: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jti-store-'))
    path = join(folder, 'seen.txt')
  })

  afterEach(() => rm(folder, { recursive: true }))

  test('remembers over a restart, and loses no entry marked at the same time', async () => {
    const store = await createFileJtiStore({ path })
    const jtis = ['a', 'b\n"c"', 'd', 'a']
    await Promise.all(jtis.map(async (jti) => store.markSeen(jti, ISSUER)))
    await store.close()
    const again = await createFileJtiStore({ path })
    expect(jtis.map((jti) => again.isSeen(jti, ISSUER))).toEqual([true, true, true, true])
    expect(again.isSeen('e', ISSUER)).toBe(false)
    await again.close()
  })

  test('ignores a line that a crash cut off', async () => {
    const store = await createFileJtiStore({ path })
    await store.markSeen('a', ISSUER)
    await store.close()
    await appendFile(path, '["half')
    const again = await createFileJtiStore({ path })
    await again.markSeen('b', ISSUER)
    await again.close()
    const last = await createFileJtiStore({ path })
    expect(['a', 'b'].map((jti) => last.isSeen(jti, ISSUER))).toEqual([true, true])
    await last.close()
  })

  test('is shared by two processes in a rolling restart', async () => {
    const former = await createFileJtiStore({ path })
    const latter = await createFileJtiStore({ path })
    await former.markSeen('a', ISSUER)
    await latter.markSeen('b', ISSUER)
    await former.close()
    expect(['a', 'b'].map((jti) => latter.isSeen(jti, ISSUER))).toEqual([true, true])
    await latter.close()
  })

  test('stays bounded on disk', async () => {
    const store = await createFileJtiStore({ path, entriesMax: 3 })
    for (let index = 0; index < 20; index += 1) await store.markSeen(`jti-${index}`, ISSUER)
    expect(store.isSeen('jti-19', ISSUER)).toBe(true)
    expect(store.isSeen('jti-16', ISSUER)).toBe(false)
    await store.close()
    expect((await readFile(path, 'utf8')).trim().split('\n').length).toBeLessThanOrEqual(6)
  })
})
