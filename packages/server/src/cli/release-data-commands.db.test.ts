import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { BUILT_IN_RELEASE_DATA } from '../posture/checks/catalogue/release-data.ts'

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

const run = (...words: string[]) =>
  runCommand(['release-data', ...words], {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_DATA_DIR: folder,
  })

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

it('shows which data is in use, prints it as a file, takes a newer file, and goes back', async () => {
  const shown = await run('show', '--json')
  expect(JSON.parse(shown.printed)).toMatchObject({
    date: BUILT_IN_RELEASE_DATA.date,
    origin: 'built_in',
    imported_at: null,
  })
  const printed = await run('print')
  expect(JSON.parse(printed.printed)).toEqual(BUILT_IN_RELEASE_DATA)

  const newer = { ...BUILT_IN_RELEASE_DATA, date: '2099-01-01' }
  newer.browsers = { ...newer.browsers, as_of: '2099-01-01', firefox: 901 }
  const imported = await run('import', await write('newer.json', JSON.stringify(newer)))
  expect(imported).toMatchObject({ exitCode: 0, told: '' })
  expect(imported.printed).toContain('firefox-up-to-date')
  expect((await run('show')).printed).toMatch(/^Release data of 2099-01-01, from a file\./)

  expect((await run('reset')).printed).toContain('firefox-up-to-date')
  expect((await run('show')).printed).toContain('as the service comes with it')
})

it.each([
  ['no JSON', '{', /is no JSON/],
  ['no release data', '{"date": "2099"}', /not valid:\n {2}- date: /],
])('refuses a file that is %s in words', async (_, text, message) => {
  const { exitCode, printed, told } = await run('import', await write('bad.json', text))
  expect([exitCode, printed]).toEqual([1, ''])
  expect(told).toMatch(message)
  expect(told).not.toContain('Unexpected fault')
})

it('refuses a file that is not there', async () => {
  const { exitCode, told } = await run('import', join(folder, 'none.json'))
  expect(exitCode).toBe(1)
  expect(told).toContain('cannot be read')
})
