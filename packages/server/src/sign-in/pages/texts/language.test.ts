import { describe, expect, it } from 'vitest'
import { de } from './de.ts'
import { en } from './en.ts'
import { chooseLanguage } from './language.ts'

it.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['fr-FR,fr;q=0.9,de;q=0.5', 'de'],
  ['en;q=0.5,de;q=0.9', 'de'],
  ['de;q=0,en', 'en'],
  ['DE', 'de'],
  ['*', 'en'],
  [',,;;q=x', 'en'],
  ['fr,'.repeat(100_000) + 'de', 'en'],
])('a browser that asks for %.40s reads %s', (header, language) => {
  expect(chooseLanguage(header)).toBe(language)
})

describe('the catalogues', () => {
  it('have the same texts, none of them empty', () => {
    expect(shapeOf(de)).toEqual(shapeOf(en))
    expect(emptyOf(de).concat(emptyOf(en))).toEqual([])
  })
})

function shapeOf(value: unknown): unknown {
  if (typeof value === 'function') return value.length
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, each]) => [name, shapeOf(each)]),
  )
}

function emptyOf(value: unknown, path = ''): string[] {
  if (value === '') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => emptyOf(each, `${path}.${name}`))
}
