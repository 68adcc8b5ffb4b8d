/* Whether every built-in check can say what it found, of real failures of simulated devices. */
import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import { CHECK_STATUS_COLUMN } from '../src/posture/checks/check-definition.ts'
import {
  findFoundWords,
  listColumns,
  listSentences,
  textOf,
} from '../src/sign-in/pages/issue/found/found-words.ts'
import { foundInEnglish } from '../src/sign-in/pages/issue/found/found-en.ts'
import { foundInGerman } from '../src/sign-in/pages/issue/found/found-de.ts'
import { maskRow } from '../src/sign-in/shown-issues/mask-row.ts'
import { CASES, CASES_WITH_KNOB, runOnDevice } from './support/simulated-checks.ts'

const CATALOGUES = { en: foundInEnglish, de: foundInGerman }
const LANGUAGES = ['en', 'de'] as const

describe.each(LANGUAGES)('in %s', (language) => {
  it('each check on each of its platforms has words, and no others are there', () => {
    const catalogue = CATALOGUES[language]
    expect(Object.keys(catalogue).toSorted()).toEqual(
      CHECK_CATALOGUE.map(({ slug }) => slug).toSorted(),
    )
    const silent = CHECK_CATALOGUE.flatMap(({ slug, platforms }) =>
      platforms
        .filter((platform) => listSentences(catalogue[slug] ?? [], platform).length === 0)
        .map((platform) => `${slug} on ${platform}`),
    )
    expect(silent).toEqual([])
  })

  it.each(CASES)(
    '$slug on $flavor names columns that its answer has',
    ({ slug, platform, ...on }) => {
      const [row = {}] = runOnDevice(on.flavor, on.sql)
      const sentences = listSentences(CATALOGUES[language][slug] ?? [], platform)
      const named = sentences.flatMap((sentence) => [
        ...listColumns(textOf(sentence)),
        ...(typeof sentence === 'string' ? [] : Object.keys(sentence[0])),
      ])
      expect(named.filter((column) => !(column in row))).toEqual([])
    },
  )

  it.each(CASES_WITH_KNOB)('$slug says what it found on $flavor', ({ slug, platform, ...on }) => {
    const rows = runOnDevice(on.flavor, on.sql, on.knob)
    const failing = rows.filter((row) => row[CHECK_STATUS_COLUMN] === 'FAIL')
    expect(failing.length).toBeGreaterThan(0)
    for (const row of failing) {
      const words = findFoundWords({ checkSlug: slug, platform, row: maskRow(row) }, language)
      expect(words, JSON.stringify(row)).toMatch(/^[^{}]{10,600}$/)
    }
  })
})

it('the languages tell the same cases apart', () => {
  const shapeOf = (catalogue: typeof foundInEnglish) =>
    JSON.parse(
      JSON.stringify(catalogue, (_, value: unknown) =>
        typeof value === 'string' && /[\s.]/.test(value)
          ? listColumns(value).toSorted().join(' ')
          : value,
      ),
    ) as object
  expect(shapeOf(foundInGerman)).toEqual(shapeOf(foundInEnglish))
})

it('what an answer does not hold is not said, and custom checks have no words', () => {
  const find = (checkSlug: string, row: Record<string, string>) =>
    findFoundWords({ checkSlug, platform: 'windows', row }, 'en')
  expect(find('antivirus', {})).toBe('Windows reports that no antivirus protects this computer.')
  expect(find('credential-guard', {})).toBeUndefined()
  expect(find('custom-firewall', { state: 'off' })).toBeUndefined()
  expect(find('constructor', {})).toBeUndefined()
})
