import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  isClearedSql,
  isSetSql,
  managedPolicyValueSql,
  plistValueSql,
  verdictSql,
} from './verdict-sql.ts'

const COMMERCE = 'com.apple.commerce'

// A configuration profile wins over the switch of the Mac, which writes nothing until it is first used.
const darwin = verdictSql({
  facts: {
    managed_setting: `SELECT COALESCE((${managedPolicyValueSql('com.apple.SoftwareUpdate', 'AutomaticallyInstallAppUpdates')}), (${managedPolicyValueSql(COMMERCE, 'AutoUpdate')}))`,
    own_setting: plistValueSql(`/Library/Preferences/${COMMERCE}.plist`, 'AutoUpdate'),
  },
  cases: [
    ['PASS', isSetSql('COALESCE(managed_setting, own_setting)')],
    ['FAIL', isClearedSql('COALESCE(managed_setting, own_setting)')],
  ],
})

/** Apps of the App Store update themselves. */
export const appStoreAutomaticUpdates: CatalogueEntry = {
  slug: 'app-store-automatic-updates',
  name: 'App Store updates automatic',
  description:
    'macOS installs updates of the apps from the App Store by itself. Unknown where neither the user nor a profile has ever set it.',
  issueTitle: 'Apps of the App Store are not updated by themselves',
  topics: ['updates'],
  tags: ['Info'],
  queries: { darwin },
  rationaleTemplate: `Apps have holes like the operating system, and their updates close them. With this switch on, {{ device.name }} installs them without anyone having to think of it.`,
  fix: {
    darwin: [
      'Open the **App Store**.',
      'In the menu bar choose **App Store** > **Settings…**.',
      'Tick **Automatic Updates**.',
    ],
  },
  privacyInfo: 'Whether updates of App Store apps are automatic. No apps.',
  defaultStrategy: 'report_only',
  strategyReason: 'Apps of the App Store run in a sandbox; their age is a smaller danger.',
  shelfLife: 'setting',
}
