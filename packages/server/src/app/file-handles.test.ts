import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { readFileHandleLimit, warnOfFewFileHandles } from './file-handles.ts'

const folder = await mkdtemp(join(tmpdir(), 'file-handles-'))
afterAll(() => rm(folder, { recursive: true }))

test.each([
  ['Max open files            1024                 524288               files     ', 1024],
  ['Max open files            unlimited            unlimited            files     ', undefined],
  ['something else', undefined],
])('reads the limit that counts from %s', async (line, expected) => {
  const path = join(folder, 'limits')
  await writeFile(path, `Limit Soft Limit Hard Limit Units\n${line}\n`)
  expect(readFileHandleLimit(path)).toBe(expected)
})

test('knows no limit where the system tells none', () => {
  expect(readFileHandleLimit(join(folder, 'missing'))).toBeUndefined()
})

test('warns of a low limit only', () => {
  const log = { warn: vi.fn() }
  warnOfFewFileHandles(undefined, log)
  warnOfFewFileHandles(4_096, log)
  expect(log.warn).not.toHaveBeenCalled()
  warnOfFewFileHandles(1_024, log)
  expect(log.warn).toHaveBeenCalledWith(
    { open_files_max: 1_024, recommended: 4_096 },
    expect.stringContaining('LimitNOFILE'),
  )
})
