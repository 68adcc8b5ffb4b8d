import type { CatalogueEntry } from './catalogue-entry.ts'
import { releaseDataSql, type ReleaseData } from './release-data.ts'
import { verdictSql } from './verdict-sql.ts'

function toDarwinSql({ macos }: ReleaseData): string {
  const rows = macos.releases.map(({ major, minor, patch }) => `(${major}, ${minor}, ${patch})`)
  return verdictSql({
    with: `minimums(major, minor, patch) AS (VALUES ${rows.join(', ')})`,
    facts: {
      version: `SELECT version FROM os_version LIMIT 1`,
      minimum_version: `SELECT m.major || '.' || m.minor || '.' || m.patch FROM minimums m JOIN os_version o ON m.major = o.major LIMIT 1`,
      is_newer_than_known: `SELECT major > (SELECT MAX(major) FROM minimums) FROM os_version LIMIT 1`,
      is_recent: `SELECT o.minor * 1000 + COALESCE(o.patch, 0) >= m.minor * 1000 + m.patch FROM minimums m JOIN os_version o ON m.major = o.major LIMIT 1`,
      release_data: releaseDataSql(macos),
    },
    cases: [
      ['UNKNOWN', `version IS NULL`],
      ['PASS', `is_newer_than_known = 1 OR is_recent = 1`],
    ],
    otherwise: 'FAIL',
  })
}

// Updates are cumulative: the revision of a build says which of them is installed.
function toWindowsSql({ windows }: ReleaseData): string {
  const rows = windows.releases.map(({ build, revision }) => `(${build}, ${revision ?? 'NULL'})`)
  return verdictSql({
    with: `minimums(build, revision) AS (VALUES ${rows.join(', ')}),
device(build, revision, name) AS (SELECT CAST(build AS INTEGER), revision, name FROM os_version LIMIT 1)`,
    facts: {
      version: `SELECT build || COALESCE('.' || revision, '') FROM device`,
      minimum_version: `SELECT m.build || '.' || m.revision FROM minimums m JOIN device d ON d.build = m.build`,
      build: `SELECT build FROM device`,
      revision: `SELECT revision FROM device`,
      is_server: `SELECT name LIKE '%Server%' FROM device`,
      is_newer_than_known: `SELECT build > (SELECT MAX(build) FROM minimums) FROM device`,
      is_known: `SELECT COUNT(*) FROM minimums m JOIN device d ON d.build = m.build`,
      is_recent: `SELECT d.revision >= m.revision FROM minimums m JOIN device d ON d.build = m.build`,
      release_data: releaseDataSql(windows),
    },
    cases: [
      ['INAPPLICABLE', `is_server = 1`],
      ['UNKNOWN', `build IS NULL`],
      ['PASS', `is_newer_than_known = 1`],
      ['FAIL', `is_known = 0`],
      ['PASS', `is_recent = 1`],
      ['FAIL', `is_recent = 0`],
    ],
  })
}

/** The newest security updates of the operating system are installed. */
export function operatingSystemUpToDate(data: ReleaseData): CatalogueEntry {
  const { macos, windows } = data
  return {
    slug: 'operating-system-up-to-date',
    revision: 2,
    name: 'Operating system up to date',
    description: `macOS is at least at the security update that was current on ${macos.as_of}, Windows at least at the revision of its build that was current on ${windows.as_of}. Servers of Windows are inapplicable.`,
    issueTitle: 'The operating system is out of date',
    topics: ['updates'],
    tags: ['Critical'],
    queries: { darwin: toDarwinSql(data), windows: toWindowsSql(data) },
    rationaleTemplate: `{{ device.name }} runs version {{ issue.value.version | default: "unknown" }}. Holes in it are public, and attackers have ready-made tools for them. The update closes them.`,
    fix: {
      darwin: [
        'Save your work and connect the Mac to power.',
        'Open the Apple menu > **System Settings** > **General** > **Software Update**.',
        'Choose **Update Now** or **Restart Now**{% if issue.value.minimum_version %}; version {{ issue.value.minimum_version }} or newer is needed{% endif %}.',
      ],
      windows: [
        'Open **Settings** > **Windows Update**. If it says **Updates paused**, choose **Resume updates**.',
        'Choose **Check for updates**, let everything install and choose **Restart now**.',
        'Repeat until it says **You’re up to date**{% if issue.value.minimum_version %}; build {{ issue.value.minimum_version }} or newer is needed{% endif %}. If an update fails again and again, run **Settings** > **System** > **Troubleshoot** > **Other troubleshooters** > **Windows Update**.',
      ],
    },
    privacyInfo: 'The version of the operating system, with build and revision on Windows.',
    defaultStrategy: 'warn_then_block',
    graceDays: 14,
    strategyReason: 'Known holes are what attackers use; two weeks leave room for a restart.',
    shelfLife: 'software',
  }
}
