import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chooseRuntime, type RuntimeOptions } from './choose-runtime.ts'
import { DatabaseStartError } from './database-start-error.ts'
import { describeOutdated, KNOWN_RELEASE, parseVersion } from './known-releases.ts'

let folder: string
let home: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'programs-'))
  home = join(folder, 'home')
  await mkdir(home)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A folder whose programs answer with this version. */
async function makePrograms(name: string, version: string): Promise<string> {
  const programs = join(folder, name)
  await mkdir(programs)
  for (const program of ['postgres', 'initdb']) {
    const path = join(programs, program)
    await writeFile(path, `#!/bin/sh\necho '${program} (PostgreSQL) ${version}'\n`)
    await chmod(path, 0o755)
  }
  return programs
}

/** Where a system keeps them, with the additional modules unless it says otherwise. */
async function installSystem(version: string, { isComplete = true } = {}) {
  const programs = await makePrograms(`system-${version}`, version)
  const extensions = join(folder, `extensions-${version}`)
  await mkdir(extensions)
  if (isComplete) await writeFile(join(extensions, 'pg_trgm.control'), '')
  return { programs, extensions }
}

const choose = (options: Partial<RuntimeOptions> = {}) =>
  chooseRuntime({ home, programs: 'auto', isDurable: false, systemFolders: [], ...options })

describe.skipIf(process.platform === 'win32')('the programs of the embedded database', () => {
  it('are the newest of the operating system when those that came along are older', async () => {
    const systemFolders = [
      await installSystem('18.98'),
      await installSystem('18.99 (Debian 18.99-1.pgdg13+1)'),
      await installSystem('19.1'),
    ]
    const runtime = await choose({ systemFolders })
    expect(runtime.version).toEqual({ major: 18, minor: 99 })
    expect(runtime.postgres).toBe(join(systemFolders[1]?.programs ?? '', 'postgres'))
  })

  it.each([
    ['none is newer', '18.0', {}],
    ['none is of the major version', '17.99', {}],
    ['the additional modules are missing', '18.99', { isComplete: false }],
  ])('are those that came along when %s', async (_reason, version, options) => {
    const systemFolders = [await installSystem(version, options)]
    const runtime = await choose({ systemFolders })
    expect(runtime.folder).toContain(join(home, 'runtime-'))
  })

  it('are those that came along when that is asked for', async () => {
    const systemFolders = [await installSystem('18.99')]
    const runtime = await choose({ systemFolders, programs: 'bundled' })
    expect(runtime.folder).toContain(join(home, 'runtime-'))
  })

  it('are those of a folder, also older ones', async () => {
    const programs = await makePrograms('own', '18.1')
    expect(await choose({ programs })).toEqual({
      postgres: join(programs, 'postgres'),
      initdb: join(programs, 'initdb'),
      version: { major: 18, minor: 1 },
      folder: programs,
    })
  })

  it('are refused in a folder that holds none, or others', async () => {
    const attempt = (programs: string) => choose({ programs })
    await expect(attempt(join(folder, 'nowhere'))).rejects.toThrow(DatabaseStartError)
    await expect(attempt(join(folder, 'nowhere'))).rejects.toThrow(/does not hold the programs/)
    await expect(attempt(await makePrograms('old', '17.6'))).rejects.toThrow(
      /holds PostgreSQL 17\.6; the embedded database needs PostgreSQL 18/,
    )
    await expect(attempt(await makePrograms('broken', 'devel'))).rejects.toThrow(/cannot be run/)
  })
})

describe('a version', () => {
  it.each([
    ['postgres (PostgreSQL) 18.6', { major: 18, minor: 6 }],
    ['postgres (PostgreSQL) 18.6 (Ubuntu 18.6-0ubuntu0.26.04.1)', { major: 18, minor: 6 }],
    ['18.4.0-beta.17', { major: 18, minor: 4 }],
    ['postgres (PostgreSQL) 19beta3', undefined],
  ])('is read from %s', (text, version) => expect(parseVersion(text)).toEqual(version))

  it('is outdated when a newer one of its major version was known', () => {
    const { major, minor } = KNOWN_RELEASE.version
    expect(describeOutdated({ major, minor: minor - 1 })).toMatch(
      /is older than 18\.6 of 2026-08-13/,
    )
    expect(describeOutdated({ major, minor })).toBeUndefined()
    expect(describeOutdated({ major, minor: minor + 1 })).toBeUndefined()
    expect(describeOutdated({ major: major + 1, minor: 0 })).toBeUndefined()
  })
})
