import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  isEmptySql,
  isSetSql,
  managedPolicyValueSql,
  registryValueSql,
  verdictSql,
} from './verdict-sql.ts'

const GRACE_SECONDS_MAX = 300
const MINUTE_SECONDS = 60
const IDLE_SECONDS_MAX = 15 * MINUTE_SECONDS

const ASK_FOR_PASSWORD = managedPolicyValueSql('com.apple.screensaver', 'askForPassword')

// macOS tells the setting to programs of the person who is signed in only. osquery runs as root and sees
// nothing; a configuration profile, which everyone may read, shows it.
const darwin = verdictSql({
  facts: {
    enabled: `SELECT enabled FROM screenlock LIMIT 1`,
    grace_period: `SELECT grace_period FROM screenlock LIMIT 1`,
    managed_ask_for_password: ASK_FOR_PASSWORD,
    managed_delay: managedPolicyValueSql('com.apple.screensaver', 'askForPasswordDelay'),
    explanation: `SELECT 'macOS hides this setting from osquery, which runs as root. A configuration profile for com.apple.screensaver (askForPassword, askForPasswordDelay) sets it and shows it.' WHERE ${isEmptySql('screenlock')} AND (${ASK_FOR_PASSWORD}) IS NULL`,
  },
  cases: [
    ['PASS', `enabled = 1 AND grace_period BETWEEN 0 AND ${GRACE_SECONDS_MAX}`],
    ['FAIL', `enabled IS NOT NULL`],
    [
      'PASS',
      `${isSetSql('managed_ask_for_password')} AND CAST(COALESCE(managed_delay, '0') AS INTEGER) <= ${GRACE_SECONDS_MAX}`,
    ],
    ['FAIL', `managed_ask_for_password IS NOT NULL`],
  ],
})

const HIVE = 'HKEY_USERS'

// The settings of people are loaded below HKEY_USERS while they are signed in: S-1-5-21-... for local and
// domain accounts, S-1-12-1-... for those of Entra ID. The other names belong to services.
const PEOPLE = `SELECT name FROM registry WHERE key = '${HIVE}' AND (name LIKE 'S-1-5-21-%' OR name LIKE 'S-1-12-1-%') AND name NOT LIKE '%Classes'`

/** SELECT of `sid`, `name` and `data` of the values with this name below the Desktop keys of people. */
function desktopValues(key: string, name: string): string {
  const rest = `substr(path, ${HIVE.length + 2})`
  const pattern = `${HIVE}\\%\\${key}\\${name}`
  return String.raw`SELECT substr(${rest}, 1, instr(${rest}, '\') - 1) AS sid, '${name}' AS name, data FROM registry WHERE path LIKE '${pattern}'`
}

// A group policy wins over what the person chose.
const DESKTOP_KEYS = {
  policies: String.raw`Software\Policies\Microsoft\Windows\Control Panel\Desktop`,
  choices: String.raw`Control Panel\Desktop`,
}

function desktopValuesOf(key: string): string {
  return ['ScreenSaverIsSecure', 'ScreenSaveTimeOut']
    .map((name) => desktopValues(key, name))
    .join(' UNION ALL ')
}

function effectiveValue(name: string): string {
  const valueIn = (table: string) =>
    `(SELECT data FROM ${table} v WHERE v.sid = p.sid AND v.name = '${name}')`
  return `CAST(COALESCE(${valueIn('policies')}, ${valueIn('choices')}) AS INTEGER)`
}

const DEVICE_LOCK = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\PolicyManager\current\device\DeviceLock`

const windows = verdictSql({
  with: `policies AS (${desktopValuesOf(DESKTOP_KEYS.policies)}),
choices AS (${desktopValuesOf(DESKTOP_KEYS.choices)}),
people(sid) AS (${PEOPLE}),
screens AS (SELECT p.sid, ${effectiveValue('ScreenSaverIsSecure')} AS is_secure, ${effectiveValue('ScreenSaveTimeOut')} AS seconds FROM people p)`,
  facts: {
    inactivity_timeout_seconds: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System\InactivityTimeoutSecs`,
    ),
    device_lock_minutes: registryValueSql(`${DEVICE_LOCK}\\MaxInactivityTimeDeviceLock`),
    people_signed_in: `SELECT COUNT(*) FROM screens`,
    locking_screen_savers: `SELECT COUNT(*) FROM screens WHERE is_secure = 1 AND seconds BETWEEN 1 AND ${IDLE_SECONDS_MAX}`,
    longest_screen_saver_seconds: `SELECT MAX(seconds) FROM screens`,
    explanation: `SELECT 'Nobody is signed in; the settings of people cannot be read then.' WHERE ${isEmptySql('screens')}`,
  },
  cases: [
    ['PASS', `CAST(inactivity_timeout_seconds AS INTEGER) BETWEEN 1 AND ${IDLE_SECONDS_MAX}`],
    [
      'PASS',
      `CAST(device_lock_minutes AS INTEGER) BETWEEN 1 AND ${IDLE_SECONDS_MAX / MINUTE_SECONDS}`,
    ],
    ['UNKNOWN', `people_signed_in = 0`],
    ['PASS', `locking_screen_savers = people_signed_in`],
  ],
  otherwise: 'FAIL',
})

/** An unattended device locks its screen. */
export const screenLock: CatalogueEntry = {
  slug: 'screen-lock',
  revision: 2,
  name: 'Screen lock',
  description:
    'The screen locks itself: on macOS at most 5 minutes after the display sleeps, on Windows after at most 15 minutes without input. A Mac answers unknown unless a configuration profile sets it (com.apple.screensaver: askForPassword, askForPasswordDelay), for macOS hides the setting of a person from osquery; Windows answers unknown while nobody is signed in and no policy of the device locks the screen.',
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
