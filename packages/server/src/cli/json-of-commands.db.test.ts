import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { toUrl } from '../../test/support/to-url.ts'

let folder: string
let database: TestDatabase

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'json-of-commands-'))
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

const run = async (...words: string[]): Promise<unknown> => {
  const { printed } = await runCommand([...words, '--json'], {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_DATA_DIR: folder,
  })
  return JSON.parse(printed)
}

it('the JSON of migrate names what was applied, and does not print its SQL', async () => {
  const { applied } = (await run('migrate')) as { readonly applied: readonly object[] }
  expect(applied[0]).toEqual({ version: 1, name: '0001_foundation' })
  for (const migration of applied) expect(Object.keys(migration)).toEqual(['version', 'name'])
})

it('the JSON of the reporting tables has members in the form of the API', async () => {
  const tables = (await run('reporting-tables')) as readonly object[]
  for (const table of tables) {
    expect(table).toHaveProperty('interval_seconds', expect.any(Number))
    expect(Object.keys(table).join(' ')).not.toMatch(/[A-Z]/)
  }
})

it('the JSON of the verification of the audit log has members in the form of the API, whole and broken', async () => {
  const whole = (await run('audit', 'verify')) as object
  expect(whole).toMatchObject({ is_whole: true, sequence: null, problem: null })
  const { verifier_key: newKey } = (await run('audit', 'rotate-key', '--new-log')) as {
    readonly verifier_key: string
  }
  const broken = (await run('audit', 'verify', '--key', newKey)) as object
  expect(broken).toMatchObject({
    is_whole: false,
    problem: expect.any(String) as string,
    head: null,
  })
  expect(Object.keys(broken)).toEqual(Object.keys(whole))
  expect(Object.keys(whole).join(' ')).not.toMatch(/[A-Z]/)
})
