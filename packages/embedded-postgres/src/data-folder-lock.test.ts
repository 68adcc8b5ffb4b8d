import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { tryLockDataFolder, writePrivateFile } from './data-folder-lock.ts'
import { DatabaseStartError } from './database-start-error.ts'

const folder = await mkdtemp(join(tmpdir(), 'data-folder-lock-'))
afterAll(() => rm(folder, { recursive: true }))
afterEach(() => vi.restoreAllMocks())

it('a data folder on a full disk is refused with what to do', async () => {
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE', errcode: 13 })
  })
  const refused = tryLockDataFolder(folder, 'command')
  await expect(refused).rejects.toThrow(DatabaseStartError)
  await expect(refused).rejects.toThrow('the disk is full. Free some space, then start again.')
})

it('a file that cannot be written leaves nothing beside its place', async () => {
  const files = await mkdtemp(join(folder, 'files-'))
  await mkdir(join(files, 'taken'))
  await expect(writePrivateFile(join(files, 'taken'), {})).rejects.toThrow()
  expect(await readdir(files)).toEqual(['taken'])
})
