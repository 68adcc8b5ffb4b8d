import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startNewCluster } from '../../src/new-cluster.ts'
import { removeDataFolder } from '../../src/remove-data-folder.ts'

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'new-cluster-'))
})
afterEach(() => removeDataFolder(dataDir, log))

const listFiles = () => readdir(join(dataDir, 'postgres')).catch((): string[] => [])

it('a database that is being made for a restore keeps others from making an empty one', async () => {
  let isOver = false
  const starting = startNewCluster({ dataDir, log }).finally(() => (isOver = true))
  let isWatched = false
  while (!isOver) {
    const names = await listFiles()
    if (names.some((name) => name.startsWith('unfinished-'))) {
      expect(names).toContain('restoring')
      isWatched = true
    }
    await nextTurn()
  }
  expect(isWatched).toBe(true)
  const cluster = await starting
  await cluster.discard()
  expect(await listFiles()).not.toContain('restoring')
})

it('a database for a restore that cannot be made leaves the folder as it was', async () => {
  const programs = join(dataDir, 'none')
  await expect(startNewCluster({ dataDir, log, programs })).rejects.toThrow()
  expect(await listFiles()).not.toContain('restoring')
})
