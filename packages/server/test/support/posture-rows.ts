import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'
import { ACCOUNT_FAILING_TABLES, file, HEALTHY_ACCOUNTS } from './account-posture-rows.ts'
import { app, deb, program, SOFTWARE_FAILING_TABLES } from './software-posture-rows.ts'
import type { OsqueryRow, TableRows } from './osquery-database.ts'
import { HARDENING_FAILING_TABLES } from './hardening-failing-tables.ts'
import {
  appStoreUpdates,
  bitlocker,
  GOOD_WINDOWS_SETTINGS,
  hosts,
  registry,
  rootCertificate,
  sshServer,
  tpm,
} from './hardening-rows.ts'

const DAY_SECONDS = 86_400

const plist = (path: string, key: string, value: string): OsqueryRow => ({
  path,
  key,
  subkey: '',
  value,
})

const SOFTWARE_UPDATE = '/Library/Preferences/com.apple.SoftwareUpdate.plist'
const LOGIN_WINDOW = '/Library/Preferences/com.apple.loginwindow.plist'
const TIMED = '/private/var/db/timed/Library/Preferences/com.apple.timed.plist'
const XPROTECT = '/Library/Apple/System/Library/CoreServices/XProtect.bundle/Contents/Info.plist'

const softwareUpdate = (changes: Readonly<Record<string, string>> = {}): OsqueryRow[] =>
  Object.entries({
    AutomaticCheckEnabled: '1',
    AutomaticDownload: '1',
    AutomaticallyInstallMacOSUpdates: '1',
    CriticalUpdateInstall: '1',
    ConfigDataInstall: '1',
    ...changes,
  }).map(([key, value]) => plist(SOFTWARE_UPDATE, key, value))

/** A key that another key of the registry holds. */
export const registryKey = (key: string, name: string): OsqueryRow => ({
  ...registry(`${key}\\${name}`, ''),
  type: 'subkey',
})

const HKLM = 'HKEY_LOCAL_MACHINE'
const POLICIES_SYSTEM = String.raw`${HKLM}\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System`
const POLICIES_EXPLORER = String.raw`${HKLM}\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\Explorer`
const WINLOGON = String.raw`${HKLM}\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon`
const TERMINAL_SERVER = String.raw`${HKLM}\SYSTEM\CurrentControlSet\Control\Terminal Server`
const AUTO_UPDATE = String.raw`${HKLM}\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update`
const POWERSHELL = String.raw`${HKLM}\SOFTWARE\Microsoft\PowerShell\1\ShellIds\Microsoft.PowerShell`
const ENROLMENTS = String.raw`${HKLM}\SOFTWARE\Microsoft\Enrollments`
const ENROLMENT = String.raw`${ENROLMENTS}\10A6B5B1-9D53-4C3F-8E21-2F9C8D1B7A01`
const DESKTOP = String.raw`HKEY_USERS\S-1-5-21-1-2-3-1001\Control Panel\Desktop`

const goodRegistry: readonly OsqueryRow[] = [
  registry(`${POLICIES_SYSTEM}\\EnableLUA`, '1'),
  registry(`${POLICIES_SYSTEM}\\ConsentPromptBehaviorAdmin`, '5'),
  registry(`${POLICIES_EXPLORER}\\NoDriveTypeAutoRun`, '255'),
  registry(`${WINLOGON}\\AutoAdminLogon`, '0'),
  registry(`${TERMINAL_SERVER}\\fDenyTSConnections`, '1'),
  registry(ENROLMENT, ''),
  registry(`${ENROLMENT}\\ProviderID`, 'MS DM Server'),
  registry(`${ENROLMENT}\\EnrollmentState`, '1'),
  registryKey('HKEY_USERS', 'S-1-5-21-1-2-3-1001'),
  registryKey('HKEY_USERS', 'S-1-5-21-1-2-3-1001_Classes'),
  registryKey('HKEY_USERS', 'S-1-5-18'),
  registry(`${DESKTOP}\\ScreenSaverIsSecure`, '1'),
  registry(`${DESKTOP}\\ScreenSaveTimeOut`, '600'),
  ...GOOD_WINDOWS_SETTINGS,
]

const withRegistry = (path: string, data: string): TableRows => ({
  registry: [...goodRegistry.filter((row) => row['path'] !== path), registry(path, data)],
})

