import { daysAgo, put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import { knobsOf } from './knob.ts'
import type { KnobSource } from './knob.ts'
import { COMMON_KNOBS, noRegistryValue, registryValue, windowsProgram } from './shared-knob-rows.ts'

const LOCAL_MACHINE = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE`
const CURRENT_VERSION = String.raw`${LOCAL_MACHINE}\Microsoft\Windows\CurrentVersion`
const SYSTEM_POLICIES = String.raw`${CURRENT_VERSION}\Policies\System`
const EXPLORER_POLICIES = String.raw`${CURRENT_VERSION}\Policies\Explorer`
const WINLOGON = String.raw`${LOCAL_MACHINE}\Microsoft\Windows NT\CurrentVersion\Winlogon`
const AU_POLICY = String.raw`${LOCAL_MACHINE}\Policies\Microsoft\Windows\WindowsUpdate\AU`
const CONTROL = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control`
const SERVICES = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services`
const DESKTOP = String.raw`HKEY_USERS\{sid}\Control Panel\Desktop`
const REAL_TIME = String.raw`${LOCAL_MACHINE}\Microsoft\Windows Defender\Real-Time Protection`
const POWERSHELL = String.raw`${LOCAL_MACHINE}\Microsoft\PowerShell\1\ShellIds\Microsoft.PowerShell`
const FIREWALL_PROFILES = ['DomainProfile', 'StandardProfile', 'PublicProfile']

function firewallProfiles(enabled: 0 | 1): TemplateChange[] {
  return FIREWALL_PROFILES.map((profile) =>
    registryValue(
      String.raw`${SERVICES}\SharedAccess\Parameters\FirewallPolicy` + `\\${profile}`,
      'EnableFirewall',
      enabled,
    ),
  )
}

function osVersion(build: string, version: string, edition: string): TemplateChange {
  const to = {
    name: `Microsoft Windows ${edition} Pro`,
    version,
    major: 10,
    minor: 0,
    patch: 0,
    build,
    platform: 'windows',
    platform_like: 'windows',
    codename: `Microsoft Windows ${edition} Pro`,
    arch: '64-bit',
    install_date: '1767225600',
    revision: 8117,
  }
  return put('os_version', to, 'platform')
}

function service(name: string, status: string, startType: string): TemplateChange {
  return set('services', { status, start_type: startType }, { name })
}

function optionalFeature(name: string, caption: string, isEnabled: boolean): TemplateChange {
  return put(
    'windows_optional_features',
    { name, caption, state: isEnabled ? 1 : 2, statename: isEnabled ? 'Enabled' : 'Disabled' },
    'name',
  )
}

function cumulativeUpdate(days: number): TemplateChange {
  return put(
    'windows_update_history',
    {
      client_app_id: 'UpdateOrchestrator',
      date: daysAgo(days),
      description: 'Install this update to resolve issues in Windows.',
      hresult: 0,
      operation: 'Installation',
      result_code: 'Succeeded',
      server_selection: 'WindowsUpdate',
      support_url: 'https://support.microsoft.com/help/5075912',
      title: 'Cumulative Update for Windows 11 (KB5075912)',
      update_id: '0f5e2d41-7c7b-4a0e-9e8f-3c2b1d5a6f70',
      update_revision: 1,
    },
    'update_id',
  )
}

const PROTECTION_KNOBS: readonly KnobSource[] = [
  {
    name: 'disk-encryption',
    title: 'BitLocker protects the system drive',
    good: [
      set(
        'bitlocker_info',
        {
          conversion_status: 1,
          protection_status: 1,
          percentage_encrypted: 100,
          encryption_method: 'XTS-AES 128',
        },
        { drive_letter: 'C:' },
      ),
    ],
    bad: [
      set(
        'bitlocker_info',
        {
          conversion_status: 0,
          protection_status: 0,
          percentage_encrypted: 0,
          encryption_method: 'None',
        },
        { drive_letter: 'C:' },
      ),
    ],
  },
  {
    name: 'firewall',
    title: 'The firewall is on in all profiles',
    good: [
      set('windows_security_center', { firewall: 'Good' }),
      set('windows_security_products', { state: 'On' }, { type: 'Firewall' }),
      ...firewallProfiles(1),
    ],
    bad: [
      set('windows_security_center', { firewall: 'Poor' }),
      set('windows_security_products', { state: 'Off' }, { type: 'Firewall' }),
      ...firewallProfiles(0),
    ],
  },
  {
    name: 'antivirus',
    title: 'The antivirus is on and current',
    good: [
      set('windows_security_center', { antivirus: 'Good' }),
      set(
        'windows_security_products',
        { state: 'On', signatures_up_to_date: 1 },
        { type: 'Antivirus' },
      ),
      service('WinDefend', 'RUNNING', 'AUTO_START'),
    ],
    bad: [
      set('windows_security_center', { antivirus: 'Poor' }),
      set(
        'windows_security_products',
        { state: 'Snoozed', signatures_up_to_date: 0 },
        { type: 'Antivirus' },
      ),
      service('WinDefend', 'STOPPED', 'AUTO_START'),
    ],
  },
  {
    name: 'real-time-protection',
    title: 'Defender watches in real time',
    good: [noRegistryValue(REAL_TIME, 'DisableRealtimeMonitoring')],
    bad: [registryValue(REAL_TIME, 'DisableRealtimeMonitoring', 1)],
  },
  {
    name: 'user-account-control',
    title: 'User Account Control asks',
    good: [
      registryValue(SYSTEM_POLICIES, 'EnableLUA', 1),
      registryValue(SYSTEM_POLICIES, 'ConsentPromptBehaviorAdmin', 5),
      set('windows_security_center', { user_account_control: 'Good' }),
    ],
    bad: [
      registryValue(SYSTEM_POLICIES, 'EnableLUA', 0),
      registryValue(SYSTEM_POLICIES, 'ConsentPromptBehaviorAdmin', 0),
      set('windows_security_center', { user_account_control: 'Poor' }),
    ],
  },
  {
    name: 'secure-boot',
    title: 'Secure Boot is on',
    good: [
      set('secureboot', { secure_boot: 1 }),
      registryValue(String.raw`${CONTROL}\SecureBoot\State`, 'UEFISecureBootEnabled', 1),
    ],
    bad: [
      set('secureboot', { secure_boot: 0 }),
      registryValue(String.raw`${CONTROL}\SecureBoot\State`, 'UEFISecureBootEnabled', 0),
    ],
  },
  {
    name: 'lsa-protection',
    title: 'The local security authority is protected',
    good: [registryValue(String.raw`${CONTROL}\Lsa`, 'RunAsPPL', 2)],
    bad: [registryValue(String.raw`${CONTROL}\Lsa`, 'RunAsPPL', 0)],
  },
  {
    name: 'smart-screen',
    title: 'SmartScreen checks downloads',
    good: [
      registryValue(
        String.raw`${CURRENT_VERSION}\Explorer`,
        'SmartScreenEnabled',
        'Warn',
        'REG_SZ',
      ),
    ],
    bad: [
      registryValue(String.raw`${CURRENT_VERSION}\Explorer`, 'SmartScreenEnabled', 'Off', 'REG_SZ'),
    ],
  },
]

const SYSTEM_KNOBS: readonly KnobSource[] = [
  {
    name: 'automatic-updates',
    title: 'Windows installs updates by itself',
    good: [
      service('wuauserv', 'RUNNING', 'DEMAND_START'),
      noRegistryValue(AU_POLICY, 'NoAutoUpdate'),
      set('windows_security_center', { autoupdate: 'Good' }),
    ],
    bad: [
      service('wuauserv', 'STOPPED', 'DISABLED'),
      registryValue(AU_POLICY, 'NoAutoUpdate', 1),
      set('windows_security_center', { autoupdate: 'Poor' }),
    ],
  },
  {
    name: 'os-version',
    title: 'Windows is a supported release',
    good: [osVersion('26200', '10.0.26200', '11')],
    bad: [osVersion('19045', '10.0.19045', '10')],
  },
  {
    name: 'pending-updates',
    title: 'Updates were installed recently',
    good: [cumulativeUpdate(8)],
    bad: [cumulativeUpdate(160)],
  },
  {
    name: 'screen-lock',
    title: 'The screen locks and asks for a password',
    good: [
      registryValue(SYSTEM_POLICIES, 'InactivityTimeoutSecs', 600),
      ...screenSaver('1', '600'),
    ],
    bad: [noRegistryValue(SYSTEM_POLICIES, 'InactivityTimeoutSecs'), ...screenSaver('0', '3600')],
  },
  {
    name: 'remote-desktop',
    title: 'Remote Desktop is off',
    good: [
      registryValue(String.raw`${CONTROL}\Terminal Server`, 'fDenyTSConnections', 1),
      service('TermService', 'STOPPED', 'DEMAND_START'),
      remove('listening_ports', { port: 3389 }),
    ],
    bad: [
      registryValue(String.raw`${CONTROL}\Terminal Server`, 'fDenyTSConnections', 0),
      service('TermService', 'RUNNING', 'AUTO_START'),
      put(
        'listening_ports',
        { pid: 1_404, port: 3389, protocol: 6, family: 2, address: '0.0.0.0' },
        'port',
      ),
    ],
  },
  {
    name: 'remote-login',
    title: 'The OpenSSH server does not run',
    good: [remove('services', { name: 'sshd' }), remove('listening_ports', { port: 22 })],
    bad: [
      put(
        'services',
        {
          name: 'sshd',
          display_name: 'OpenSSH SSH Server',
          service_type: 'OWN_PROCESS',
          status: 'RUNNING',
          start_type: 'AUTO_START',
          pid: 2_788,
          path: String.raw`C:\Windows\System32\OpenSSH\sshd.exe`,
          user_account: 'LocalSystem',
        },
        'name',
      ),
      put(
        'listening_ports',
        { pid: 2_788, port: 22, protocol: 6, family: 2, address: '0.0.0.0' },
        'port',
      ),
    ],
  },
  {
    name: 'guest-account',
    title: 'The guest account is off',
    good: [set('security_profile_info', { enable_guest_account: 0 })],
    bad: [set('security_profile_info', { enable_guest_account: 1 })],
  },
  {
    name: 'automatic-login',
    title: 'Windows asks for a password at start',
    good: [registryValue(WINLOGON, 'AutoAdminLogon', '0', 'REG_SZ')],
    bad: [registryValue(WINLOGON, 'AutoAdminLogon', '1', 'REG_SZ')],
  },
  {
    name: 'password-policy',
    title: 'Passwords are long enough and attempts limited',
    good: [
      set('security_profile_info', {
        minimum_password_length: 12,
        password_complexity: 1,
        lockout_bad_count: 10,
      }),
    ],
    bad: [
      set('security_profile_info', {
        minimum_password_length: 0,
        password_complexity: 0,
        lockout_bad_count: 0,
      }),
    ],
  },
  {
    name: 'smb1',
    title: 'SMB 1 is off',
    good: [
      optionalFeature('SMB1Protocol', 'SMB 1.0/CIFS File Sharing Support', false),
      registryValue(String.raw`${SERVICES}\LanmanServer\Parameters`, 'SMB1', 0),
    ],
    bad: [
      optionalFeature('SMB1Protocol', 'SMB 1.0/CIFS File Sharing Support', true),
      registryValue(String.raw`${SERVICES}\LanmanServer\Parameters`, 'SMB1', 1),
    ],
  },
  {
    name: 'powershell-2',
    title: 'PowerShell 2 is off',
    good: [optionalFeature('MicrosoftWindowsPowerShellV2Root', 'Windows PowerShell 2.0', false)],
    bad: [optionalFeature('MicrosoftWindowsPowerShellV2Root', 'Windows PowerShell 2.0', true)],
  },
  {
    name: 'powershell-execution-policy',
    title: 'PowerShell refuses unsigned scripts from elsewhere',
    good: [registryValue(POWERSHELL, 'ExecutionPolicy', 'RemoteSigned', 'REG_SZ')],
    bad: [registryValue(POWERSHELL, 'ExecutionPolicy', 'Unrestricted', 'REG_SZ')],
  },
  {
    name: 'autorun',
    title: 'AutoRun is off',
    good: [registryValue(EXPLORER_POLICIES, 'NoDriveTypeAutoRun', 255)],
    bad: [noRegistryValue(EXPLORER_POLICIES, 'NoDriveTypeAutoRun')],
  },
  {
    name: 'administrator-rights',
    title: 'The person is no administrator',
    good: [remove('user_groups', { uid: '{uid}', gid: 544 })],
    bad: [put('user_groups', { uid: '{uid}', gid: 544 }, 'uid', 'gid')],
  },
  {
    name: 'file-sharing',
    title: 'No folder is shared',
    good: [remove('shared_resources', { name: 'Public' })],
    bad: [
      put(
        'shared_resources',
        {
          name: 'Public',
          path: String.raw`C:\Users\Public`,
          type: 0,
          type_name: 'Disk Drive',
          description: '',
          status: 'OK',
          allow_maximum: 1,
        },
        'name',
      ),
    ],
  },
  {
    name: 'disk-space',
    title: 'The disk has room',
    good: [set('logical_drives', { free_space: 288_000_000_000 })],
    bad: [set('logical_drives', { free_space: 4_100_000_000 })],
  },
]

const SOFTWARE_KNOBS: readonly KnobSource[] = [
  {
    name: 'ssh-keys',
    title: 'SSH private keys have a passphrase',
    good: [sshKey(1)],
    bad: [sshKey(0)],
  },
  {
    name: 'password-manager',
    title: 'A password manager is installed',
    good: [windowsProgram('1Password', '8.12.4', 'AgileBits Inc.')],
    bad: [remove('programs', { name: '1Password' })],
  },
  {
    name: 'chrome-version',
    title: 'Chrome is up to date',
    good: [windowsProgram('Google Chrome', '151.0.7922.60', 'Google LLC')],
    bad: [windowsProgram('Google Chrome', '118.0.5993.70', 'Google LLC')],
  },
  {
    name: 'edge-version',
    title: 'Edge is up to date',
    good: [windowsProgram('Microsoft Edge', '151.0.3981.40', 'Microsoft Corporation')],
    bad: [windowsProgram('Microsoft Edge', '118.0.2088.46', 'Microsoft Corporation')],
  },
  {
    name: 'firefox-version',
    title: 'Firefox is up to date',
    good: [windowsProgram('Mozilla Firefox (x64 en-US)', '152.0.1', 'Mozilla')],
    bad: [windowsProgram('Mozilla Firefox (x64 en-US)', '115.3.1', 'Mozilla')],
  },
  {
    name: 'endpoint-detection',
    title: 'The endpoint detection agent runs',
    good: [
      windowsProgram('CrowdStrike Windows Sensor', '7.34.19900.0', 'CrowdStrike, Inc.'),
      put('services', falconService(), 'name'),
    ],
    bad: [
      remove('programs', { name: 'CrowdStrike Windows Sensor' }),
      remove('services', { name: 'CSFalconService' }),
    ],
  },
  {
    name: 'unwanted-software',
    title: 'No unwanted software is installed',
    good: [remove('programs', { name: 'uTorrent' })],
    bad: [windowsProgram('uTorrent', '3.6.0.47196', 'BitTorrent Limited')],
  },
]

function falconService(): Record<string, string | number> {
  return {
    name: 'CSFalconService',
    display_name: 'CrowdStrike Falcon Sensor Service',
    service_type: 'OWN_PROCESS',
    status: 'RUNNING',
    start_type: 'AUTO_START',
    pid: 3_004,
    path: String.raw`C:\Program Files\CrowdStrike\CSFalconService.exe`,
    user_account: 'LocalSystem',
  }
}

function screenSaver(isSecure: '0' | '1', timeoutSeconds: string): TemplateChange[] {
  return [
    registryValue(DESKTOP, 'ScreenSaveActive', '1', 'REG_SZ'),
    registryValue(DESKTOP, 'ScreenSaverIsSecure', isSecure, 'REG_SZ'),
    registryValue(DESKTOP, 'ScreenSaveTimeOut', timeoutSeconds, 'REG_SZ'),
  ]
}

function sshKey(encrypted: 0 | 1): TemplateChange {
  const path = String.raw`{home}\.ssh\id_ed25519`
  const row = {
    uid: '{uid}',
    path,
    encrypted,
    key_type: 'ec',
    key_group_name: 'ED25519',
    key_length: 256,
    key_security_bits: 128,
  }
  return put('user_ssh_keys', row, 'path')
}

/** The knobs of Windows. */
export const WINDOWS_KNOBS = knobsOf('windows', [
  ...PROTECTION_KNOBS,
  ...SYSTEM_KNOBS,
  ...SOFTWARE_KNOBS,
  ...COMMON_KNOBS,
])
