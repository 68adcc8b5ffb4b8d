import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openLineFile, type LineState } from '../src/line-file.ts'

vi.mock('node:fs/promises', { spy: true })

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'line-file-'))
  path = join(folder, 'lines')
})

afterEach(() => rm(folder, { recursive: true }))

/** Keeps each line once. */
function createLines(loadMax = 1_000): LineState & { readonly lines: Set<string> } {
  const lines = new Set<string>()
  return {
    lines,
    clear: () => lines.clear(),
    take(line) {
      lines.add(line)
      return 1
    },
    toLines: () => [...lines],
    loadMax: () => loadMax,
  }
}

const contents = () => readFile(path, 'utf8')

test('a process that opens the file takes it from nobody, and each knows of the other when it writes', async () => {
  const [formerLines, latterLines] = [createLines(), createLines()]
  const former = await openLineFile(path, formerLines)
  await former.append('a')
  const latter = await openLineFile(path, latterLines)
  await former.append('b')
  expect([...latterLines.lines]).toEqual(['a'])
  await latter.append('c')
  expect([...latterLines.lines]).toEqual(['a', 'b', 'c'])
  await latter.close()
  await former.append('d')
  expect([...formerLines.lines]).toEqual(['a', 'b', 'c', 'd'])
  await former.close()
  expect(await contents()).toBe('a\nb\nc\nd\n')
})

test('many may open a file at once', async () => {
  const files = await Promise.all(
    Array.from({ length: 8 }, () => openLineFile(path, createLines())),
  )
  await Promise.all(files.map((file, index) => file.append(`${index}`)))
  await Promise.all(files.map((file) => file.close()))
  expect((await contents()).trim().split('\n').toSorted()).toHaveLength(8)
  expect(await readdir(folder)).toEqual(['lines'])
})

test('a file that another process has replaced is written to in its new place, and is known as it is there', async () => {
  const lines = createLines()
  const former = await openLineFile(path, lines)
  for (const line of ['a', 'b', 'c']) await former.append(line)
  const repeating = await openLineFile(path, { ...createLines(4), toLines: () => ['abc'] })
  await repeating.append('d')
  expect(await contents()).toBe('abc\n')
  await former.append('e')
  expect(await contents()).toBe('abc\ne\n')
  expect([...lines.lines]).toEqual(['abc', 'e'])
  await Promise.all([former.close(), repeating.close()])
})

test('what others add while the file is being replaced stays', async () => {
  const other = await openLineFile(path, createLines())
  const lines = createLines(3)
  let added: Promise<void> | undefined
  const file = await openLineFile(path, {
    ...lines,
    toLines() {
      added ??= other.append('other')
      return lines.toLines()
    },
  })
  for (const line of ['a', 'b', 'c', 'd']) await file.append(line)
  await added
  await Promise.all([file.close(), other.close()])
  const held = createLines()
  await (await openLineFile(path, held)).close()
  expect([...held.lines].toSorted()).toEqual(['a', 'b', 'c', 'd', 'other'])
})

test('whoever writes behind the announcement of a replacement takes its file away', async () => {
  const name = '00000000-0000-4000-8000-000000000000'
  const file = await openLineFile(path, createLines())
  await file.append('a')
  await writeFile(`${path}.${name}.new`, 'a\n')
  await appendFile(path, `{"replacedBy":"${name}"}\n`)
  await file.append('b')
  await file.close()
  expect(await readdir(folder)).toEqual(['lines'])
})

test('what a crash has left beside the file goes, and nothing else', async () => {
  await writeFile(`${path}.00000000-0000-4000-8000-000000000000.new`, 'a\n')
  await writeFile(`${path}.new`, 'a\n')
  await (await openLineFile(path, createLines())).close()
  expect(await readdir(folder)).toEqual(['lines', 'lines.new'])
})

test('a line is whole although another process left a broken one before it at any time', async () => {
  await writeFile(path, 'a\n["ha')
  const lines = createLines()
  const file = await openLineFile(path, lines)
  await file.append('b')
  await appendFile(path, '["lf')
  await file.append('c')
  await file.close()
  expect(await contents()).toBe('a\n["ha\nb\n["lf\nc\n')
})

test('a line that another process broke in the moment of writing is written again', async () => {
  const lines = createLines()
  const other = await openLineFile(path, createLines())
  const file = await openLineFile(path, {
    ...lines,
    take(line) {
      if (line === 'a') appendFileSync(path, '["ha')
      return lines.take(line)
    },
  })
  await other.append('a')
  await file.append('b')
  await Promise.all([file.close(), other.close()])
  expect(lines.lines).toContain('b')
})

