import { put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import { accountFileKnobs } from './account-file-knobs.ts'
import { maliciousSoftwareKnobs } from './malicious-software-knobs.ts'
import { DARWIN_MANAGEMENT_KNOBS, screenLockProfile } from './management-knobs.ts'
import { COMMON_KNOBS, darwinSetting, noDarwinSetting } from './shared-knob-rows.ts'
import { DARWIN_SOFTWARE_KNOBS } from './darwin-software-knobs.ts'
import { knobsOf } from './knob.ts'
import type { KnobSource } from './knob.ts'
import { POSIX_KNOBS } from './posix-knobs.ts'

const SOFTWARE_UPDATE = 'com.apple.SoftwareUpdate'
const LOGIN_WINDOW = 'com.apple.loginwindow'
const ENCRYPTED_VOLUMES = ['/dev/disk3s1', '/dev/disk3s5']

const ADDED_ROOT = {
  common_name: 'Traffic Helper CA',
  subject: '/O=Traffic Helper/CN=Traffic Helper CA',
  issuer: '/O=Traffic Helper/CN=Traffic Helper CA',
  ca: 1,
  self_signed: 1,
  sha1: 'c864484869d41d2b0d32319c5a62f9315aaf2cbd',
  path: '/Library/Keychains/System.keychain',
}

const UPDATE_SETTINGS = [
  'AutomaticCheckEnabled',
  'AutomaticDownload',
  'AutomaticallyInstallMacOSUpdates',
  'CriticalUpdateInstall',
]

function updateSettings(value: '0' | '1'): TemplateChange[] {
  return [
    ...UPDATE_SETTINGS.flatMap((key) => darwinSetting(SOFTWARE_UPDATE, key, value)),
    ...darwinSetting('com.apple.commerce', 'AutoUpdate', value),
  ]
}

function diskEncryption(isEncrypted: boolean): TemplateChange[] {
  return ENCRYPTED_VOLUMES.map((name) =>
    set(
      'disk_encryption',
      {
        encrypted: isEncrypted ? 1 : 0,
        type: isEncrypted ? 'APFS Encryption' : '',
        encryption_status: isEncrypted ? 'encrypted' : 'not encrypted',
        filevault_status: isEncrypted ? 'on' : 'off',
      },
      { name },
    ),
  )
}

function osVersion(version: string, name: string, build: string): TemplateChange[] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const to = {
    name,
    version,
    major,
    minor,
    patch,
    build,
    platform: 'darwin',
    platform_like: 'darwin',
    codename: '',
    arch: 'arm64e',
  }
  return [put('os_version', to, 'platform')]
}

/** One switch of the Sharing settings. */
function sharing(name: string, title: string, column: string): KnobSource {
  return {
    name,
    title,
    good: [set('sharing_preferences', { [column]: 0 })],
    bad: [set('sharing_preferences', { [column]: 1 })],
  }
}

const SHARING_KNOBS: readonly KnobSource[] = [
  sharing('screen-sharing', 'Screen sharing is off', 'screen_sharing'),
  sharing('printer-sharing', 'Printer sharing is off', 'printer_sharing'),
  sharing('remote-management', 'Remote management is off', 'remote_management'),
  sharing('remote-apple-events', 'Remote Apple events are off', 'remote_apple_events'),
  sharing('internet-sharing', 'Internet sharing is off', 'internet_sharing'),
  sharing('bluetooth-sharing', 'Bluetooth sharing is off', 'bluetooth_sharing'),
  sharing('content-caching', 'Content caching is off', 'content_caching'),
]

