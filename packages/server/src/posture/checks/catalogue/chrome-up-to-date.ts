import type { CheckDefinition } from '../check-definition.ts'
import { browserVersionQueries } from './browser-version-queries.ts'
import { platformText, steps } from './platform-text.ts'
import { BROWSER_RELEASES } from './release-data.ts'
import { SHELF_LIFE_SOFTWARE_SECONDS } from './shelf-life.ts'

const queries = browserVersionQueries(
  {
    bundleIdentifiers: ['com.google.Chrome'],
    programNames: ['Google Chrome'],
    packageNames: ['google-chrome-stable'],
  },
  BROWSER_RELEASES.chrome,
)

const updateInBrowser = [
  'Open Google Chrome and choose **⋮** > **Help** > **About Google Chrome**.',
  'Wait until the update is there, then choose **Relaunch**. Your tabs come back.',
]

/** An installed Google Chrome is not older than the minimum of the release data. */
export const chromeUpToDate: CheckDefinition = {
  slug: 'chrome-up-to-date',
  revision: 1,
  name: 'Google Chrome up to date',
  description: `Google Chrome, where it is installed, is at least version ${BROWSER_RELEASES.chrome}.`,
  issueTitle: 'Google Chrome is out of date',
  platforms: ['darwin', 'windows', 'linux'],
  topics: ['updates', 'browsers'],
  tags: ['Important'],
  queries,
  rationaleTemplate: `Version {{ issue.value.version }} of Google Chrome has known holes. A browser runs what strangers send it all day, so one visit to a prepared page can be enough to take it over.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(...updateInBrowser),
    windows: steps(...updateInBrowser),
    linux: `Open a terminal and run the line for your distribution, then restart the browser:

- Ubuntu and Debian: \`sudo apt update && sudo apt install --only-upgrade google-chrome-stable\`
- Fedora and Red Hat: \`sudo dnf upgrade --refresh google-chrome-stable\``,
  }),
  privacyInfo: 'The installed version of Google Chrome. No history, no bookmarks, no settings.',
  defaultStrategy: 'notify_only',
  graceDays: 0,
  strategyReason:
    'A restart of the browser fixes it; the minimum moves, so a block would surprise.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SOFTWARE_SECONDS,
}
