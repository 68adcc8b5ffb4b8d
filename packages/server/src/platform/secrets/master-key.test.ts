import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deriveKey, loadMasterKey, parseMasterKeys } from './master-key.ts'

let folder: string
let filePath: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'master-key-'))
  filePath = join(folder, 'data', 'master.key')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe('loadMasterKey', () => {
  it('creates a random key that only the owner can read, and loads the same one again', async () => {
    const created = await loadMasterKey({ filePath })
    const loaded = await loadMasterKey({ filePath })
    expect(created.current.secret.length).toBe(32)
    expect(loaded).toEqual(created)
    expect((await stat(filePath)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'data'))).toEqual(['master.key'])
  })

  it('agrees on one key when several processes start at once', async () => {
    const loaded = await Promise.all(Array.from({ length: 20 }, () => loadMasterKey({ filePath })))
    expect(new Set(loaded.map((keys) => keys.current.secret.toString('hex'))).size).toBe(1)
  })

  it('takes the setting and leaves the file alone', async () => {
    const key = randomBytes(32)
    for (const encoding of ['base64', 'base64url'] as const) {
      const keys = await loadMasterKey({ fromSetting: key.toString(encoding), filePath })
      expect(keys.current.secret).toEqual(key)
    }
    await expect(readFile(filePath)).rejects.toThrow(/ENOENT/)
  })

  it('takes former keys after the current one', async () => {
    const [current, former] = [randomBytes(32), randomBytes(32)]
    const fromSetting = `${current.toString('base64')}, ${former.toString('base64')}`
    const keys = await loadMasterKey({ fromSetting, filePath })
    expect(keys.current.secret).toEqual(current)
    expect(keys.previous.map((key) => key.secret)).toEqual([former])
  })

  it.each([
    'short',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    '!'.repeat(44),
  ])('refuses %j and does not repeat it', async (fromSetting) => {
    const failure = await loadMasterKey({ fromSetting, filePath }).then(
      () => '',
      (error: unknown) => String(error),
    )
    expect(failure).toMatch(/Key 1 of HELIOGRAPH_MASTER_KEY is not 32 bytes as base64/)
    expect(failure).not.toContain(fromSetting)
  })

  it.runIf(process.platform !== 'win32')('refuses a file that others may read', async () => {
    await loadMasterKey({ filePath })
    await chmod(filePath, 0o640)
    await expect(loadMasterKey({ filePath })).rejects.toThrow(
      /open to other users; restrict it with: chmod 600/,
    )
  })

  it('refuses an empty file instead of creating another key', async () => {
    await loadMasterKey({ filePath })
    await writeFile(filePath, '\n')
    await expect(loadMasterKey({ filePath })).rejects.toThrow(/holds no key/)
  })
})

describe('deriveKey', () => {
  it('gives each purpose a key of its own, always the same', () => {
    const { current } = parseMasterKeys(randomBytes(32).toString('base64'), 'test')
    expect(deriveKey(current, 'a')).toEqual(deriveKey(current, 'a'))
    expect(deriveKey(current, 'a')).not.toEqual(deriveKey(current, 'b'))
    expect(deriveKey(current, 'a')).not.toEqual(current.secret)
  })
})