const service = (name: string, status: string, start_type: string): OsqueryRow => ({
  name,
  status,
  start_type,
})

const goodServices = [
  service('wuauserv', 'STOPPED', 'DEMAND_START'),
  service('W32Time', 'RUNNING', 'DEMAND_START'),
  service('CSFalconService', 'RUNNING', 'AUTO_START'),
  service('sshd', 'STOPPED', 'DISABLED'),
]

const unit = (id: string, active_state = 'active'): OsqueryRow => ({ id, active_state })

const goodUnits = [
  unit('firewalld.service'),
  unit('apt-daily-upgrade.timer'),
  unit('chrony.service'),
  unit('falcon-sensor.service'),
  unit('ssh.service', 'inactive'),
]

/** An extension as present Chrome, Edge and Brave show it. */
export const extension = (changes: OsqueryRow): OsqueryRow => ({
  uid: 501,
  identifier: 'nngceckbapebfimnlniiiahkandclblb',
  name: 'Bitwarden',
  version: '2026.1.0',
  browser_type: 'chrome',
  path: '/Users/ada/Chrome/Default/Extensions/nngceckbapebfimnlniiiahkandclblb/1',
  update_url: 'https://clients2.google.com/service/update2/crx',
  referenced: 1,
  state: '',
  from_webstore: 'true',
  ...changes,
})

const sideloaded: TableRows = {
  chrome_extensions: [
    extension({
      name: 'Helper',
      identifier: 'a'.repeat(32),
      path: '/tmp/x',
      update_url: '',
      from_webstore: 'false',
    }),
  ],
}

const sshKey = (encrypted: number): TableRows => ({
  user_ssh_keys: [{ uid: 501, path: '/home/ada/.ssh/id_ed25519', encrypted, key_type: '' }],
})

const sharing = (changes: OsqueryRow = {}): TableRows => ({
  sharing_preferences: [
    {
      screen_sharing: 0,
      file_sharing: 0,
      remote_login: 0,
      remote_management: 0,
      internet_sharing: 0,
      bluetooth_sharing: 0,
      printer_sharing: 0,
      remote_apple_events: 0,
      ...changes,
    },
  ],
})

const macos = (major: number, minor: number, patch: number): TableRows => ({
  os_version: [{ name: 'macOS', version: `${major}.${minor}.${patch}`, major, minor, patch }],
})

const windows11 = (
  build: string,
  revision: number,
  name = 'Microsoft Windows 11 Pro',
): TableRows => ({
  os_version: [
    {
      name,
      version: `10.0.${build}`,
      major: 10,
      minor: 0,
      build,
      revision,
      platform: 'windows',
    },
  ],
})

const ubuntu = (major: number, minor: number): TableRows => ({
  os_version: [
    {
      name: 'Ubuntu',
      version: `${major}.${minor}`,
      major,
      minor,
      platform: 'ubuntu',
      platform_like: 'debian',
    },
  ],
})

const uptimeDays = (days: number): TableRows => ({
  uptime: [{ total_seconds: days * DAY_SECONDS }],
})

const antivirusProduct = (state: string, signatures_up_to_date = 1): OsqueryRow => ({
  type: 'Antivirus',
  name: 'Microsoft Defender Antivirus',
  state,
  signatures_up_to_date,
})

const drive = (free_space: number): TableRows => ({
  logical_drives: [{ device_id: 'C:', boot_partition: 1, size: 1_000, free_space }],
})

const mount = (blocks_available: number): TableRows => ({
  mounts: [
    {
      path: '/',
      device: '/dev/mapper/root',
      device_alias: '/dev/dm-0',
      blocks: 1_000,
      blocks_available,
    },
  ],
})

