import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const STYLES = join(import.meta.dirname, '../../src/sign-in/pages/assets/pages.css')
const LIGHT = /^:root \{\n([^}]*)\}/m
const DARK = /^@media \(prefers-color-scheme: dark\) \{\n {2}:root \{\n([^}]*)\}\n\}/m

/** What each name stands for, without the colours in it. */
function toForms(declarations: string): Record<string, string> {
  const parts = declarations.split(';').map((part) => part.trim())
  const pairs = parts.filter((part) => part !== '').map((part) => part.split(/:\s*/))
  return Object.fromEntries(
    pairs.map(([name = '', value = '']) => [
      name,
      value.replaceAll(/#[0-9a-f]{6}|rgb\([^)]*\)/g, 'colour').replaceAll(/\s+/g, ' '),
    ]),
  )
}

it('a page for people changes nothing but colours in the dark', async () => {
  const styles = await readFile(STYLES, 'utf8')
  expect(styles.match(/prefers-color-scheme/g)).toHaveLength(1)
  const light = toForms(LIGHT.exec(styles)?.[1] ?? '')
  const dark = toForms(DARK.exec(styles)?.[1] ?? '')
  expect(Object.keys(dark).length).toBeGreaterThan(10)
  for (const [name, form] of Object.entries(dark)) {
    expect([name, form]).toEqual([expect.stringMatching(/^--/), expect.stringContaining('colour')])
    expect([name, form]).toEqual([name, light[name]])
  }
})
