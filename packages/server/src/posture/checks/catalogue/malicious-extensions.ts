import type { CatalogueEntry } from './catalogue-entry.ts'
import { maliciousTablesSql } from './malicious-software.ts'
import type { ReleaseData } from './release-data.ts'
import { failingRowsSql, isEmptySql } from './verdict-sql.ts'

// Extensions are read for a uid only, so the accounts come first in the joins.
const INSTALLED = `SELECT 'browser' AS kind, lower(e.identifier) AS identifier, e.name, e.version, e.browser_type AS application, u.username
  FROM users u CROSS JOIN chrome_extensions e ON e.uid = u.uid
UNION SELECT 'editor', lower(e.name), e.name, e.version, 'editor', u.username
  FROM users u CROSS JOIN vscode_extensions e ON e.uid = u.uid`

function toQuery({ incidents }: ReleaseData['malicious_software']): string {
  return failingRowsSql(
    ['identifier', 'name', 'version', 'application', 'username', 'incident'],
    `SELECT i.identifier, i.name, i.version, i.application, i.username, m.incident
FROM installed i JOIN malicious m ON m.kind = i.kind AND m.name = i.identifier AND m.version = i.version`,
    [
      ['UNKNOWN', isEmptySql('users')],
      ['INAPPLICABLE', isEmptySql('installed')],
    ],
    `${maliciousTablesSql(incidents, ['browser_extensions', 'editor_extensions'])},
installed AS (${INSTALLED})`,
  )
}

/** No extension of a browser or editor is a release that attackers published. */
export function maliciousExtensions({
  malicious_software: malicious,
}: ReleaseData): CatalogueEntry {
  const sql = toQuery(malicious)
  return {
    slug: 'malicious-extensions',
    name: 'No malicious extensions',
    description: `No extension of Chrome, Edge, Brave, Visual Studio Code or an application of the same kind is a release that attackers are known to have published, up to ${malicious.as_of}. Inapplicable where no extension is installed.`,
    issueTitle: 'A malicious extension is installed',
    topics: ['malware', 'browsers'],
    tags: ['Critical'],
    queries: { darwin: sql, windows: sql, linux: sql },
    primaryKeyColumn: 'identifier',
    rationaleTemplate: `Version {{ issue.value.version }} of the extension **{{ issue.value.name }}** was published by attackers ({{ issue.value.incident }}). What it could see, such as sessions, passwords, source code and keys, is to be taken for stolen.`,
    fix: [
      'Tell your IT or security team at once: they want to know for how long it was there.',
      'Remove the extension **{{ issue.value.name }}** ({{ issue.value.identifier | code }}). In a browser: enter `chrome://extensions` in the address bar (in Edge `edge://extensions`) and choose **Remove**. In Visual Studio Code and its kind: open **Extensions**, search it and choose **Uninstall**.',
      'Close and open the browser or editor.',
      'Sign out of all sessions of your important accounts, and change their passwords and keys from another device. Do so also if an update has replaced the version meanwhile.',
    ],
    privacyInfo:
      'Identifier, name, version, application and owner of the malicious extensions that were found. No other extensions and no browsing data.',
    defaultStrategy: 'warn_then_block',
    graceDays: 1,
    strategyReason:
      'Steals sessions and keys; named by identifier and version, and gone in a minute.',
    shelfLife: 'setting',
  }
}
