import type { CatalogueEntry } from './catalogue-entry.ts'
import { LINUX_RELEASES, MACOS_RELEASES, WINDOWS_RELEASES } from './release-data.ts'
import { quoteListSql, verdictSql } from './verdict-sql.ts'

const oldestMacos = Math.min(...MACOS_RELEASES.releases.map(({ major }) => major))

// Apple publishes no dates: it patches the newest three releases.
const darwin = verdictSql({
  facts: {
    version: `SELECT version FROM os_version LIMIT 1`,
    major: `SELECT major FROM os_version LIMIT 1`,
  },
  cases: [
    ['UNKNOWN', `major IS NULL`],
    ['PASS', `major >= ${oldestMacos}`],
  ],
  otherwise: 'FAIL',
})

const windowsRows = WINDOWS_RELEASES.releases
  .map(
    ({ build, homeUntil, enterpriseUntil }) =>
      `(${build}, ${quoteListSql([homeUntil, enterpriseUntil])})`,
  )
  .join(', ')

const windows = verdictSql({
  with: `releases(build, home_until, enterprise_until) AS (VALUES ${windowsRows})`,
  facts: {
    version: `SELECT name || ' ' || version FROM os_version LIMIT 1`,
    build: `SELECT CAST(build AS INTEGER) FROM os_version LIMIT 1`,
    is_server: `SELECT name LIKE '%Server%' FROM os_version LIMIT 1`,
    is_newer_than_known: `SELECT CAST(build AS INTEGER) > (SELECT MAX(build) FROM releases) FROM os_version LIMIT 1`,
    supported_until: `SELECT CASE WHEN o.name LIKE '%Enterprise%' OR (o.name LIKE '%Education%' AND o.name NOT LIKE '%Pro Education%') THEN r.enterprise_until ELSE r.home_until END FROM os_version o JOIN releases r ON r.build = CAST(o.build AS INTEGER) LIMIT 1`,
  },
  cases: [
    ['UNKNOWN', `build IS NULL`],
    ['INAPPLICABLE', `is_server = 1`],
    ['PASS', `is_newer_than_known = 1`],
    ['PASS', `supported_until >= date('now')`],
  ],
  otherwise: 'FAIL',
})

// Only Ubuntu numbers its releases with two parts (24.04); elsewhere the minor number is a patch level.
function releaseNumber(platform: string, major: string, minor: string): string {
  return `${major} * 100 + CASE ${platform} WHEN 'ubuntu' THEN ${minor} ELSE 0 END`
}

const linuxRows = LINUX_RELEASES.releases
  .map(
    ({ platform, major, minor, until }) =>
      `('${platform}', ${major * 100 + (platform === 'ubuntu' ? minor : 0)}, '${until}')`,
  )
  .join(', ')

const linux = verdictSql({
  with: `releases(platform, number, until) AS (VALUES ${linuxRows}),
device(platform, number) AS (
  SELECT platform, ${releaseNumber('platform', 'major', 'COALESCE(minor, 0)')} FROM os_version LIMIT 1
)`,
  facts: {
    version: `SELECT name || ' ' || version FROM os_version LIMIT 1`,
    newest_known: `SELECT MAX(r.number) FROM releases r JOIN device d ON r.platform = d.platform`,
    device_release: `SELECT number FROM device`,
    supported_until: `SELECT r.until FROM releases r JOIN device d ON r.platform = d.platform AND r.number = d.number`,
  },
  cases: [
    ['UNKNOWN', `newest_known IS NULL`],
    ['PASS', `device_release > newest_known`],
    ['PASS', `supported_until >= date('now')`],
  ],
  otherwise: 'FAIL',
})

/** The release of the operating system still gets security updates. */
export const operatingSystemSupported: CatalogueEntry = {
  slug: 'operating-system-supported',
  name: 'Operating system supported',
  description:
    'The release of macOS, Windows, Ubuntu, Debian, Fedora or Red Hat Enterprise Linux still gets free security updates from its maker. Other Linux distributions answer unknown.',
  issueTitle: 'The operating system no longer gets security updates',
  topics: ['updates'],
  tags: ['Critical'],
  queries: { darwin, windows, linux },
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
