import type { CatalogueEntry } from './catalogue-entry.ts'
import { CONTROL_SET } from './registry-sql.ts'
import { failingRowsSql, isEmptySql, quoteSql } from './verdict-sql.ts'

/** Names that no hosts file has a reason to know: a wrong address for them is a trap or cuts protection off. */
const WATCHED_HOSTS = {
  signIn: [
    'account.apple.com',
    'accounts.google.com',
    'appleid.apple.com',
    'console.aws.amazon.com',
    'github.com',
    'gitlab.com',
    'gsa.apple.com',
    'idmsa.apple.com',
    'login.live.com',
    'login.microsoft.com',
    'login.microsoftonline.com',
    'login.windows.net',
    'mail.google.com',
    'my.1password.com',
    'oauth2.googleapis.com',
    'outlook.office.com',
    'outlook.office365.com',
    'portal.azure.com',
    'signin.aws.amazon.com',
    'slack.com',
    'vault.bitwarden.com',
  ],
  updates: [
    'archive.ubuntu.com',
    'aus5.mozilla.org',
    'ctldl.windowsupdate.com',
    'deb.debian.org',
    'download.windowsupdate.com',
    'edgedl.me.gvt1.com',
    'fe2.update.microsoft.com',
    'fe3.delivery.mp.microsoft.com',
    'gdmf.apple.com',
    'mesu.apple.com',
    'mirrors.fedoraproject.org',
    'msedge.api.cdp.microsoft.com',
    'packages.microsoft.com',
    'pypi.org',
    'registry.npmjs.org',
    'security.debian.org',
    'security.ubuntu.com',
    'sls.update.microsoft.com',
    'swcdn.apple.com',
    'swdist.apple.com',
    'swscan.apple.com',
    'update.googleapis.com',
    'update.microsoft.com',
    'updates.cdn-apple.com',
    'windowsupdate.microsoft.com',
  ],
  security: [
    'definitionupdates.microsoft.com',
    'lfodown01-b.cloudsink.net',
    'ocsp.apple.com',
    'ocsp2.apple.com',
    'safebrowsing.googleapis.com',
    'smartscreen-prod.microsoft.com',
    'smartscreen.microsoft.com',
    'ts01-b.cloudsink.net',
    'urs.microsoft.com',
    'virustotal.com',
    'wdcp.microsoft.com',
    'wdcpalt.microsoft.com',
    'www.avast.com',
    'www.bitdefender.com',
    'www.eset.com',
    'www.kaspersky.com',
    'www.malwarebytes.com',
    'www.virustotal.com',
  ],
} as const

const COLUMNS = ['hostname', 'address'] as const
const POSIX_FILE = '/etc/hosts'
const WINDOWS_FILE = String.raw`C:\Windows\System32\drivers\etc\hosts`
const FOLDER = String.raw`\System32\drivers\etc`

const WATCHED_SQL = `watched(host) AS MATERIALIZED (VALUES ${Object.values(WATCHED_HOSTS)
  .flat()
  .map((host) => `(${quoteSql(host)})`)
  .join(', ')})`

// A line has one name mostly, which is looked up; only lines of several are searched. Lists that block
// advertisements have a hundred thousand lines.
const OVERRIDDEN_SQL = `SELECT host, group_concat(DISTINCT address) FROM (
  SELECT w.host, e.address FROM etc_hosts e JOIN watched w ON w.host = lower(trim(e.hostnames))
  UNION ALL
  SELECT w.host, e.address
  FROM (SELECT address, ' ' || lower(hostnames) || ' ' AS names FROM etc_hosts WHERE trim(hostnames) LIKE '% %') e
  JOIN watched w ON instr(e.names, ' ' || w.host || ' ') > 0
) GROUP BY host`

const posix = failingRowsSql(
  COLUMNS,
  OVERRIDDEN_SQL,
  [
    [
      'UNKNOWN',
      `${isEmptySql('etc_hosts')} AND ${isEmptySql(`file WHERE path = '${POSIX_FILE}'`)}`,
    ],
  ],
  WATCHED_SQL,
)

// The file of Windows holds comments alone, so that no entry says nothing. Another folder would be one that
// osquery does not read.
const windows = failingRowsSql(
  COLUMNS,
  `${OVERRIDDEN_SQL}
UNION ALL
SELECT 'all names', data FROM registry
WHERE key = '${CONTROL_SET}\\Services\\Tcpip\\Parameters' AND lower(name) = 'databasepath'
  AND rtrim(data, '\\') NOT LIKE '%${FOLDER}'`,
  [
    [
      'UNKNOWN',
      `${isEmptySql('etc_hosts')} AND ${isEmptySql(`file WHERE path = '${WINDOWS_FILE}'`)}`,
    ],
  ],
  WATCHED_SQL,
)

/** The hosts file sends no well-known name elsewhere. */
export const hostsFileUnaltered: CatalogueEntry = {
  slug: 'hosts-file-unaltered',
  name: 'Hosts file unaltered',
  description:
    'The hosts file names no address of its own for well-known sites of sign-in, updates and security. Other entries are not looked at.',
  issueTitle: 'The hosts file sends a well-known name elsewhere',
  topics: ['network', 'malware'],
  tags: ['Important'],
  queries: { darwin: posix, windows, linux: posix },
  primaryKeyColumn: 'hostname',
  rationaleTemplate: `On {{ device.name }} the name {{ issue.value.hostname | code }} leads to {{ issue.value.address | code }} instead of where it belongs. Harmful software does that to catch passwords, or to keep updates and protection away.`,
  fix: {
    darwin: [
      'Open **Terminal** and run `sudo nano /etc/hosts`.',
      'Delete {{ issue.value.hostname | code }} from the file, or the whole line. Press **Ctrl-O**, **Return** and **Ctrl-X**.',
      'If you did not write that line yourself, tell your IT team: something else did.',
    ],
    windows: [
      'Open **Start**, type `Notepad`, right-click it and choose **Run as administrator**.',
      String.raw`Choose **File** > **Open…**, enter ${'`'}C:\Windows\System32\drivers\etc\hosts${'`'}, delete the line with {{ issue.value.hostname | code }} and save. (If it says **all names**, Windows takes its file from elsewhere: tell your IT team.)`,
      'If you did not write that line yourself, tell your IT team: something else did.',
    ],
    linux: [
      'Open a terminal and run `sudoedit /etc/hosts`.',
      'Delete {{ issue.value.hostname | code }} from the file, or the whole line, and save.',
      'If you did not write that line yourself, tell your IT team: something else did.',
    ],
  },
  privacyInfo:
    'The entries of the hosts file for well-known sites of sign-in, updates and security. No other entries.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Rare and seldom innocent, but some block an update by it on purpose.',
  shelfLife: 'setting',
}
