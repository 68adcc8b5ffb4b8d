import { appendFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLineFile } from '../src/line-file.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'line-file-'))
  path = join(folder, 'lines')
})

afterEach(() => rm(folder, { recursive: true }))

const keepAll = (held: readonly string[]) => [...held]

test('what is appended after another process has opened the file is no success', async () => {
  const former = await openLineFile(path, keepAll)
  await former.append('a')
  const latter = await openLineFile(path, keepAll)
  await expect(former.append('b')).rejects.toThrow(`${path} was replaced or removed`)
  await latter.append('c')
  expect(await readFile(path, 'utf8')).toBe('a\nc\n')
  await Promise.all([former.close(), latter.close()])
})

test('what is appended to a file that was removed is no success', async () => {
  const file = await openLineFile(path, keepAll)
  await rm(path)
  await expect(file.append('a')).rejects.toThrow('replaced or removed')
  await file.close()
})

test('a line that another process writes while the file is being opened is not lost', async () => {
  await writeFile(path, 'a\n')
  let calls = 0
  const file = await openLineFile(path, (held) => {
    calls += 1
    if (calls === 1) appendFileSync(path, 'b\n')
    return keepAll(held)
  })
  await file.append('c')
  await file.close()
  expect(await readFile(path, 'utf8')).toBe('a\nb\nc\n')
})

test('a file that is replaced as a whole is appended to after that', async () => {
  const file = await openLineFile(path, keepAll)
  await file.append('a')
  await file.replace(['b', 'c'])
  await file.append('d')
  await file.close()
  expect(await readFile(path, 'utf8')).toBe('b\nc\nd\n')
})
