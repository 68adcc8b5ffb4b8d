/*
 * Checks that applications of Apple and Microsoft are not older than the minimum of the release data: Safari,
 * Xcode and Office.
 */
import type { CatalogueEntry } from './catalogue-entry.ts'
import { NO_SOFTWARE_LISTED_SQL } from './installed-software-sql.ts'
import { releaseDataSql, type ReleaseData } from './release-data.ts'
import {
  likeAnySql,
  quoteListSql,
  quoteSql,
  verdictSql,
  versionNumberSql,
  type VerdictCase,
} from './verdict-sql.ts'

type ApplicationReleases = ReleaseData['applications']

/** Safari is not older than the minimum of the release data. */
export function safariUpToDate({ applications }: ReleaseData): CatalogueEntry {
  return {
    slug: 'safari-up-to-date',
    name: 'Safari up to date',
    description: `Safari is at least version ${applications.safari}. It comes with macOS, and on older releases of macOS as an update of its own.`,
    issueTitle: 'Safari is out of date',
    topics: ['updates', 'browsers'],
    tags: ['Important'],
    queries: {
      darwin: appVersionSql(['com.apple.Safari'], applications.safari, applications),
    },
    rationaleTemplate: `{{ issue.value.outdated }} has known holes. macOS shows web pages by the same parts in other apps too, such as Mail, so this matters also to those who use another browser.`,
    fix: {
      darwin: [
        'Open the Apple menu > **System Settings** > **General** > **Software Update**.',
        'Choose **Update Now**, or the **Info** button (i) next to the updates and tick **Safari**, and wait until the update is installed.',
        'If nothing is offered, your macOS gets no newer Safari: upgrade macOS, or ask your IT team.',
      ],
    },
    privacyInfo: 'The installed version of Safari. No history, no bookmarks, no settings.',
    defaultStrategy: 'notify_only',
    strategyReason: 'Comes with updates of macOS, which have a check of their own.',
    shelfLife: 'software',
  }
}

/** An installed Xcode is not older than the minimum of the release data. */
export function xcodeUpToDate({ applications }: ReleaseData): CatalogueEntry {
  return {
    slug: 'xcode-up-to-date',
    name: 'Xcode up to date',
    description: `Every installed Xcode is at least version ${applications.xcode}. Inapplicable where there is none.`,
    issueTitle: 'Xcode is out of date',
    topics: ['updates', 'software'],
    tags: ['Info'],
    queries: {
      darwin: appVersionSql(['com.apple.dt.Xcode'], applications.xcode, applications),
    },
    rationaleTemplate: `{{ issue.value.outdated }} has known holes in its compilers and in the Git that it brings along, and the App Store takes no apps that it builds.`,
    fix: {
      darwin: [
        'Open the **App Store** > **Updates** and choose **Update** next to Xcode. An Xcode from the website of Apple is replaced by the newest one from there.',
        'Open Xcode once, so that it installs what belongs to it.',
        'Drag older copies of Xcode to the **Trash**. If a project needs one of them, ask for an exemption.',
      ],
    },
    privacyInfo: 'The versions of Xcode that are installed. No projects.',
    defaultStrategy: 'report_only',
    strategyReason: 'Projects may depend on an older release; developers plan the change.',
    shelfLife: 'software',
  }
}

const OFFICE_BUNDLES = [
  'com.microsoft.Excel',
  'com.microsoft.Outlook',
  'com.microsoft.Powerpoint',
  'com.microsoft.Word',
  'com.microsoft.onenote.mac',
]

// Names of suites only: parts such as proofing tools are left over from suites that are long gone.
const OFFICE_PROGRAMS = [
  '%Microsoft 365%- __-__%',
  'Microsoft 365 Apps%',
  'Microsoft Office 365%',
  'Microsoft Office Home%',
  'Microsoft Office LTSC%',
  'Microsoft Office Personal%',
  'Microsoft Office Professional%',
  'Microsoft Office Standard%',
]

