import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  isClearedSql,
  isSetSql,
  managedPolicyValueSql,
  registryValueSql,
  verdictSql,
} from './verdict-sql.ts'

const GRACE_SECONDS_MAX = 300
const IDLE_SECONDS_MAX = 900

const darwin = verdictSql({
  facts: {
    enabled: `SELECT enabled FROM screenlock LIMIT 1`,
    grace_period: `SELECT grace_period FROM screenlock LIMIT 1`,
    managed_ask_for_password: managedPolicyValueSql('com.apple.screensaver', 'askForPassword'),
    managed_delay: managedPolicyValueSql('com.apple.screensaver', 'askForPasswordDelay'),
  },
  cases: [
    ['PASS', `enabled = 1 AND grace_period BETWEEN 0 AND ${GRACE_SECONDS_MAX}`],
    ['FAIL', `enabled IS NOT NULL`],
    [
      'PASS',
      `${isSetSql('managed_ask_for_password')} AND CAST(COALESCE(managed_delay, '0') AS INTEGER) <= ${GRACE_SECONDS_MAX}`,
    ],
    ['FAIL', isClearedSql('managed_ask_for_password')],
  ],
})

// Profiles of people are below HKEY_USERS\S-1-5-21-...; the rest belong to services.
function desktopValues(name: string, columns: string): string {
  const pattern = String.raw`HKEY_USERS\%\Control Panel\Desktop` + `\\${name}`
  return String.raw`SELECT ${columns} FROM registry WHERE path LIKE '${pattern}' AND instr(path, '\S-1-5-21-') > 0`
}

const windows = verdictSql({
  facts: {
    inactivity_timeout_seconds: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System\InactivityTimeoutSecs`,
    ),
    locking_screen_savers: desktopValues('ScreenSaverIsSecure', `SUM(data = '1')`),
    other_screen_savers: desktopValues('ScreenSaverIsSecure', `SUM(data <> '1')`),
    longest_screen_saver_seconds: desktopValues('ScreenSaveTimeOut', 'MAX(CAST(data AS INTEGER))'),
  },
  cases: [
    ['PASS', `CAST(inactivity_timeout_seconds AS INTEGER) BETWEEN 1 AND ${IDLE_SECONDS_MAX}`],
    [
      'PASS',
      `locking_screen_savers > 0 AND other_screen_savers = 0 AND longest_screen_saver_seconds BETWEEN 1 AND ${IDLE_SECONDS_MAX}`,
    ],
  ],
  otherwise: 'FAIL',
})

/** An unattended device locks its screen. */
export const screenLock: CatalogueEntry = {
  slug: 'screen-lock',
  name: 'Screen lock',
  description:
    'The screen locks itself: on macOS at most 5 minutes after the display sleeps, on Windows after at most 15 minutes without input.',
  issueTitle: 'The screen does not lock by itself',
  topics: ['access'],
  tags: ['Important'],
  queries: { darwin, windows },
  rationaleTemplate: `A computer that stays open while you are away lets anyone who walks past read your mail and act in your name. It takes seconds, and it leaves no trace of who it was.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **Lock Screen**.',
      'Set **Require password after screen saver begins or display is turned off** to **Immediately**, or to 5 minutes at most.',
      'Set **Start Screen Saver when inactive** to 10 minutes or less.',
    ],
    windows: [
      'Open **Start**, type `Change screen saver` and open it.',
      'Choose any screen saver except **(None)** and set **Wait** to 15 minutes or less.',
      'Tick **On resume, display logon screen** and choose **OK**.',
      'Open **Settings** > **Accounts** > **Sign-in options** and set **If you’ve been away, when should Windows require you to sign in again?** to **When PC wakes up from sleep**.',
    ],
  },
  privacyInfo:
    'Whether the screen locks by itself and after how many seconds, for the accounts of people who are signed in.',
  defaultStrategy: 'notify_only',
  strategyReason:
    'Easy to fix, but other ways to lock a screen are not all visible to the agent, so blocking could hit the innocent.',
  shelfLife: 'setting',
}
