import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql } from './verdict-sql.ts'

const windows = verdictSql({
  facts: {
    antivirus: `SELECT antivirus FROM windows_security_center LIMIT 1`,
    products: `SELECT group_concat(name || ': ' || state, ', ') FROM windows_security_products WHERE type = 'Antivirus'`,
    active_and_current: `SELECT COUNT(*) FROM windows_security_products WHERE type = 'Antivirus' AND state = 'On' AND signatures_up_to_date = 1`,
  },
  cases: [
    ['FAIL', `antivirus IN ('Poor', 'Snoozed')`],
    ['PASS', `antivirus = 'Good' AND (active_and_current > 0 OR products IS NULL)`],
    ['FAIL', `antivirus = 'Good'`],
  ],
})

/** An antivirus product watches over Windows and its signatures are current. */
export const antivirus: CatalogueEntry = {
  slug: 'antivirus',
  name: 'Antivirus',
  description:
    'Windows Security reports a healthy antivirus product, of Microsoft or another maker, with current signatures.',
  issueTitle: 'The antivirus is off or out of date',
  topics: ['malware'],
  tags: ['Critical'],
  queries: { windows },
  rationaleTemplate: `Antivirus software stops known harmful programs before they run. Windows reports for {{ device.name }}: {{ issue.value.products | default: "no product" }}.`,
  fix: {
    windows: [
      'Open **Start**, type `Windows Security`, open it and choose **Virus & threat protection**.',
      'If another product is named there, open it, switch it on and update it. An expired trial version is best uninstalled: **Settings** > **Apps** > **Installed apps**. Microsoft Defender then takes over.',
      'Under **Virus & threat protection updates** choose **Protection updates** > **Check for updates**.',
    ],
  },
  privacyInfo: 'The names of the antivirus products and their state. No scan results and no files.',
  defaultStrategy: 'warn_then_block',
  graceDays: 3,
  strategyReason: 'Windows without it is infected easily, and Defender is free and built in.',
  shelfLife: 'setting',
}
