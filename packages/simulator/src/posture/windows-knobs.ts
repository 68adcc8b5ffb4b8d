import { daysAgo, put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import { accountFileKnobs } from './account-file-knobs.ts'
import { maliciousSoftwareKnobs } from './malicious-software-knobs.ts'
import { WINDOWS_MANAGEMENT_KNOBS } from './management-knobs.ts'
import { knobsOf } from './knob.ts'
import type { KnobSource } from './knob.ts'
import {
  AUTO_UPDATE,
  AU_POLICY,
  CONTROL,
  DESKTOP,
  EXPLORER_POLICIES,
  POWERSHELL,
  SERVICES,
  SYSTEM_POLICIES,
  TIME_PARAMETERS,
  WINLOGON,
} from './registry-keys.ts'
import { COMMON_KNOBS, noRegistryValue, registryValue, windowsService } from './shared-knob-rows.ts'
import { WINDOWS_HARDENING_KNOBS } from './windows-hardening-knobs.ts'
import { WINDOWS_PROTECTION_KNOBS } from './windows-protection-knobs.ts'
import { WINDOWS_SOFTWARE_KNOBS } from './windows-software-knobs.ts'

/** What the last cumulative update of build 26200 made of it, and one of a year before. */
const CURRENT_REVISION = 8655
const OLD_REVISION = 6584

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
    install_date: 1_767_225_600,
    revision: CURRENT_REVISION,
  }
  return put('os_version', to, 'platform')
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
      support_url: 'https://support.microsoft.com/help/5094126',
      title: 'Cumulative Update for Windows 11 (KB5094126)',
      update_id: '0f5e2d41-7c7b-4a0e-9e8f-3c2b1d5a6f70',
      update_revision: 1,
    },
    'update_id',
  )
}

const SYSTEM_KNOBS: readonly KnobSource[] = [
  {
    name: 'time-synchronisation',
    title: 'The clock is synchronised',
    good: [
      windowsService('W32Time', 'RUNNING', 'AUTO_START'),
      registryValue(TIME_PARAMETERS, 'Type', 'NTP', 'REG_SZ'),
    ],
    bad: [
      windowsService('W32Time', 'STOPPED', 'DISABLED'),
      registryValue(TIME_PARAMETERS, 'Type', 'NoSync', 'REG_SZ'),
    ],
  },
  {
    name: 'pending-restart',
    title: 'No update waits for a restart',
    good: [noRegistryValue(AUTO_UPDATE, 'RebootRequired')],
    bad: [registryValue(AUTO_UPDATE, 'RebootRequired', '', 'subkey')],
  },
  {
    name: 'automatic-updates',
    title: 'Windows installs updates by itself',
    good: [
      windowsService('wuauserv', 'RUNNING', 'DEMAND_START'),
      noRegistryValue(AU_POLICY, 'NoAutoUpdate'),
      set('windows_security_center', { autoupdate: 'Good' }),
    ],
    bad: [
      windowsService('wuauserv', 'STOPPED', 'DISABLED'),
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
    good: [cumulativeUpdate(8), set('os_version', { revision: CURRENT_REVISION })],
    bad: [cumulativeUpdate(160), set('os_version', { revision: OLD_REVISION })],
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
      windowsService('TermService', 'STOPPED', 'DEMAND_START'),
      remove('listening_ports', { port: 3389 }),
    ],
    bad: [
      registryValue(String.raw`${CONTROL}\Terminal Server`, 'fDenyTSConnections', 0),
      windowsService('TermService', 'RUNNING', 'AUTO_START'),
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

function screenSaver(isSecure: '0' | '1', timeoutSeconds: string): TemplateChange[] {
  return [
    registryValue(DESKTOP, 'ScreenSaveActive', '1', 'REG_SZ'),
    registryValue(DESKTOP, 'ScreenSaverIsSecure', isSecure, 'REG_SZ'),
    registryValue(DESKTOP, 'ScreenSaveTimeOut', timeoutSeconds, 'REG_SZ'),
  ]
}

/** The knobs of Windows. */
export const WINDOWS_KNOBS = knobsOf('windows', [
  ...WINDOWS_PROTECTION_KNOBS,
  ...WINDOWS_HARDENING_KNOBS,
  ...SYSTEM_KNOBS,
  ...WINDOWS_SOFTWARE_KNOBS,
  ...WINDOWS_MANAGEMENT_KNOBS,
  ...maliciousSoftwareKnobs(String.raw`C:\Program Files\nodejs`, '\\'),
  ...accountFileKnobs('\\'),
  ...COMMON_KNOBS,
])
