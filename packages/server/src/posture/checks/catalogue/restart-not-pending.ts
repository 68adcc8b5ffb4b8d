import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql } from './verdict-sql.ts'

const CURRENT_VERSION = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion`

// Both are subkeys that exist only while a restart is due.
const windows = verdictSql({
  facts: {
    update_restart: `SELECT COUNT(*) FROM registry WHERE key = '${CURRENT_VERSION}\\WindowsUpdate\\Auto Update' AND name = 'RebootRequired'`,
    servicing_restart: `SELECT COUNT(*) FROM registry WHERE key = '${CURRENT_VERSION}\\Component Based Servicing' AND name = 'RebootPending'`,
  },
  cases: [['FAIL', `update_restart > 0 OR servicing_restart > 0`]],
  otherwise: 'PASS',
})

// The marker is a habit of Debian and Ubuntu.
const linux = verdictSql({
  facts: {
    is_debian_like: `SELECT platform IN ('debian', 'ubuntu') OR platform_like LIKE '%debian%' FROM os_version LIMIT 1`,
    restart_markers: `SELECT COUNT(*) FROM file WHERE path IN ('/run/reboot-required', '/var/run/reboot-required')`,
  },
  cases: [
    ['FAIL', `restart_markers > 0`],
    ['PASS', `is_debian_like = 1`],
    ['INAPPLICABLE', `is_debian_like = 0`],
  ],
})

/** No installed update waits for a restart. */
export const restartNotPending: CatalogueEntry = {
  slug: 'restart-not-pending',
  name: 'No pending restart',
  description:
    'No installed update waits for a restart. On Linux Debian, Ubuntu and their relatives tell.',
  issueTitle: 'An update waits for a restart',
  topics: ['maintenance', 'updates'],
  tags: ['Info'],
  queries: { windows, linux },
  rationaleTemplate: `Updates are installed on {{ device.name }} but do not protect it yet: they take effect with the next restart.`,
  fix: {
    windows: 'Save your work, then open **Start** > **Power** > **Update and restart**.',
    linux:
      'Save your work, then open the system menu at the top right and choose the power button > **Restart…**, or run `systemctl reboot`.',
  },
  privacyInfo: 'Whether an update waits for a restart.',
  defaultStrategy: 'report_only',
  strategyReason: 'True for a few hours after every update; the system reminds the user itself.',
  shelfLife: 'setting',
}
