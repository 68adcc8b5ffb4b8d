import type { CheckDefinition } from '../check-definition.ts'
import { browserVersionQueries } from './browser-version-queries.ts'
import { platformText, steps } from './platform-text.ts'
import { BROWSER_RELEASES } from './release-data.ts'
import { SHELF_LIFE_SOFTWARE_SECONDS } from './shelf-life.ts'

const queries = browserVersionQueries(
  {
    bundleIdentifiers: ['com.microsoft.edgemac'],
    programNames: ['Microsoft Edge'],
    packageNames: ['microsoft-edge-stable'],
  },
  BROWSER_RELEASES.edge,
)

const updateInBrowser = [
  'Open Microsoft Edge and choose **…** > **Help and feedback** > **About Microsoft Edge**.',
  'Wait until the update is there, then choose **Restart**. Your tabs come back.',
]

/** An installed Microsoft Edge is not older than the minimum of the release data. */
export const edgeUpToDate: CheckDefinition = {
  slug: 'edge-up-to-date',
  revision: 1,
  name: 'Microsoft Edge up to date',
  description: `Microsoft Edge, where it is installed, is at least version ${BROWSER_RELEASES.edge}.`,
  issueTitle: 'Microsoft Edge is out of date',
  platforms: ['darwin', 'windows', 'linux'],
  topics: ['updates', 'browsers'],
  tags: ['Important'],
  queries,
  rationaleTemplate: `Version {{ issue.value.version }} of Microsoft Edge has known holes. A browser runs what strangers send it all day, so one visit to a prepared page can be enough to take it over.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(...updateInBrowser),
    windows: steps(...updateInBrowser),
    linux: `Open a terminal and run the line for your distribution, then restart the browser:

- Ubuntu and Debian: \`sudo apt update && sudo apt install --only-upgrade microsoft-edge-stable\`
- Fedora and Red Hat: \`sudo dnf upgrade --refresh microsoft-edge-stable\``,
  }),
  privacyInfo: 'The installed version of Microsoft Edge. No history, no bookmarks, no settings.',
  defaultStrategy: 'notify_only',
  graceDays: 0,
  strategyReason:
    'A restart of the browser fixes it; the minimum moves, so a block would surprise.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SOFTWARE_SECONDS,
}
