import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../src/posture/checks/catalogue/index.ts'
import { BUILT_IN_RELEASE_DATA } from '../src/posture/checks/catalogue/release-data.ts'
import type { CheckPlatform } from '../src/posture/checks/check-definition.ts'
import { openOsqueryDatabase, type TableRows } from './support/osquery-database.ts'

const CATALOGUE = createCatalogue({
  ...BUILT_IN_RELEASE_DATA,
  applications: {
    source: 'https://example.com',
    as_of: '2026-02-10',
    safari: '26.2',
    xcode: '26.0',
    office_mac: '16.104',
    office_365_build: 18526,
    office_windows: [
      { year: 2021, build: 14332, until: '2026-10-13' },
      { year: 2024, build: 17932, until: '2029-10-09' },
    ],
  },
})

function runCheck(slug: string, platform: CheckPlatform, tables: TableRows, today = '2026-03-01') {
  const sql = CATALOGUE.find((check) => check.slug === slug)!.queries[platform]!
  using database = openOsqueryDatabase(tables)
  setToday(database, today)
  return database.prepare(sql).all()
}

function setToday(database: DatabaseSync, today: string): void {
  database.function('date', { varargs: true }, () => today)
}

const app = (bundle_identifier: string, bundle_short_version: string) => ({
  name: `${bundle_identifier.split('.').at(-1)!}.app`,
  bundle_identifier,
  bundle_short_version,
})

describe('versions of macOS applications', () => {
  it.each([
    ['safari-up-to-date', 'com.apple.Safari', '26.1', 'FAIL'],
    ['safari-up-to-date', 'com.apple.Safari', '26.2', 'PASS'],
    ['safari-up-to-date', 'com.apple.Safari', '26.10.1', 'PASS'],
    ['safari-up-to-date', 'com.apple.Safari', '18.6', 'FAIL'],
    ['safari-up-to-date', 'com.apple.Safari', '', 'UNKNOWN'],
    ['safari-up-to-date', 'com.example.other', '1.0', 'INAPPLICABLE'],
    ['xcode-up-to-date', 'com.apple.dt.Xcode', '16.4', 'FAIL'],
    ['xcode-up-to-date', 'com.apple.dt.Xcode', '26.2.1', 'PASS'],
    ['office-up-to-date', 'com.microsoft.Word', '16.99', 'FAIL'],
    ['office-up-to-date', 'com.microsoft.Word', '16.104.1', 'PASS'],
    ['office-up-to-date', 'com.apple.Safari', '26.2', 'INAPPLICABLE'],
  ])('%s judges %s %s: %s', (slug, identifier, version, expected) => {
    const rows = runCheck(slug, 'darwin', { apps: [app(identifier, version)] })
    expect(rows.map((row) => row['KOLIDE_CHECK_STATUS'])).toEqual([expected])
  })

  it('name every copy that is too old, and no other', () => {
    const apps = [
      app('com.microsoft.Word', '16.90'),
      app('com.microsoft.Excel', '16.110'),
      app('com.microsoft.Outlook', '16.95.2'),
    ]
    expect(runCheck('office-up-to-date', 'darwin', { apps })).toEqual([
      {
        installed: 'Word 16.90, Excel 16.110, Outlook 16.95.2',
        outdated: 'Word 16.90, Outlook 16.95.2',
        versions_unread: 0,
        minimum_version: '16.104',
        release_data: 'as of 2026-02-10',
        KOLIDE_CHECK_STATUS: 'FAIL',
      },
    ])
  })

  it('are unknown where no application is listed', () => {
    expect(runCheck('office-up-to-date', 'darwin', {})).toMatchObject([
      { KOLIDE_CHECK_STATUS: 'UNKNOWN' },
    ])
  })
})

describe('Office on Windows', () => {
  const status = (name: string, version: string, today?: string) =>
    runCheck('office-up-to-date', 'windows', { programs: [{ name, version }] }, today)[0]?.[
      'KOLIDE_CHECK_STATUS'
    ]

  it.each([
    ['Microsoft 365 Apps for enterprise - en-us', '16.0.18526.20714', 'PASS'],
    ['Microsoft 365 Apps for enterprise - en-us', '16.0.17928.20776', 'FAIL'],
    ['Aplicaciones de Microsoft 365 para empresas - es-es', '16.0.17928.20776', 'FAIL'],
    ['Microsoft 365 - de-de', '16.0.19628.20214', 'PASS'],
    ['Microsoft Office 365 ProPlus - en-us', '16.0.11328.20318', 'FAIL'],
    ['Microsoft Office LTSC Professional Plus 2024 - en-us', '16.0.17932.20700', 'PASS'],
    ['Microsoft Office LTSC Professional Plus 2021 - en-us', '16.0.14332.20800', 'PASS'],
    ['Microsoft Office Home and Business 2019 - en-us', '16.0.10417.20083', 'FAIL'],
    ['Microsoft Office Professional Plus 2016', '16.0.4266.1001', 'FAIL'],
    ['Microsoft 365 Apps for business', '', 'UNKNOWN'],
    ['Microsoft Office Proofing Tools 2016 - English', '16.0.4266.1001', 'INAPPLICABLE'],
    ['Microsoft 365 Copilot', '1.2.3', 'INAPPLICABLE'],
  ])('%s %s: %s', (name, version, expected) => {
    expect(status(name, version)).toBe(expected)
  })

  it('of a year is judged by the end of its support', () => {
    const name = 'Microsoft Office Professional Plus 2021 - en-us'
    expect(status(name, '16.0.14332.20800', '2026-10-13')).toBe('PASS')
    expect(status(name, '16.0.14332.20800', '2026-10-14')).toBe('FAIL')
  })
})
