import { describe, expect, it } from 'vitest'
import { AppError } from '../../../platform/app-error.ts'
import {
  BUILT_IN_RELEASE_DATA,
  listStaleSections,
  parseReleaseData,
  releaseDataSql,
} from './release-data.ts'
import { createCatalogue } from './index.ts'

const copy = () => structuredClone(BUILT_IN_RELEASE_DATA)

function refusalOf(value: unknown): AppError {
  try {
    parseReleaseData(value)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('taken')
}

describe('a file of release data', () => {
  it('is what a printed one says', () => {
    const printed: unknown = JSON.parse(JSON.stringify(BUILT_IN_RELEASE_DATA))
    expect(parseReleaseData(printed)).toEqual(BUILT_IN_RELEASE_DATA)
  })

  it.each([
    ['no object', null, ['the file']],
    ['an unknown member', { ...copy(), chromium: 1 }, ['the file']],
    ['a day that does not exist', { ...copy(), date: '2026-02-30' }, ['date']],
    [
      'SQL for a platform',
      {
        ...copy(),
        linux: { ...copy().linux, releases: [{ platform: "x'", major: 1, until: '2030-01-01' }] },
      },
      ['linux.releases[0].platform'],
    ],
    [
      'two problems at once',
      { ...copy(), browsers: { ...copy().browsers, chrome: '150', edge: -1 } },
      ['browsers.chrome', 'browsers.edge'],
    ],
    [
      'no release at all',
      { ...copy(), macos: { ...copy().macos, releases: [] } },
      ['macos.releases'],
    ],
    [
      'a part that is newer than the file',
      { ...copy(), macos: { ...copy().macos, as_of: '2099-01-01' } },
      ['macos.as_of'],
    ],
  ])('is refused with the place of each problem: %s', (_, value, paths) => {
    const refusal = refusalOf(value)
    expect(refusal.code).toBe('invalid_body')
    expect(refusal.details?.map(({ path }) => path)).toEqual(paths)
    for (const path of paths) expect(refusal.message).toContain(`  - ${path}: `)
  })
})

describe('how old release data is', () => {
  const data = { ...copy(), browsers: { ...copy().browsers, as_of: '2026-05-01' } }

  it('counts for each part by its own day: 90 days are fresh', () => {
    expect(listStaleSections(data, new Date('2026-07-30T23:59:59Z'))).not.toContain('browsers')
    expect(listStaleSections(data, new Date('2026-07-31T00:00:00Z'))).toContain('browsers')
  })

  it('is told with every result of a check that compares with it', () => {
    expect(releaseDataSql(data.browsers)).toContain('2026-05-01')
    const dated = createCatalogue(data).filter(({ queries }) =>
      Object.values(queries).every((sql) => sql.includes('release_data')),
    )
    expect(dated.map(({ slug }) => slug)).toEqual(
      expect.arrayContaining([
        'operating-system-up-to-date',
        'operating-system-supported',
        'chrome-up-to-date',
        'edge-up-to-date',
        'firefox-up-to-date',
        'safari-up-to-date',
      ]),
    )
  })
})
