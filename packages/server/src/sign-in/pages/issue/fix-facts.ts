/*
 * What helps to fix the problems that come up most: the page of the system's settings, and how long it takes. A table
 * of addresses of operating systems; checks that are not in it have their steps alone.
 */
import type { Platform } from '../../../schema/tables/device-tables.ts'

export interface FixFacts {
  /** The page of the settings that the steps begin at. */
  readonly settings?: string
  /** What it takes of the person, not of the machine. */
  readonly minutes?: number
}

interface FixEntry {
  readonly minutes?: number
  readonly darwin?: string
  readonly windows?: string
}

const APPLE = 'x-apple.systempreferences:com.apple'
const PRIVACY = `${APPLE}.settings.PrivacySecurity.extension`
const SHARING = `${APPLE}.Sharing-Settings.extension`

const FIXES: Readonly<Record<string, FixEntry>> = {
  'disk-encryption': {
    minutes: 5,
    darwin: `${PRIVACY}?FileVault`,
    windows: 'ms-settings:deviceencryption',
  },
  firewall: {
    minutes: 1,
    darwin: `${APPLE}.Network-Settings.extension?Firewall`,
    windows: 'windowsdefender://network',
  },
  'screen-lock': {
    minutes: 1,
    darwin: `${APPLE}.Lock-Screen-Settings.extension`,
    windows: 'ms-settings:signinoptions',
  },
  'automatic-updates': {
    minutes: 1,
    darwin: `${APPLE}.Software-Update-Settings.extension`,
    windows: 'ms-settings:windowsupdate',
  },
  'operating-system-up-to-date': {
    minutes: 20,
    darwin: `${APPLE}.Software-Update-Settings.extension`,
    windows: 'ms-settings:windowsupdate',
  },
  'restart-not-pending': { minutes: 5, windows: 'ms-settings:windowsupdate' },
  'restarted-recently': { minutes: 5 },
  antivirus: { minutes: 2, windows: 'windowsdefender://threat' },
  'defender-real-time-protection': { minutes: 1, windows: 'windowsdefender://threatsettings' },
  'defender-tamper-protection': { minutes: 1, windows: 'windowsdefender://threatsettings' },
  'file-sharing-disabled': { minutes: 1, darwin: SHARING },
  'internet-sharing-disabled': { minutes: 1, darwin: SHARING },
  'bluetooth-sharing-disabled': { minutes: 1, darwin: SHARING },
  'remote-login-disabled': { minutes: 1, darwin: SHARING },
  'remote-desktop-disabled': { minutes: 1, windows: 'ms-settings:remotedesktop' },
  'automatic-login-disabled': { minutes: 1, darwin: `${APPLE}.Users-Groups-Settings.extension` },
  'guest-account-disabled': { minutes: 1, darwin: `${APPLE}.Users-Groups-Settings.extension` },
  gatekeeper: { minutes: 1, darwin: `${PRIVACY}?Security` },
  'disk-space': {
    minutes: 10,
    darwin: `${APPLE}.settings.Storage`,
    windows: 'ms-settings:storagesense',
  },
  'accounts-have-passwords': {
    minutes: 2,
    darwin: `${APPLE}.Users-Groups-Settings.extension`,
    windows: 'ms-settings:signinoptions',
  },
}

/** What helps with the issues of a check on a platform. */
export function findFixFacts(slug: string, platform: Platform): FixFacts {
  const entry = FIXES[slug]
  const settings = platform === 'darwin' || platform === 'windows' ? entry?.[platform] : undefined
  return {
    ...(settings === undefined ? {} : { settings }),
    ...(entry?.minutes === undefined ? {} : { minutes: entry.minutes }),
  }
}