test.each([
  ['removed', () => rm(path)],
  ['emptied', () => writeFile(path, '')],
])('a file that was %s is written anew from what is known', async (_title, end) => {
  const file = await openLineFile(path, createLines())
  await file.append('a')
  await end()
  await file.append('b')
  await file.close()
  expect(await contents()).toBe('a\nb\n')
})

test('what hinders is told as that, and the file is used again once it can be', async () => {
  const file = await openLineFile(path, createLines())
  await file.append('a')
  await rename(folder, `${folder}-away`)
  await expect(file.append('b')).rejects.toMatchObject({ code: 'ENOENT' })
  await rename(`${folder}-away`, folder)
  await file.append('c')
  await file.close()
  expect(await contents()).toBe('a\nc\n')
})

test('a line is stored although the file cannot be replaced, which is tried again later', async () => {
  const lines = createLines(3)
  // Nothing with a longer name can be made beside it.
  path = join(folder, 'l'.repeat(250))
  const file = await openLineFile(path, lines)
  for (const line of ['a', 'b', 'c', 'd', 'e']) await file.append(line)
  expect(await contents()).toBe('a\nb\nc\nd\ne\n')
  expect([...lines.lines]).toEqual(['a', 'b', 'c', 'd', 'e'])
  vi.mocked(rename).mockRejectedValueOnce(new Error('the disk is full'))
  path = join(folder, 'lines')
  const repeating = await openLineFile(path, { ...createLines(2), toLines: () => ['ab'] })
  await repeating.append('a')
  expect(await contents()).toMatch(/^ab\na\n\{"replacedBy":.*\}\n$/)
  await repeating.append('b')
  expect(await contents()).toBe('ab\n')
  await Promise.all([file.close(), repeating.close()])
})

test('a file that is closed takes nothing, and stays closed', async () => {
  const file = await openLineFile(path, createLines())
  await file.append('a')
  await file.close()
  await file.close()
  await expect(file.append('b')).rejects.toThrow(`${path} is closed`)
  expect(await contents()).toBe('a\n')
})

test('a folder that may not be listed holds a file as any other', async () => {
  const refusal = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  vi.mocked(readdir).mockRejectedValueOnce(refusal)
  const file = await openLineFile(path, createLines())
  await file.append('a')
  await file.close()
  expect(await contents()).toBe('a\n')
})

test('a relative path is that of the time of opening', async () => {
  // The threads of tests cannot change their folder.
  const script = join(folder, 'script.ts')
  await writeFile(
    script,
    `import { openLineFile } from '${new URL('../src/line-file.ts', import.meta.url).href}'
    const state = { clear() {}, take: () => 1, toLines: () => [], loadMax: () => 9 }
    const file = await openLineFile('lines', state)
    process.chdir('/')
    await file.append('a')`,
  )
  const child = fork(script, { cwd: folder })
  await once(child, 'exit')
  expect(await contents()).toBe('a\n')
})

test('processes that write beside each other and replace the file at any time lose no line', async () => {
  const states = Array.from({ length: 4 }, () => createLines(20))
  const files = await Promise.all(states.map((state) => openLineFile(path, state)))
  await Promise.all(
    files.map(async (file, index) => {
      for (let line = 0; line < 60; line += 1) await file.append(`${index}-${line}`)
    }),
  )
  await Promise.all(files.map((file) => file.close()))
  const held = createLines()
  await (await openLineFile(path, held)).close()
  expect(held.lines.size).toBe(240)
  expect(await readdir(folder)).toEqual(['lines'])
})

test('a file that is longer than a text may be is read in parts, whose lines are whole', async () => {
  const line = 'ä'.repeat(4 * 1024 * 1024)
  await writeFile(path, `${line}1\n${line}2\n${line}3\n${line}4\n${line}5\nend`)
  const parts = vi.spyOn(Buffer, 'alloc')
  const lines = createLines()
  const file = await openLineFile(path, lines)
  const longest = Math.max(...parts.mock.calls.map(([size]) => size))
  parts.mockRestore()
  expect([...lines.lines].map((each) => each.slice(-2))).toEqual(['ä1', 'ä2', 'ä3', 'ä4', 'ä5'])
  expect(longest).toBeLessThanOrEqual(16 * 1024 * 1024)
  await file.append('next')
  await file.close()
  expect((await contents()).endsWith('5\nend\nnext\n')).toBe(true)
})
