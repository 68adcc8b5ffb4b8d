import { OSQUERY_MINIMUM_VERSION } from '../../osquery/tables/table-facts.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql, versionNumberSql } from './verdict-sql.ts'

// The firewall of macOS 15 and newer is seen from this release on.
const MACOS_15_MINIMUM_VERSION = '5.14.0'

function toQuery(minimumVersion: string): string {
  return verdictSql({
    facts: {
      version: `SELECT version FROM osquery_info LIMIT 1`,
      minimum_version: `SELECT ${minimumVersion}`,
    },
    cases: [
      ['UNKNOWN', `COALESCE(version, '') = ''`],
      ['PASS', `${versionNumberSql('version')} >= ${versionNumberSql('minimum_version')}`],
    ],
    otherwise: 'FAIL',
  })
}

const everywhere = `'${OSQUERY_MINIMUM_VERSION}'`

/** The agent has the tables that the built-in checks read. */
export const agentUpToDate: CatalogueEntry = {
  slug: 'agent-up-to-date',
  name: 'osquery agent up to date',
  description: `The osquery agent is at least version ${OSQUERY_MINIMUM_VERSION}, which the built-in checks need, and on macOS 15 or newer ${MACOS_15_MINIMUM_VERSION}, which sees the firewall there.`,
  issueTitle: 'The osquery agent is out of date',
  topics: ['updates', 'agent'],
  tags: ['Important'],
  queries: {
    darwin: toQuery(
      `CASE WHEN (SELECT major FROM os_version LIMIT 1) >= 15 THEN '${MACOS_15_MINIMUM_VERSION}' ELSE ${everywhere} END`,
    ),
    windows: toQuery(everywhere),
    linux: toQuery(everywhere),
  },
  rationaleTemplate: `{{ device.name }} runs version {{ issue.value.version }} of the agent that tells how it is protected; {{ issue.value.minimum_version }} is the oldest that can. What an older one cannot see counts as unknown or errored.`,
  fix: {
    darwin: [
      'If your organisation installs software for you, restart the Mac and wait for an hour: the agent is updated by your IT team.',
      'If you look after this Mac yourself, download the newest package from `https://osquery.io/downloads`, open it and follow the steps. The settings stay.',
    ],
    windows: [
      'If your organisation installs software for you, restart the computer and wait for an hour: the agent is updated by your IT team.',
      'If you look after this computer yourself, download the newest MSI from `https://osquery.io/downloads` and open it, or run `winget upgrade osquery.osquery` in a terminal that runs as administrator. The settings stay.',
    ],
    linux: `If your IT team looks after the agent, tell them. Otherwise open a terminal and run the line for your distribution:

- Ubuntu and Debian: \`sudo apt update && sudo apt install --only-upgrade osquery\`
- Fedora and Red Hat: \`sudo dnf upgrade --refresh osquery\`

If no newer version is offered, download the package from \`https://osquery.io/downloads\`. The settings stay.`,
  },
  privacyInfo: 'The version of the osquery agent, and on macOS the major version of the system.',
  defaultStrategy: 'report_only',
  strategyReason: 'Updated by the IT team; the user can seldom do it.',
  shelfLife: 'software',
}