const SYSTEM_KNOBS: readonly KnobSource[] = [
  {
    name: 'root-certificates',
    title: 'No root certificate was added',
    good: [remove('certificates', { common_name: ADDED_ROOT.common_name })],
    bad: [put('certificates', ADDED_ROOT, 'common_name')],
  },
  {
    name: 'airdrop',
    title: 'AirDrop is open to contacts at most',
    good: [discoverableMode('Contacts Only')],
    bad: [discoverableMode('Everyone')],
  },
  {
    name: 'time-synchronisation',
    title: 'The clock is synchronised',
    good: [automaticTime('1')],
    bad: [automaticTime('0')],
  },
  {
    name: 'disk-encryption',
    title: 'FileVault is on',
    good: diskEncryption(true),
    bad: diskEncryption(false),
  },
  {
    name: 'firewall',
    title: 'The application firewall is on',
    good: [set('alf', { global_state: 1, stealth_enabled: 1 })],
    bad: [set('alf', { global_state: 0, stealth_enabled: 0 })],
  },
  {
    name: 'screen-lock',
    title: 'The screen locks and asks for a password',
    good: screenLockProfile('1'),
    bad: screenLockProfile('0'),
  },
  {
    name: 'automatic-updates',
    title: 'macOS installs updates by itself',
    good: updateSettings('1'),
    bad: updateSettings('0'),
  },
  {
    name: 'malware-definitions',
    title: 'XProtect definitions are installed by themselves',
    good: darwinSetting(SOFTWARE_UPDATE, 'ConfigDataInstall', '1'),
    bad: darwinSetting(SOFTWARE_UPDATE, 'ConfigDataInstall', '0'),
  },
  {
    name: 'os-version',
    title: 'macOS is supported and up to date',
    good: osVersion('26.5.0', 'macOS', '25F71'),
    bad: osVersion('13.6.1', 'macOS', '22G313'),
  },
  {
    name: 'remote-login',
    title: 'Remote login (SSH) is off',
    good: [
      set('sharing_preferences', { remote_login: 0 }),
      remove('listening_ports', { port: 22 }),
    ],
    bad: [
      set('sharing_preferences', { remote_login: 1 }),
      put(
        'listening_ports',
        { pid: 1, port: 22, protocol: 6, family: 2, address: '0.0.0.0' },
        'port',
      ),
    ],
  },
  {
    name: 'file-sharing',
    title: 'File sharing is off',
    good: [set('sharing_preferences', { file_sharing: 0 }), remove('shared_folders', {})],
    bad: [
      set('sharing_preferences', { file_sharing: 1 }),
      put('shared_folders', { name: "{user}'s Public Folder", path: '{home}/Public' }, 'path'),
    ],
  },
  {
    name: 'gatekeeper',
    title: 'Gatekeeper is on',
    good: [set('gatekeeper', { assessments_enabled: 1, dev_id_enabled: 1 })],
    bad: [set('gatekeeper', { assessments_enabled: 0, dev_id_enabled: 0 })],
  },
  {
    name: 'system-integrity-protection',
    title: 'System Integrity Protection is on',
    good: [set('sip_config', { enabled: 1, enabled_nvram: 1 }, { config_flag: 'sip' })],
    bad: [set('sip_config', { enabled: 0, enabled_nvram: 0 }, { config_flag: 'sip' })],
  },
  {
    name: 'secure-boot',
    title: 'Full Security at startup',
    good: [set('secureboot', { secure_boot: 1, description: 'Full Security' })],
    bad: [set('secureboot', { secure_boot: 0, description: 'Permissive Security' })],
  },
  {
    name: 'guest-account',
    title: 'The guest account is off',
    good: darwinSetting(LOGIN_WINDOW, 'GuestEnabled', '0'),
    bad: darwinSetting(LOGIN_WINDOW, 'GuestEnabled', '1'),
  },
  {
    name: 'automatic-login',
    title: 'Automatic login is off',
    good: noDarwinSetting(LOGIN_WINDOW, 'autoLoginUser'),
    bad: darwinSetting(LOGIN_WINDOW, 'autoLoginUser', '{user}'),
  },
  {
    name: 'disk-space',
    title: 'The disk has room',
    good: [set('mounts', { blocks_free: 71_000_000, blocks_available: 71_000_000 })],
    bad: [set('mounts', { blocks_free: 2_100_000, blocks_available: 2_100_000 })],
  },
]

function discoverableMode(value: string): TemplateChange {
  const row = {
    domain: 'com.apple.sharingd',
    key: 'DiscoverableMode',
    subkey: '',
    value,
    forced: 0,
    username: '{user}',
    host: 'any',
  }
  return put('preferences', row, 'domain', 'key', 'username')
}

function automaticTime(value: '0' | '1'): TemplateChange {
  const path = '/private/var/db/timed/Library/Preferences/com.apple.timed.plist'
  const key = 'TMAutomaticTimeOnlyEnabled'
  return put('plist', { path, key, subkey: '', value }, 'path', 'key')
}

/** The knobs of macOS. */
export const DARWIN_KNOBS = knobsOf('darwin', [
  ...SYSTEM_KNOBS,
  ...SHARING_KNOBS,
  ...DARWIN_SOFTWARE_KNOBS,
  ...POSIX_KNOBS,
  ...DARWIN_MANAGEMENT_KNOBS,
  ...maliciousSoftwareKnobs('/opt/homebrew/lib', '/'),
  ...accountFileKnobs('/'),
  ...COMMON_KNOBS,
])
