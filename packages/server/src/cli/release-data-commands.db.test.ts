import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { BUILT_IN_RELEASE_DATA } from '../posture/checks/catalogue/release-data.ts'
import type { CommandIo } from './command-io.ts'
import { runProgram } from './program.ts'

let folder: string
let database: TestDatabase

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-data-'))
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(...words: string[]) {
  const result = { exitCode: 0, stdout: '', stderr: '' }
  const io = {
    stdout: new PassThrough().on('data', (chunk: Buffer) => (result.stdout += chunk.toString())),
    stderr: new PassThrough().on('data', (chunk: Buffer) => (result.stderr += chunk.toString())),
    environment: { DATABASE_URL: toUrl(database.connection), HELIOGRAPH_DATA_DIR: folder },
    signal: new AbortController().signal,
    setExitCode: (code: number) => (result.exitCode = code),
  }
  await runProgram(['release-data', ...words], io as unknown as CommandIo)
  return result
}

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

it('shows which data is in use, prints it as a file, takes a newer file, and goes back', async () => {
  const shown = await run('show', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({
    date: BUILT_IN_RELEASE_DATA.date,
    origin: 'built_in',
    imported_at: null,
  })
  const printed = await run('print')
  expect(JSON.parse(printed.stdout)).toEqual(BUILT_IN_RELEASE_DATA)

  const newer = { ...BUILT_IN_RELEASE_DATA, date: '2099-01-01' }
  newer.browsers = { ...newer.browsers, as_of: '2099-01-01', firefox: 901 }
  const imported = await run('import', await write('newer.json', JSON.stringify(newer)))
  expect(imported).toMatchObject({ exitCode: 0, stderr: '' })
  expect(imported.stdout).toContain('firefox-up-to-date')
  expect((await run('show')).stdout).toMatch(/^Release data of 2099-01-01, from a file\./)

  expect((await run('reset')).stdout).toContain('firefox-up-to-date')
  expect((await run('show')).stdout).toContain('as the service comes with it')
})

it.each([
  ['no JSON', '{', /is no JSON/],
  ['no release data', '{"date": "2099"}', /not valid:\n {2}- date: /],
])('refuses a file that is %s in words', async (_, text, message) => {
  const { exitCode, stdout, stderr } = await run('import', await write('bad.json', text))
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('Unexpected fault')
})

it('refuses a file that is not there', async () => {
  const { exitCode, stderr } = await run('import', join(folder, 'none.json'))
  expect(exitCode).toBe(1)
  expect(stderr).toContain('cannot be read')
})
