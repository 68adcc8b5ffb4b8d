import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  installedAppsSql,
  installedPackagesSql,
  installedProgramsSql,
  type SoftwareNames,
} from './installed-software-sql.ts'
import { releaseDataSql, type ReleaseData } from './release-data.ts'
import { majorVersionSql, verdictSql } from './verdict-sql.ts'

/** An installed Google Chrome is not older than the minimum of the release data. */
export const chromeUpToDate = browserUpToDate('chrome', {
  slug: 'chrome-up-to-date',
  browser: 'Google Chrome',
  names: {
    bundleIdentifiers: ['com.google.Chrome'],
    programNames: ['Google Chrome'],
    packageNames: ['google-chrome-stable'],
  },
  updateInBrowser: [
    'Open Google Chrome and choose **⋮** > **Help** > **About Google Chrome**.',
    'Wait until the update is there, then choose **Relaunch**. Your tabs come back.',
  ],
})

/** An installed Microsoft Edge is not older than the minimum of the release data. */
export const edgeUpToDate = browserUpToDate('edge', {
  slug: 'edge-up-to-date',
  browser: 'Microsoft Edge',
  names: {
    bundleIdentifiers: ['com.microsoft.edgemac'],
    programNames: ['Microsoft Edge'],
    packageNames: ['microsoft-edge-stable'],
  },
  updateInBrowser: [
    'Open Microsoft Edge and choose **…** > **Help and feedback** > **About Microsoft Edge**.',
    'Wait until the update is there, then choose **Restart**. Your tabs come back.',
  ],
})

/** An installed Firefox is not older than the minimum of the release data. */
export const firefoxUpToDate = browserUpToDate('firefox', {
  slug: 'firefox-up-to-date',
  browser: 'Firefox',
  names: {
    bundleIdentifiers: ['org.mozilla.firefox'],
    programNames: ['Mozilla Firefox%'],
    packageNames: ['firefox', 'firefox-esr'],
  },
  updateInBrowser: [
    'Open Firefox. macOS: choose **Firefox** > **About Firefox** in the menu bar. Windows: choose **☰** > **Help** > **About Firefox**.',
    'Wait until the update is there, then choose **Restart to update Firefox**. Your tabs come back.',
  ],
})

interface BrowserRelease {
  readonly slug: string
  readonly browser: string
  /** The first of `packageNames` is the one that the fix updates. */
  readonly names: SoftwareNames
  readonly updateInBrowser: readonly string[]
}

function browserUpToDate(
  product: 'chrome' | 'edge' | 'firefox',
  release: BrowserRelease,
): (data: ReleaseData) => CatalogueEntry {
  return ({ browsers }) => {
    const { slug, browser, names, updateInBrowser } = release
    const minimumMajor = browsers[product]
    const [packageName] = names.packageNames
    const toQuery = (installed: string) => minimumVersionSql(installed, minimumMajor, browsers)
    return {
      slug,
      revision: 2,
      name: `${browser} up to date`,
      description: `${browser}, where it is installed, is at least version ${minimumMajor}.`,
      issueTitle: `${browser} is out of date`,
      topics: ['updates', 'browsers'],
      tags: ['Important'],
      queries: {
        darwin: toQuery(installedAppsSql(names)),
        windows: toQuery(installedProgramsSql(names)),
        linux: toQuery(installedPackagesSql(names)),
      },
      rationaleTemplate: `Version {{ issue.value.version }} of ${browser} has known holes. A browser runs what strangers send it all day, so one visit to a prepared page can be enough to take it over.`,
      fix: {
        darwin: updateInBrowser,
        windows: updateInBrowser,
        linux: `Open a terminal and run the line for your distribution, then restart the browser:

- Ubuntu and Debian: \`sudo apt update && sudo apt install --only-upgrade ${packageName}\`
- Fedora and Red Hat: \`sudo dnf upgrade --refresh ${packageName}\``,
      },
      privacyInfo: `The installed version of ${browser}. No history, no bookmarks, no settings.`,
      defaultStrategy: 'notify_only',
      strategyReason:
        'A restart of the browser fixes it; the minimum moves, so a block would surprise.',
      shelfLife: 'software',
    }
  }
}

/**
 * SQL that compares the oldest installed copy of a browser with a minimum major version. A device
 * without the browser is inapplicable. On Ubuntu the package of a browser that comes as a snap only
 * stands for the snap, which updates itself, so it is left out.
 */
function minimumVersionSql(
  installed: string,
  minimumMajor: number,
  source: ReleaseData['browsers'],
): string {
  return verdictSql({
    with: `installed AS (${installed})`,
    facts: {
      version: `SELECT version FROM installed WHERE version NOT LIKE '%snap%' ORDER BY ${majorVersionSql('version')} LIMIT 1`,
      minimum_major_version: `SELECT ${minimumMajor}`,
      release_data: releaseDataSql(source),
    },
    cases: [
      ['INAPPLICABLE', `version IS NULL`],
      ['UNKNOWN', `${majorVersionSql('version')} = 0`],
      ['PASS', `${majorVersionSql('version')} >= minimum_major_version`],
    ],
    otherwise: 'FAIL',
  })
}
