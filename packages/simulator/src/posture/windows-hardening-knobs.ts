import { put, remove, set } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { DEFENDER, DNS_CLIENT_POLICY, LSA, MACHINE_ROOTS, SERVICES } from './registry-keys.ts'
import { noRegistryValue, registryValue } from './shared-knob-rows.ts'

const ADDED_ROOT = 'C864484869D41D2B0D32319C5A62F9315AAF2CBD'
const WORKSTATION = String.raw`${SERVICES}\LanmanWorkstation\Parameters`
const SERVER = String.raw`${SERVICES}\LanmanServer\Parameters`

/** What makes Windows harder to attack than it comes. */
export const WINDOWS_HARDENING_KNOBS: readonly KnobSource[] = [
  {
    name: 'tamper-protection',
    title: 'Programs cannot switch Defender off',
    good: [registryValue(`${DEFENDER}\\Features`, 'TamperProtection', 5)],
    bad: [registryValue(`${DEFENDER}\\Features`, 'TamperProtection', 4)],
  },
  {
    name: 'defender-exclusions',
    title: 'Defender leaves nothing dangerous out',
    good: [noRegistryValue(`${DEFENDER}\\Exclusions\\Paths`, '{home}\\Downloads')],
    bad: [registryValue(`${DEFENDER}\\Exclusions\\Paths`, '{home}\\Downloads', 0)],
  },
  {
    name: 'root-certificates',
    title: 'No root certificate was added',
    good: [noRegistryValue(MACHINE_ROOTS, ADDED_ROOT)],
    bad: [registryValue(MACHINE_ROOTS, ADDED_ROOT, '', 'subkey')],
  },
  {
    name: 'hosts-file',
    title: 'The hosts file redirects nothing',
    good: [remove('etc_hosts', { hostnames: 'sls.update.microsoft.com' })],
    bad: [
      put('etc_hosts', { address: '0.0.0.0', hostnames: 'sls.update.microsoft.com' }, 'hostnames'),
    ],
  },
  {
    name: 'data-drive',
    title: 'No data drive is unprotected',
    good: [remove('bitlocker_info', { drive_letter: 'D:' })],
    bad: [
      put(
        'bitlocker_info',
        {
          drive_letter: 'D:',
          conversion_status: 0,
          protection_status: 0,
          encryption_method: 'None',
          percentage_encrypted: 0,
          lock_status: 0,
        },
        'drive_letter',
      ),
    ],
  },
  {
    name: 'llmnr',
    title: 'Windows does not ask its neighbours for names',
    good: [registryValue(DNS_CLIENT_POLICY, 'EnableMulticast', 0)],
    bad: [noRegistryValue(DNS_CLIENT_POLICY, 'EnableMulticast')],
  },
  {
    name: 'ntlmv1',
    title: 'NTLM version 1 is off',
    good: [noRegistryValue(LSA, 'LmCompatibilityLevel')],
    bad: [registryValue(LSA, 'LmCompatibilityLevel', 1)],
  },
  {
    name: 'smb-signing',
    title: 'SMB is signed',
    // Windows writes the name of the second value in small letters itself.
    good: [
      registryValue(WORKSTATION, 'RequireSecuritySignature', 1),
      registryValue(SERVER, 'requiresecuritysignature', 1),
    ],
    bad: [
      registryValue(WORKSTATION, 'RequireSecuritySignature', 0),
      registryValue(SERVER, 'requiresecuritysignature', 0),
    ],
  },
  {
    name: 'tpm',
    title: 'The TPM is ready',
    good: [set('tpm_info', { enabled: 1, activated: 1, owned: 1 })],
    bad: [set('tpm_info', { enabled: 1, activated: 0, owned: 0 })],
  },
]
