/* The document of threats names tests; whoever renames one finds here that the document says something else. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listTestTitles } from './support/list-test-titles.ts'

const PACKAGE = join(import.meta.dirname, '..')
const document = readFileSync(join(PACKAGE, '../../docs/sign-in-threats.md'), 'utf8')
const named = [...document.matchAll(/^- `([^`]+\.test\.ts)`: (.+)$/gm)].map(
  ([, file = '', name = '']) => [file, name] as const,
)

it('names many tests', () => {
  expect(named.length).toBeGreaterThan(30)
})

it.each(named)('%s: %s', (file, name) => {
  expect(listTestTitles(readFileSync(join(PACKAGE, file), 'utf8'))).toContain(name)
})

it.each([
  ["it('a', () => {})", ['a']],
  ["it.each(ROWS)(\n  'a %s',\n  () => {},\n)", ['a %s']],
  ["describe.each(ROWS)('d', () => { describe('e', () => { it('a', f) }) })", ['a']],
  ["// it('a', f)", []],
  ["/*\nit('a', f)\n*/", []],
  ["it.skip('a', f)", []],
  ["it.todo('a')", []],
  ["it.skipIf(isSlow)('a', f)", []],
  ["it.skip.each(ROWS)('a', f)", []],
  ["describe.skip('d', () => {\n it('a', f) })", []],
  ["describe.skipIf(isSlow)('d', () => {\n it('a', f) })", []],
])('takes a test to be one where it runs: %s', (text, titles) => {
  expect(listTestTitles(text)).toEqual(titles)
})
