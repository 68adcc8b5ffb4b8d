import { ERROR_CODES } from '../src/schema/error-codes.ts'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SOURCES = join(import.meta.dirname, '../src')
const REGISTRY = 'error-codes.ts'
const codes = Object.keys(ERROR_CODES)

// That nothing else is thrown is checked by the type of `AppError.code`.
it('registers no error code that no source throws', async () => {
  const files = (await readdir(SOURCES, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith(REGISTRY),
  )
  const texts = await Promise.all(files.map((name) => readFile(join(SOURCES, name), 'utf8')))
  const unused = codes.filter((code) => !texts.some((text) => text.includes(`'${code}'`)))
  expect(unused).toEqual([])
})

it('documents exactly the error codes that are registered', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8')
  const documented = [...text.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1])
  expect(documented).toEqual(codes)
})
