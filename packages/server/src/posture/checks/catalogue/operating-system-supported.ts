import type { CatalogueEntry } from './catalogue-entry.ts'
import { releaseDataSql, type ReleaseData } from './release-data.ts'
import { quoteSql, verdictSql } from './verdict-sql.ts'

function toDarwinSql({ macos }: ReleaseData): string {
  const rows = macos.releases.map(({ major, until }) => `(${major}, ${quoteSql(until)})`)
  return verdictSql({
    with: `releases(major, until) AS (VALUES ${rows.join(', ')})`,
    facts: {
      version: `SELECT version FROM os_version LIMIT 1`,
      major: `SELECT major FROM os_version LIMIT 1`,
      is_newer_than_known: `SELECT major > (SELECT MAX(major) FROM releases) FROM os_version LIMIT 1`,
      supported_until: `SELECT r.until FROM releases r JOIN os_version o ON o.major = r.major LIMIT 1`,
      release_data: releaseDataSql(macos),
    },
    cases: [
      ['UNKNOWN', `major IS NULL`],
      ['PASS', `is_newer_than_known = 1 OR supported_until >= date('now')`],
    ],
    otherwise: 'FAIL',
  })
}

function toDaySql(text: string | undefined): string {
  return text === undefined ? 'NULL' : quoteSql(text)
}

// The long-term channels of Enterprise are builds of their own time; their names end in LTSB or LTSC.
function toWindowsSql({ windows }: ReleaseData): string {
  const rows = windows.releases.map((release) => {
    const { build, home_until, enterprise_until, ltsc_until, iot_ltsc_until } = release
    const days = [home_until, enterprise_until, ltsc_until, iot_ltsc_until ?? ltsc_until]
    return `(${build}, ${days.map(toDaySql).join(', ')})`
  })
  return verdictSql({
    with: `releases(build, home_until, enterprise_until, ltsc_until, iot_ltsc_until) AS (VALUES ${rows.join(', ')})`,
    facts: {
      version: `SELECT name || ' ' || version FROM os_version LIMIT 1`,
      build: `SELECT CAST(build AS INTEGER) FROM os_version LIMIT 1`,
      is_server: `SELECT name LIKE '%Server%' FROM os_version LIMIT 1`,
      is_newer_than_known: `SELECT CAST(build AS INTEGER) > (SELECT MAX(build) FROM releases) FROM os_version LIMIT 1`,
      supported_until: `SELECT CASE
    WHEN o.name LIKE '%LTSC%' OR o.name LIKE '%LTSB%' THEN CASE WHEN o.name LIKE '%IoT%' THEN r.iot_ltsc_until ELSE r.ltsc_until END
    WHEN o.name LIKE '%Enterprise%' OR (o.name LIKE '%Education%' AND o.name NOT LIKE '%Pro Education%') THEN r.enterprise_until
    ELSE r.home_until END FROM os_version o JOIN releases r ON r.build = CAST(o.build AS INTEGER) LIMIT 1`,
      release_data: releaseDataSql(windows),
    },
    cases: [
      ['UNKNOWN', `build IS NULL`],
      ['INAPPLICABLE', `is_server = 1`],
      ['PASS', `is_newer_than_known = 1`],
      ['PASS', `supported_until >= date('now')`],
    ],
    otherwise: 'FAIL',
  })
}

// Only Ubuntu numbers its releases with two parts (24.04); elsewhere the minor number is a patch level.
function releaseNumber(platform: string, major: string, minor: string): string {
  return `${major} * 100 + CASE ${platform} WHEN 'ubuntu' THEN ${minor} ELSE 0 END`
}

