import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'

const folder = await mkdtemp(join(tmpdir(), 'missing-database-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

it.each([
  ['lists', ['keys', 'list']],
  ['writes', ['enrollment-secrets', 'create', '--name', 'laptops']],
  ['proves', ['audit', 'verify']],
])('a command that %s makes no database in a folder without one', async (_what, words) => {
  const dataDir = join(folder, 'mistyped')
  const { exitCode, told } = await runCommand([...words, '--data-dir', dataDir])
  expect(told).toMatch(/^There is no database in .*mistyped\. Name the data folder .*--data-dir/)
  expect(exitCode).toBe(1)
  expect(existsSync(dataDir)).toBe(false)
})
