/* The document of threats names tests; whoever renames one finds here that the document says something else. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const PACKAGE = join(import.meta.dirname, '..')
const document = readFileSync(join(PACKAGE, '../../docs/sign-in-threats.md'), 'utf8')
const named = [...document.matchAll(/^- `([^`]+\.test\.ts)`: (.+)$/gm)].map(
  ([, file = '', name = '']) => [file, name] as const,
)

it('names many tests', () => {
  expect(named.length).toBeGreaterThan(30)
})

it.each(named)('%s: %s', (file, name) => {
  expect(readFileSync(join(PACKAGE, file), 'utf8')).toContain(name)
})
