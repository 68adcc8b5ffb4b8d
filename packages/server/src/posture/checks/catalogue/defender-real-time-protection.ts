import type { CatalogueEntry } from './catalogue-entry.ts'
import { registryValueSql, verdictSql } from './verdict-sql.ts'

const windows = verdictSql({
  facts: {
    defender_state: `SELECT state FROM windows_security_products WHERE type = 'Antivirus' AND name LIKE '%Defender%' LIMIT 1`,
    other_active_products: `SELECT COUNT(*) FROM windows_security_products WHERE type = 'Antivirus' AND name NOT LIKE '%Defender%' AND state = 'On'`,
    disabled_by_policy: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows Defender\Real-Time Protection\DisableRealtimeMonitoring`,
    ),
    disabled_by_setting: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows Defender\Real-Time Protection\DisableRealtimeMonitoring`,
    ),
  },
  cases: [
    ['INAPPLICABLE', `other_active_products > 0`],
    ['FAIL', `disabled_by_policy = '1' OR disabled_by_setting = '1'`],
    ['FAIL', `defender_state IN ('Off', 'Snoozed', 'Expired')`],
    ['PASS', `defender_state = 'On'`],
  ],
})

/** Microsoft Defender scans files while they are opened. */
export const defenderRealTimeProtection: CatalogueEntry = {
  slug: 'defender-real-time-protection',
  name: 'Microsoft Defender real-time protection',
  description:
    'Microsoft Defender scans files while they are opened. Does not apply where another antivirus product is active.',
  issueTitle: 'Real-time protection is off',
  topics: ['malware'],
  tags: ['Important'],
  queries: { windows },
  rationaleTemplate: `Real-time protection looks at every file at the moment it is opened. With it off, harmful software is found, if at all, by a scan days later.`,
  fix: {
    windows: [
      'Open **Start**, type `Windows Security`, open it and choose **Virus & threat protection**.',
      'Under **Virus & threat protection settings** choose **Manage settings**.',
      'Switch **Real-time protection** and **Tamper Protection** on. If the switch cannot be changed, ask your IT team.',
    ],
  },
  privacyInfo: 'Whether Microsoft Defender and its real-time protection are on. No scan results.',
  defaultStrategy: 'notify_only',
  strategyReason:
    'Windows switches it on again by itself after a while; the antivirus check blocks.',
  shelfLife: 'setting',
}