/** An installed Microsoft Office is a release that gets updates, and not older than the minimum of the release data. */
export function officeUpToDate({ applications }: ReleaseData): CatalogueEntry {
  return {
    slug: 'office-up-to-date',
    name: 'Microsoft Office up to date',
    description: `Microsoft 365 and Office, where installed, still get security updates and are not too old: at least version ${applications.office_mac} on macOS, and on Windows the oldest build that Microsoft services. Inapplicable where there is none.`,
    issueTitle: 'Microsoft Office is out of date',
    topics: ['updates', 'software'],
    tags: ['Important'],
    queries: {
      darwin: appVersionSql(OFFICE_BUNDLES, applications.office_mac, applications),
      windows: officeBuildSql(applications),
    },
    rationaleTemplate: `{{ issue.value.outdated }} has known holes. Documents from mails and web pages are the most common way in, and opening one is enough.`,
    fix: {
      darwin: [
        'Open Word and choose **Help** > **Check for Updates** in the menu bar. Office from the App Store: open the **App Store** > **Updates**.',
        'Choose **Update All** and let the applications close when they are asked to.',
        'If no update is offered, this Office or this macOS is too old for one: ask your IT team for a newer one.',
      ],
      windows: [
        'Open Word and choose **File** > **Account** > **Update Options** > **Update Now**.',
        'Close the applications when you are asked to, and wait until the update says that it is done.',
        'Office 2019 and older get no more updates. Ask your IT team for Microsoft 365 or a newer Office, or uninstall it under **Settings** > **Apps** > **Installed apps**.',
      ],
    },
    privacyInfo: 'Names and versions of the Office applications that are installed. No documents.',
    defaultStrategy: 'notify_only',
    strategyReason: 'Updates itself as a rule; an old suite needs a licence for a new one.',
    shelfLife: 'software',
  }
}

const CASES: readonly VerdictCase[] = [
  ['FAIL', `outdated IS NOT NULL`],
  ['INAPPLICABLE', `installed IS NULL`],
  ['UNKNOWN', `versions_unread > 0`],
]

function appVersionSql(
  bundleIdentifiers: readonly string[],
  minimumVersion: string,
  releases: ApplicationReleases,
): string {
  return verdictSql({
    with: `copies AS (
  SELECT replace(name, '.app', '') || ' ' || bundle_short_version AS copy, ${versionNumberSql('bundle_short_version')} AS number
  FROM apps WHERE bundle_identifier IN (${quoteListSql(bundleIdentifiers)})
)`,
    facts: {
      installed: `SELECT group_concat(copy, ', ') FROM copies`,
      outdated: `SELECT group_concat(copy, ', ') FROM copies WHERE number > 0 AND number < ${versionNumberSql(quoteSql(minimumVersion))}`,
      versions_unread: `SELECT COUNT(*) FROM copies WHERE COALESCE(number, 0) = 0`,
      minimum_version: `SELECT ${quoteSql(minimumVersion)}`,
      release_data: releaseDataSql(releases),
    },
    cases: [['UNKNOWN', NO_SOFTWARE_LISTED_SQL.darwin], ...CASES],
    otherwise: 'PASS',
  })
}

// The third number of a version of Office tells its build: 16.0.19127.20532. The name of a suite tells its
// year; one of a year that is not listed gets no updates, and one without a year is Microsoft 365.
function officeBuildSql(releases: ApplicationReleases): string {
  const suites = releases.office_windows.map(
    ({ year, build, until }) => `(${quoteSql(String(year))}, ${build}, ${quoteSql(until)})`,
  )
  return verdictSql({
    with: `suites(year, build, until) AS (VALUES ${suites.join(', ')}),
copies AS (
  SELECT name || ' ' || version AS copy, ${versionNumberSql('version')} % 100000 AS build, name GLOB '*20[0-9][0-9]*' AS has_year,
    (SELECT year FROM suites WHERE instr(name, year) > 0) AS year
  FROM programs WHERE ${likeAnySql('name', OFFICE_PROGRAMS)}
),
judged AS (
  SELECT copy, c.build, CASE
    WHEN has_year AND (s.year IS NULL OR date('now') > s.until) THEN 1
    WHEN has_year THEN c.build < s.build
    ELSE c.build < ${releases.office_365_build} END AS is_outdated
  FROM copies c LEFT JOIN suites s ON s.year = c.year
)`,
    facts: {
      installed: `SELECT group_concat(copy, ', ') FROM copies`,
      outdated: `SELECT group_concat(copy, ', ') FROM judged WHERE is_outdated AND build > 0`,
      versions_unread: `SELECT COUNT(*) FROM judged WHERE COALESCE(build, 0) = 0`,
      minimum_version: `SELECT '16.0.${releases.office_365_build}'`,
      release_data: releaseDataSql(releases),
    },
    cases: [['UNKNOWN', NO_SOFTWARE_LISTED_SQL.windows], ...CASES],
    otherwise: 'PASS',
  })
}
