import type { CatalogueEntry } from './catalogue-entry.ts'
import { passOrFailSql } from './verdict-sql.ts'

const UPTIME_DAYS_MAX = 30

const sql = passOrFailSql({
  facts: { uptime_days: `SELECT CAST(total_seconds / 86400 AS INTEGER) FROM uptime LIMIT 1` },
  pass: `uptime_days < ${UPTIME_DAYS_MAX}`,
  fail: `uptime_days >= ${UPTIME_DAYS_MAX}`,
})

/** The device was restarted not long ago. */
export const restartedRecently: CatalogueEntry = {
  slug: 'restarted-recently',
  name: 'Restarted recently',
  description: `The device was restarted in the last ${UPTIME_DAYS_MAX} days.`,
  issueTitle: 'The device has not been restarted for a long time',
  topics: ['maintenance', 'updates'],
  tags: ['Info'],
  queries: { darwin: sql, windows: sql, linux: sql },
  rationaleTemplate: `{{ device.name }} has been running for {{ issue.value.uptime_days }} days. Many security updates take effect only with a restart.`,
  fix: {
    darwin: 'Save your work, then choose the Apple menu > **Restart…**.',
    windows:
      'Save your work, then open **Start** > **Power** > **Restart**. **Shut down** is not the same: Windows only sleeps deeply then and does not start afresh.',
    linux:
      'Save your work, then open the system menu at the top right and choose the power button > **Restart…**, or run `systemctl reboot`.',
  },
  privacyInfo: 'How long the device has been running since its last start.',
  defaultStrategy: 'report_only',
  strategyReason: 'A hint; the version checks say whether updates are really missing.',
  shelfLife: 'software',
}
