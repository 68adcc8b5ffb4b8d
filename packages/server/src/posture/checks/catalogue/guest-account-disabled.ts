import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  isClearedSql,
  isSetSql,
  managedPolicyValueSql,
  passOrFailSql,
  plistValueSql,
  verdictSql,
} from './verdict-sql.ts'

const LOGIN_WINDOW_PLIST = '/Library/Preferences/com.apple.loginwindow.plist'

// macOS does not write the setting before it is changed once; the account is off then.
const darwin = verdictSql({
  facts: {
    settings_seen: `SELECT COUNT(*) FROM plist WHERE path = '${LOGIN_WINDOW_PLIST}'`,
    disabled_by_profile: `SELECT COALESCE((${managedPolicyValueSql('com.apple.loginwindow', 'DisableGuestAccount')}), (${managedPolicyValueSql('com.apple.MCX', 'DisableGuestAccount')}))`,
    guest_enabled: plistValueSql(LOGIN_WINDOW_PLIST, 'GuestEnabled'),
  },
  cases: [
    ['PASS', isSetSql('disabled_by_profile')],
    ['FAIL', isSetSql('guest_enabled')],
    ['PASS', `${isClearedSql('guest_enabled')} OR settings_seen > 0`],
  ],
})

const windows = passOrFailSql({
  facts: {
    guest_enabled: `SELECT enable_guest_account FROM security_profile_info LIMIT 1`,
  },
  pass: `guest_enabled = 0`,
  fail: `guest_enabled = 1`,
})

/** Nobody can use the device without an account of their own. */
export const guestAccountDisabled: CatalogueEntry = {
  slug: 'guest-account-disabled',
  name: 'Guest account off',
  description: 'The guest account of macOS or Windows is switched off.',
  issueTitle: 'The guest account is on',
  topics: ['access'],
  tags: ['Important'],
  queries: { darwin, windows },
  rationaleTemplate: `With the guest account on, anyone who holds {{ device.name }} can use it without a password, reach the network in its name and leave things behind.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **Users & Groups**.',
      'Choose the **Info** button (i) next to **Guest User** and switch **Allow guests to log in to this computer** off.',
    ],
    windows: [
      'Open **Start**, type `Terminal`, right-click it and choose **Run as administrator**.',
      'Run `net user guest /active:no`. On a Windows in another language use that language’s name of the account.',
    ],
  },
  privacyInfo: 'Whether the guest account is on.',
  defaultStrategy: 'notify_only',
  strategyReason: 'A real weakness, but only for someone who holds the device.',
  shelfLife: 'setting',
}
