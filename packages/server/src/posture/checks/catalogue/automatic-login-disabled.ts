import type { CatalogueEntry } from './catalogue-entry.ts'
import { plistValueSql, registryValueSql, verdictSql } from './verdict-sql.ts'

const LOGIN_WINDOW_PLIST = '/Library/Preferences/com.apple.loginwindow.plist'
const WINLOGON = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon`

const darwin = verdictSql({
  facts: {
    settings_seen: `SELECT COUNT(*) FROM plist WHERE path = '${LOGIN_WINDOW_PLIST}'`,
    automatic_login_user: plistValueSql(LOGIN_WINDOW_PLIST, 'autoLoginUser'),
  },
  cases: [
    ['FAIL', `COALESCE(automatic_login_user, '') <> ''`],
    ['PASS', `settings_seen > 0`],
  ],
})

const windows = verdictSql({
  facts: {
    settings_seen: String.raw`SELECT COUNT(*) FROM registry WHERE key = '${WINLOGON}'`,
    automatic_logon: registryValueSql(`${WINLOGON}\\AutoAdminLogon`),
  },
  cases: [
    ['FAIL', `automatic_logon = '1'`],
    ['PASS', `settings_seen > 0 OR automatic_logon = '0'`],
  ],
})

/** The device asks for a password when it starts. */
export const automaticLoginDisabled: CatalogueEntry = {
  slug: 'automatic-login-disabled',
  name: 'Automatic login off',
  description: 'The device asks for a password after it has started.',
  issueTitle: 'The device signs in without a password',
  topics: ['access'],
  tags: ['Critical'],
  queries: { darwin, windows },
  rationaleTemplate: `{{ device.name }} signs in by itself when it starts. Whoever finds it only has to switch it on, and encryption of the disk does not help: it unlocks itself too.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **Users & Groups**.',
      'Set **Automatically log in as** to **Off**.',
    ],
    windows: [
      'Press **Windows-R**, type `netplwiz` and press **Enter**.',
      'Tick **Users must enter a user name and password to use this computer** and choose **OK**. If the line is missing, open **Settings** > **Accounts** > **Sign-in options** first and switch off **For improved security, only allow Windows Hello sign-in for Microsoft accounts on this device**; switch it on again afterwards.',
    ],
  },
  privacyInfo: 'Whether automatic login is on and, on macOS, for which account. Never a password.',
  defaultStrategy: 'warn_then_block',
  graceDays: 3,
  strategyReason: 'Undoes disk encryption and screen lock at once; fixed in a minute.',
  shelfLife: 'setting',
}
