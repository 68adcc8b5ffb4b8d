import type { CatalogueEntry } from './catalogue-entry.ts'
import { registryDataSql } from './registry-sql.ts'
import { verdictSql } from './verdict-sql.ts'

const FEATURES = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows Defender\Features`

/** SELECT of how many antivirus products beside Microsoft Defender are active: it steps back for them. */
export const OTHER_ACTIVE_ANTIVIRUS_SQL = `SELECT COUNT(*) FROM windows_security_products WHERE type = 'Antivirus' AND name NOT LIKE '%Defender%' AND state = 'On'`

// Odd values are on (1 by default, 5 by a user or an admin), even ones off.
const windows = verdictSql({
  facts: {
    other_active_products: OTHER_ACTIVE_ANTIVIRUS_SQL,
    tamper_protection: registryDataSql(FEATURES, 'TamperProtection'),
  },
  cases: [
    ['INAPPLICABLE', `other_active_products > 0`],
    ['PASS', `tamper_protection IN ('1', '5')`],
    ['FAIL', `tamper_protection IN ('0', '2', '4')`],
  ],
})

/** Programs cannot switch Microsoft Defender off. */
export const defenderTamperProtection: CatalogueEntry = {
  slug: 'defender-tamper-protection',
  name: 'Microsoft Defender tamper protection',
  description:
    'Tamper Protection keeps programs from changing the settings of Microsoft Defender. Does not apply where another antivirus product is active.',
  issueTitle: 'Tamper Protection is off',
  topics: ['malware'],
  tags: ['Important'],
  queries: { windows },
  rationaleTemplate: `The first thing that ransomware does is to switch the antivirus off. Tamper Protection makes Windows refuse that, even to a program with administrator rights.`,
  fix: {
    windows: [
      'Open **Start**, type `Windows Security`, open it and choose **Virus & threat protection**.',
      'Under **Virus & threat protection settings** choose **Manage settings**.',
      'Switch **Tamper Protection** on. If the switch cannot be changed, ask your IT team.',
    ],
  },
  privacyInfo: 'Whether Tamper Protection is on and another antivirus product is active.',
  defaultStrategy: 'notify_only',
  strategyReason: 'On by default and fixed by one switch, where the organisation does not hold it.',
  shelfLife: 'setting',
}
