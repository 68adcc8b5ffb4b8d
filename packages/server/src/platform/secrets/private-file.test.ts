import { mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrivateFile, replaceFile } from './private-file.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'private-file-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe('createPrivateFile', () => {
  it('creates a file once, and never touches one that exists', async () => {
    const path = join(folder, 'new', 'file')
    expect(await createPrivateFile(path, 'first')).toBe(true)
    expect(await createPrivateFile(path, 'second')).toBe(false)
    expect(await readFile(path, 'utf8')).toBe('first')
    expect(await readdir(join(folder, 'new'))).toEqual(['file'])
  })

  it('lets exactly one of many concurrent calls create the file', async () => {
    const path = join(folder, 'file')
    const created = await Promise.all(
      Array.from({ length: 20 }, async (_value, index) =>
        (await createPrivateFile(path, String(index))) ? String(index) : undefined,
      ),
    )
    expect(created.filter((value) => value !== undefined)).toEqual([await readFile(path, 'utf8')])
  })
})

describe('replaceFile', () => {
  it('leaves nothing beside a file that it could not write or put into its place', async () => {
    const path = join(folder, 'file')
    // Stands for a disk that is full.
    await expect(replaceFile(path, Symbol('unwritable') as unknown as string)).rejects.toThrow()
    await mkdir(path)
    await expect(replaceFile(path, 'x')).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['file'])
  })

  it('replaces the contents and leaves nothing else behind', async () => {
    const path = join(folder, 'file')
    await replaceFile(path, 'one')
    await replaceFile(path, 'two')
    expect(await readFile(path, 'utf8')).toBe('two')
    expect(await readdir(folder)).toEqual(['file'])
  })

  it.runIf(process.platform !== 'win32')('gives the file the mode that is asked for', async () => {
    await replaceFile(join(folder, 'private'), 'x')
    await replaceFile(join(folder, 'public'), 'x', 0o644)
    expect((await stat(join(folder, 'private'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'public'))).mode & 0o777).toBe(0o644)
  })
})
