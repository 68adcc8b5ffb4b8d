import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { DatabaseStartError } from './database-start-error.ts'
import { describeUser, explainRefusedFolder } from './explain-refused-folder.ts'

const folder = await mkdtemp(join(tmpdir(), 'refused-folder-'))
afterAll(() => rm(folder, { recursive: true }))
afterEach(() => vi.restoreAllMocks())

function refuse(dataDir: string): unknown {
  const cause = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  return explainRefusedFolder(dataDir, cause)
}

it('a folder of another user is refused with both users and what to do', async () => {
  const { uid } = await stat(folder)
  vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
  const refused = refuse(folder)
  expect(refused).toBeInstanceOf(DatabaseStartError)
  const { message } = refused as Error
  expect(message).toContain(`The data folder ${folder} is closed to `)
  expect(message).toContain(`(${uid + 1}), as whom this process runs (EACCES`)
  expect(message).toContain(`It belongs to the user ${uid}: run this as that user`)
})

it('a folder that cannot be reached is refused with the folder and what to do', () => {
  const { message } = refuse(join(folder, 'missing')) as Error
  expect(message).toContain(`${join(folder, 'missing')} is closed to ${describeUser()}, as whom`)
  expect(message).toContain('Let this user own the folder and pass through those above it')
})

it('what is no refusal stays as it is', () => {
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
  expect(explainRefusedFolder(folder, full)).toBe(full)
})
