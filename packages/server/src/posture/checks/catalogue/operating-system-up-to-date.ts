import type { CatalogueEntry } from './catalogue-entry.ts'
import { MACOS_RELEASES } from './release-data.ts'
import { passOrFailSql, verdictSql } from './verdict-sql.ts'

const UPDATE_AGE_DAYS_MAX = 45

const releases = MACOS_RELEASES.releases
const macosReleaseRows = releases
  .map(({ major, minor, patch }) => `(${major}, ${minor}, ${patch})`)
  .join(', ')

const darwin = verdictSql({
  with: `minimums(major, minor, patch) AS (VALUES ${macosReleaseRows})`,
  facts: {
    version: `SELECT version FROM os_version LIMIT 1`,
    minimum_version: `SELECT m.major || '.' || m.minor || '.' || m.patch FROM minimums m JOIN os_version o ON m.major = o.major LIMIT 1`,
    is_newer_than_known: `SELECT major > (SELECT MAX(major) FROM minimums) FROM os_version LIMIT 1`,
    is_recent: `SELECT o.minor * 1000 + COALESCE(o.patch, 0) >= m.minor * 1000 + m.patch FROM minimums m JOIN os_version o ON m.major = o.major LIMIT 1`,
  },
  cases: [
    ['UNKNOWN', `version IS NULL`],
    ['PASS', `is_newer_than_known = 1 OR is_recent = 1`],
  ],
  otherwise: 'FAIL',
})

// Defender's definitions arrive several times a day and say nothing about the system itself.
const windows = passOrFailSql({
  facts: {
    version: `SELECT version FROM os_version LIMIT 1`,
    last_update: `SELECT date(MAX("date"), 'unixepoch') FROM windows_update_history WHERE operation = 'Installation' AND result_code IN ('Succeeded', 'SucceededWithErrors') AND title NOT LIKE '%Defender%' AND title NOT LIKE '%Security Intelligence%'`,
    days_since_update: `SELECT CAST((CAST(strftime('%s', 'now') AS INTEGER) - MAX("date")) / 86400 AS INTEGER) FROM windows_update_history WHERE operation = 'Installation' AND result_code IN ('Succeeded', 'SucceededWithErrors') AND title NOT LIKE '%Defender%' AND title NOT LIKE '%Security Intelligence%'`,
  },
  pass: `days_since_update <= ${UPDATE_AGE_DAYS_MAX}`,
  fail: `days_since_update > ${UPDATE_AGE_DAYS_MAX}`,
})

/** The newest security updates of the operating system are installed. */
export const operatingSystemUpToDate: CatalogueEntry = {
  slug: 'operating-system-up-to-date',
  name: 'Operating system up to date',
  description: `macOS is at least at the security update that was current on ${MACOS_RELEASES.asOf}; Windows has installed an update in the last ${UPDATE_AGE_DAYS_MAX} days.`,
  issueTitle: 'The operating system is out of date',
  topics: ['updates'],
  tags: ['Critical'],
  queries: { darwin, windows },
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
      'Repeat until it says **You’re up to date**. If an update fails again and again, run **Settings** > **System** > **Troubleshoot** > **Other troubleshooters** > **Windows Update**.',
    ],
  },
  privacyInfo:
    'The version of the operating system and, on Windows, the date of the last installed update.',
  defaultStrategy: 'warn_then_block',
  graceDays: 14,
  strategyReason: 'Known holes are what attackers use; two weeks leave room for a restart.',
  shelfLife: 'software',
}