/** A device of each platform on which every check passes or does not apply. */
export const HEALTHY_DEVICES: Readonly<Record<CheckPlatform, TableRows>> = {
  darwin: {
    ...macos(26, 5, 0),
    ...sharing(),
    ...uptimeDays(3),
    ...mount(500),
    ...sshKey(1),
    ...HEALTHY_ACCOUNTS.darwin,
    file: [
      file('/Users/ada/Documents/notes.txt'),
      file('/private/var/db/ConfigurationProfiles/Settings'),
      file('/private/var/db/ConfigurationProfiles/Settings/.cloudConfigProfileInstalled'),
    ],
    alf: [{ global_state: 1, stealth_enabled: 0 }],
    disk_encryption: [{ name: '/dev/disk3s1', encrypted: 1, filevault_status: 'on' }],
    managed_policies: [
      { domain: 'com.apple.screensaver', name: 'askForPassword', value: '1', username: '' },
    ],
    etc_hosts: hosts(),
    certificates: [
      rootCertificate('/Library/Keychains/System.keychain', 'com.apple.systemdefault', 'a'),
    ],
    gatekeeper: [{ assessments_enabled: 1, dev_id_enabled: 1 }],
    sip_config: [
      { config_flag: 'sip', enabled: 1 },
      { config_flag: 'allow_task_for_pid', enabled: 0 },
    ],
    secureboot: [{ secure_boot: 1, description: 'Full Security' }],
    system_extensions: [{ identifier: 'com.crowdstrike.falcon.Agent', state: 'activated_enabled' }],
    plist: [
      ...softwareUpdate(),
      ...appStoreUpdates('1'),
      plist(XPROTECT, 'CFBundleShortVersionString', '5320'),
      plist(LOGIN_WINDOW, 'GuestEnabled', '0'),
      plist(TIMED, 'TMAutomaticTimeOnlyEnabled', '1'),
    ],
    preferences: [
      {
        domain: 'com.apple.sharingd',
        key: 'DiscoverableMode',
        value: 'Contacts Only',
        username: 'ada',
      },
    ],
    apps: [app('com.google.Chrome', '199.0.1.2'), app('com.1password.1password', '8.1')],
    chrome_extensions: [extension({})],
    launchd: [
      {
        path: '/Library/LaunchDaemons/com.example.plist',
        label: 'com.example',
        program: '/usr/local/bin/example',
      },
    ],
    sudoers: [{ source: '/etc/sudoers', header: '%admin', rule_details: 'ALL = (ALL) ALL' }],
    time_machine_destinations: [{ alias: 'Backup', destination_id: 'A1', encryption: 'Encrypted' }],
  },
  windows: {
    ...windows11('99999', 1),
    ...uptimeDays(3),
    ...drive(500),
    ...sshKey(1),
    ...HEALTHY_ACCOUNTS.windows,
    file: [
      file(String.raw`C:\Users\ada\Documents\desktop.ini`),
      file(String.raw`C:\Windows\System32\drivers\etc\hosts`),
    ],
    registry: goodRegistry,
    services: goodServices,
    bitlocker_info: [bitlocker('C:', 1, 1), bitlocker('D:', 1, 1)],
    windows_security_center: [{ firewall: 'Good', antivirus: 'Good' }],
    windows_security_products: [antivirusProduct('On')],
    security_profile_info: [{ enable_guest_account: 0, minimum_password_length: 12 }],
    secureboot: [{ secure_boot: 1, setup_mode: 0 }],
    tpm_info: tpm({}),
    processes: [{ name: 'lsass.exe', protection_type: '' }, { name: 'LsaIso.exe' }],
    windows_optional_features: [{ name: 'SMB1Protocol', state: 2 }],
    shared_resources: [
      { name: 'C$', type: 2147483648 },
      { name: 'ADMIN$', type: 2147483648 },
    ],
    programs: [program('Microsoft Edge', '199.0.1.2'), program('1Password', '8.1')],
    chrome_extensions: [extension({})],
  },
  linux: {
    ...ubuntu(99, 4),
    ...uptimeDays(3),
    ...mount(500),
    ...sshKey(1),
    ...HEALTHY_ACCOUNTS.linux,
    augeas: sshServer({ PermitRootLogin: 'prohibit-password' }).augeas,
    etc_hosts: hosts(),
    processes: [{ name: 'sway' }, { name: 'swayidle', cmdline: 'swayidle timeout 300 swaylock' }],
    file: [
      file('/etc/ssh/sshd_config'),
      file('/etc/ssl/certs/ca-certificates.crt'),
      file('/home/ada/Documents/notes.txt'),
    ],
    systemd_units: goodUnits,
    disk_encryption: [{ name: '/dev/dm-0', encrypted: 1, type: 'luks2' }],
    deb_packages: [
      deb('unattended-upgrades', '2.9'),
      deb('google-chrome-stable', '199.0.1.2-1'),
      deb('firefox', '1:1snap1-0ubuntu5'),
      deb('keepassxc', '2.7'),
    ],
    secureboot: [{ secure_boot: 1, setup_mode: 0 }],
    apparmor_profiles: [{ name: 'cupsd', mode: 'enforce' }],
    shadow: [
      { username: 'root', password_status: 'locked' },
      { username: 'ada', password_status: 'active' },
    ],
    sudoers: [{ source: '/etc/sudoers', header: '%sudo', rule_details: 'ALL=(ALL:ALL) ALL' }],
    chrome_extensions: [extension({})],
  },
}

