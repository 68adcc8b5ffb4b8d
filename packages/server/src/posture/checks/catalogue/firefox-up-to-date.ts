import type { CheckDefinition } from '../check-definition.ts'
import { browserVersionQueries } from './browser-version-queries.ts'
import { platformText, steps } from './platform-text.ts'
import { BROWSER_RELEASES } from './release-data.ts'
import { SHELF_LIFE_SOFTWARE_SECONDS } from './shelf-life.ts'

const queries = browserVersionQueries(
  {
    bundleIdentifiers: ['org.mozilla.firefox'],
    programNames: ['Mozilla Firefox%'],
    packageNames: ['firefox', 'firefox-esr'],
  },
  BROWSER_RELEASES.firefox,
)

const updateInBrowser = [
  'Open Firefox. macOS: choose **Firefox** > **About Firefox** in the menu bar. Windows: choose **☰** > **Help** > **About Firefox**.',
  'Wait until the update is there, then choose **Restart to update Firefox**. Your tabs come back.',
]

/** An installed Firefox is not older than the minimum of the release data. */
export const firefoxUpToDate: CheckDefinition = {
  slug: 'firefox-up-to-date',
  revision: 1,
  name: 'Firefox up to date',
  description: `Firefox, where it is installed, is at least version ${BROWSER_RELEASES.firefox}.`,
  issueTitle: 'Firefox is out of date',
  platforms: ['darwin', 'windows', 'linux'],
  topics: ['updates', 'browsers'],
  tags: ['Important'],
  queries,
  rationaleTemplate: `Version {{ issue.value.version }} of Firefox has known holes. A browser runs what strangers send it all day, so one visit to a prepared page can be enough to take it over.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(...updateInBrowser),
    windows: steps(...updateInBrowser),
    linux: `Open a terminal and run the line for your distribution, then restart the browser:

- Ubuntu and Debian: \`sudo apt update && sudo apt install --only-upgrade firefox\`
- Fedora and Red Hat: \`sudo dnf upgrade --refresh firefox\``,
  }),
  privacyInfo: 'The installed version of Firefox. No history, no bookmarks, no settings.',
  defaultStrategy: 'notify_only',
  graceDays: 0,
  strategyReason:
    'A restart of the browser fixes it; the minimum moves, so a block would surprise.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SOFTWARE_SECONDS,
}
