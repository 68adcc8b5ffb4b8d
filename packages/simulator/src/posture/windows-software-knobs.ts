import { put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { windowsProgram } from './shared-knob-rows.ts'

const OFFICE = 'Microsoft 365 Apps for business'

/** What is installed on a Windows device. */
export const WINDOWS_SOFTWARE_KNOBS: readonly KnobSource[] = [
  {
    name: 'remote-access-tools',
    title: 'No remote access tool is installed',
    good: [remove('programs', { name: 'TeamViewer' })],
    bad: [windowsProgram('TeamViewer', '15.66.5', 'TeamViewer')],
  },
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
    name: 'office-version',
    title: 'Microsoft Office is up to date',
    good: [set('programs', { version: '16.0.19725.20126' }, { name: OFFICE })],
    bad: [set('programs', { version: '16.0.14326.20454' }, { name: OFFICE })],
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
