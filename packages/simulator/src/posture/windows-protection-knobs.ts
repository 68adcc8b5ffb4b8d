import { set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { CONTROL, CURRENT_VERSION, REAL_TIME, SERVICES, SYSTEM_POLICIES } from './registry-keys.ts'
import { noRegistryValue, registryValue, windowsService } from './shared-knob-rows.ts'

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

/** What protects a Windows device. */
export const WINDOWS_PROTECTION_KNOBS: readonly KnobSource[] = [
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
      windowsService('WinDefend', 'RUNNING', 'AUTO_START'),
    ],
    bad: [
      set('windows_security_center', { antivirus: 'Poor' }),
      set(
        'windows_security_products',
        { state: 'Snoozed', signatures_up_to_date: 0 },
        { type: 'Antivirus' },
      ),
      windowsService('WinDefend', 'STOPPED', 'AUTO_START'),
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