const nopasswd: TableRows = {
  sudoers: [
    { source: '/etc/sudoers.d/ada', header: 'ada', rule_details: 'ALL=(ALL) NOPASSWD: ALL' },
  ],
}

const withUnits = (...units: OsqueryRow[]): TableRows => ({
  systemd_units: [...goodUnits, ...units],
})
const withoutUnit = (id: string): TableRows => ({
  systemd_units: goodUnits.filter((row) => row['id'] !== id),
})

/** For each check and platform the tables whose content makes it fail; they replace the healthy ones. */
export const FAILING_TABLES: Readonly<
  Record<string, Readonly<Partial<Record<CheckPlatform, TableRows>>>>
> = {
  'disk-encryption': {
    darwin: { disk_encryption: [{ name: '/dev/disk3s1', encrypted: 0, filevault_status: 'off' }] },
    windows: {
      bitlocker_info: [
        { drive_letter: 'C:', protection_status: 0, conversion_status: 0 },
        { drive_letter: 'D:', protection_status: 1 },
      ],
    },
    linux: {
      disk_encryption: [
        { name: '/dev/dm-0', encrypted: 0 },
        { name: '/dev/sdb1', encrypted: 1 },
      ],
    },
  },
  firewall: {
    darwin: { alf: [{ global_state: 0 }] },
    windows: { windows_security_center: [{ firewall: 'Poor', antivirus: 'Good' }] },
    linux: withoutUnit('firewalld.service'),
  },
  'screen-lock': {
    darwin: {
      managed_policies: [
        { domain: 'com.apple.screensaver', name: 'askForPassword', value: '0', username: '' },
      ],
    },
    windows: withRegistry(`${DESKTOP}\\ScreenSaverIsSecure`, '0'),
  },
  'automatic-updates': {
    darwin: { plist: softwareUpdate({ AutomaticallyInstallMacOSUpdates: '0' }) },
    windows: { services: [service('wuauserv', 'STOPPED', 'DISABLED')] },
    linux: { deb_packages: [] },
  },
  'operating-system-up-to-date': { darwin: macos(15, 6, 9), windows: windows11('26200', 6584) },
  'operating-system-supported': {
    darwin: macos(13, 7, 8),
    windows: windows11('22621', 6060),
    linux: ubuntu(20, 4),
  },
  antivirus: { windows: { windows_security_products: [antivirusProduct('On', 0)] } },
  'defender-real-time-protection': {
    windows: { windows_security_products: [antivirusProduct('Off')] },
  },
  gatekeeper: { darwin: { gatekeeper: [{ assessments_enabled: 0 }] } },
  'system-integrity-protection': { darwin: { sip_config: [{ config_flag: 'sip', enabled: 0 }] } },
  'malware-definition-updates': { darwin: { plist: softwareUpdate({ ConfigDataInstall: '0' }) } },
  'endpoint-detection-running': {
    darwin: {
      processes: [{ pid: 1, name: 'launchd' }],
      system_extensions: [
        {
          identifier: 'com.crowdstrike.falcon.Agent',
          state: 'terminated_waiting_to_uninstall_on_reboot',
        },
      ],
    },
    windows: { services: [service('CSFalconService', 'STOPPED', 'AUTO_START')] },
    linux: withoutUnit('falcon-sensor.service'),
  },
  'secure-boot': {
    darwin: { secureboot: [{ secure_boot: 1, description: 'Permissive Security' }] },
    windows: { secureboot: [{ secure_boot: 0, setup_mode: 0 }] },
    linux: { secureboot: [{ secure_boot: 0, setup_mode: 0 }] },
  },
  'user-account-control': { windows: withRegistry(`${POLICIES_SYSTEM}\\EnableLUA`, '0') },
  'automatic-login-disabled': {
    darwin: { plist: [plist(LOGIN_WINDOW, 'autoLoginUser', 'ada')] },
    windows: withRegistry(`${WINLOGON}\\AutoAdminLogon`, '1'),
  },
  'guest-account-disabled': {
    darwin: { plist: [plist(LOGIN_WINDOW, 'GuestEnabled', '1')] },
    windows: { security_profile_info: [{ enable_guest_account: 1 }] },
  },
  'accounts-have-passwords': {
    linux: { shadow: [{ username: 'guest', password_status: 'empty' }] },
  },
  'sudo-requires-password': { darwin: nopasswd, linux: nopasswd },
  'ssh-keys-encrypted': { darwin: sshKey(0), windows: sshKey(0), linux: sshKey(0) },
  ...ACCOUNT_FAILING_TABLES,
  ...HARDENING_FAILING_TABLES,
  ...SOFTWARE_FAILING_TABLES,
  'mdm-enrolled': {
    darwin: {
      file: [file('/private/var/db/ConfigurationProfiles/Settings')],
      managed_policies: [],
    },
    windows: withRegistry(`${ENROLMENT}\\EnrollmentState`, '0'),
  },
  'remote-login-disabled': {
    darwin: sharing({ remote_login: 1 }),
    windows: { services: [service('sshd', 'RUNNING', 'AUTO_START')] },
    linux: withUnits(unit('ssh.socket')),
  },
  'remote-desktop-disabled': {
    windows: withRegistry(`${TERMINAL_SERVER}\\fDenyTSConnections`, '0'),
    linux: withUnits(unit('xrdp.service')),
  },
  'screen-sharing-disabled': { darwin: sharing({ screen_sharing: 1 }) },
  'remote-management-disabled': { darwin: sharing({ remote_management: 1 }) },
  'file-sharing-disabled': {
    darwin: sharing({ file_sharing: 1 }),
    windows: { shared_resources: [{ name: 'Music', type: 0 }] },
    linux: withUnits(unit('smbd.service')),
  },
  'internet-sharing-disabled': { darwin: sharing({ internet_sharing: 1 }) },
  'bluetooth-sharing-disabled': { darwin: sharing({ bluetooth_sharing: 1 }) },
  'airdrop-not-open-to-everyone': {
    darwin: {
      preferences: [
        {
          domain: 'com.apple.sharingd',
          key: 'DiscoverableMode',
          value: 'Everyone',
          username: 'ada',
        },
      ],
    },
  },
  'smb1-disabled': { windows: { windows_optional_features: [{ name: 'SMB1Protocol', state: 1 }] } },
  'sideloaded-browser-extensions': { darwin: sideloaded, windows: sideloaded, linux: sideloaded },
  'suspicious-launch-items': {
    darwin: {
      launchd: [
        {
          path: '/Library/LaunchAgents/a.plist',
          label: 'a',
          program: '',
          program_arguments: '/Users/Shared/.a/run --quiet',
        },
      ],
    },
  },
  'mandatory-access-control': {
    linux: {
      apparmor_profiles: [{ name: 'cupsd', mode: 'complain' }],
      selinux_settings: [{ key: 'enforce', value: '0' }],
    },
  },
  'autorun-disabled': { windows: withRegistry(`${POLICIES_EXPLORER}\\NoDriveTypeAutoRun`, '145') },
  'powershell-execution-policy': {
    windows: withRegistry(`${POWERSHELL}\\ExecutionPolicy`, 'Unrestricted'),
  },
  'backups-encrypted': {
    darwin: {
      time_machine_destinations: [
        { alias: 'Backup', destination_id: 'A1', encryption: 'NotEncrypted' },
      ],
    },
  },
  'disk-space': { darwin: mount(30), windows: drive(30), linux: mount(30) },
  'restarted-recently': { darwin: uptimeDays(31), windows: uptimeDays(31), linux: uptimeDays(31) },
  'restart-not-pending': {
    windows: withRegistry(`${AUTO_UPDATE}\\RebootRequired`, ''),
    linux: { file: [{ path: '/run/reboot-required' }] },
  },
  'time-synchronised': {
    darwin: { plist: [plist(TIMED, 'TMAutomaticTimeOnlyEnabled', '0')] },
    windows: { services: [service('W32Time', 'STOPPED', 'DISABLED')] },
    linux: withoutUnit('chrony.service'),
  },
}