// Debian gives testing and unstable a code name and no number; what has a name that is not listed is still to
// come out, and one with a listed name was not updated since its release came out.
function toLinuxSql({ linux }: ReleaseData): string {
  const rows = linux.releases.map(({ platform, major, minor, codename, until }) => {
    const number = major * 100 + (platform === 'ubuntu' ? minor : 0)
    return `(${quoteSql(platform)}, ${number}, ${toDaySql(codename)}, ${quoteSql(until)})`
  })
  return verdictSql({
    with: `releases(platform, number, codename, until) AS (VALUES ${rows.join(', ')}),
device(platform, number, codename) AS (
  SELECT platform, ${releaseNumber('platform', 'COALESCE(major, 0)', 'COALESCE(minor, 0)')}, lower(COALESCE(codename, '')) FROM os_version LIMIT 1
)`,
    facts: {
      version: `SELECT name || ' ' || COALESCE(NULLIF(version, ''), codename, '') FROM os_version LIMIT 1`,
      newest_known: `SELECT MAX(r.number) FROM releases r JOIN device d ON r.platform = d.platform`,
      device_release: `SELECT number FROM device`,
      codename: `SELECT codename FROM device`,
      is_unreleased: `SELECT d.number = 0 AND NOT EXISTS (SELECT 1 FROM releases r WHERE r.platform = d.platform AND r.codename = d.codename) FROM device d`,
      supported_until: `SELECT r.until FROM releases r JOIN device d ON r.platform = d.platform AND r.number = d.number`,
      release_data: releaseDataSql(linux),
    },
    cases: [
      ['UNKNOWN', `newest_known IS NULL OR (device_release = 0 AND codename = '')`],
      ['PASS', `is_unreleased = 1 OR device_release > newest_known`],
      ['PASS', `supported_until >= date('now')`],
    ],
    otherwise: 'FAIL',
  })
}

/** The release of the operating system still gets security updates. */
export function operatingSystemSupported(data: ReleaseData): CatalogueEntry {
  return {
    revision: 2,
    slug: 'operating-system-supported',
    name: 'Operating system supported',
    description:
      'The release of macOS, Windows, Ubuntu, Debian, Fedora or Red Hat Enterprise Linux still gets free security updates from its maker; the long-term channels of Windows Enterprise count by their own dates. Apple publishes none: the dates of macOS are those that its habit leads to. Debian testing and unstable pass while their release is still to come. Other Linux distributions answer unknown.',
    issueTitle: 'The operating system no longer gets security updates',
    topics: ['updates'],
    tags: ['Critical'],
    queries: { darwin: toDarwinSql(data), windows: toWindowsSql(data), linux: toLinuxSql(data) },
    rationaleTemplate: `{{ device.name }} runs {{ issue.value.version | default: "a release" }}, whose maker has stopped to repair it{% if issue.value.supported_until %} on {{ issue.value.supported_until }}{% endif %}. Every hole that is found from now on stays open for good.`,
    fix: {
      darwin: [
        'Back up your files.',
        'Open the Apple menu > **System Settings** > **General** > **Software Update** and choose **Upgrade Now** next to the newest macOS that is offered.',
        'If no newer release is offered, this Mac is too old for one. Ask your IT team for a replacement.',
      ],
      windows: [
        'Back up your files.',
        'Open **Settings** > **Windows Update**, choose **Check for updates**, then **Download and install** next to the newest version of Windows 11.',
        'If it is not offered, open **Start**, type `PC Health Check` and run it. If it says that this computer cannot run Windows 11, ask your IT team for a replacement.',
      ],
      linux: `Back up your files first, then:

- Ubuntu: run \`sudo apt update && sudo apt full-upgrade\`, restart, and run \`sudo do-release-upgrade\`.
- Fedora: run \`sudo dnf upgrade --refresh\`, restart, then run \`sudo dnf system-upgrade download --releasever=N\` with the number of the newest release, and \`sudo dnf system-upgrade reboot\`.
- Debian and Red Hat: follow the upgrade chapter of the release notes, or ask your IT team.`,
    },
    privacyInfo: 'The name, version and build of the operating system.',
    defaultStrategy: 'warn_then_block',
    graceDays: 30,
    strategyReason: 'Cannot be made safe by patching; an upgrade or a new device takes a month.',
    shelfLife: 'software',
  }
}
