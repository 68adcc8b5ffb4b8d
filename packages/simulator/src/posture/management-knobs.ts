import { put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { ENROLMENT, ENROLMENT_ID, ENROLMENTS } from './registry-keys.ts'
import { registryValue } from './shared-knob-rows.ts'

const PROFILE_SETTINGS = '/private/var/db/ConfigurationProfiles/Settings'

const enrolmentMark = {
  path: `${PROFILE_SETTINGS}/.cloudConfigProfileInstalled`,
  directory: PROFILE_SETTINGS,
  filename: '.cloudConfigProfileInstalled',
  uid: 0,
  gid: 0,
  size: 0,
  type: 'regular',
}

const enforcedSetting = {
  domain: 'com.apple.applicationaccess',
  uuid: '8E1B9F40-6D2C-4A53-B7E8-5F3C0A9D6E12',
  name: 'allowAirDrop',
  value: '1',
  username: '',
  manual: 0,
}

/** Who administers a Mac: the organisation, and not the person who works at it. */
export const DARWIN_MANAGEMENT_KNOBS: readonly KnobSource[] = [
  administratorRights(80),
  {
    name: 'password-policy',
    title: 'Passwords are long enough',
    good: [passwordLength(12)],
    bad: [passwordLength(4)],
  },
  {
    name: 'mdm-enrolment',
    title: 'The Mac is enrolled in MDM',
    good: [
      put('file', enrolmentMark, 'path'),
      put('managed_policies', enforcedSetting, 'domain', 'name'),
      ...screenLockProfile('1'),
    ],
    bad: [remove('file', { path: enrolmentMark.path }), remove('managed_policies', {})],
  },
]

/** Who administers a Windows device. */
export const WINDOWS_MANAGEMENT_KNOBS: readonly KnobSource[] = [
  administratorRights(544),
  {
    name: 'mdm-enrolment',
    title: 'The device is enrolled in MDM',
    good: [
      registryValue(ENROLMENTS, ENROLMENT_ID, '', 'subkey'),
      registryValue(ENROLMENT, 'ProviderID', 'MS DM Server', 'REG_SZ'),
      registryValue(ENROLMENT, 'EnrollmentState', 1),
    ],
    bad: [
      registryValue(ENROLMENT, 'ProviderID', '', 'REG_SZ'),
      registryValue(ENROLMENT, 'EnrollmentState', 0),
    ],
  },
]

/** Who administers a Linux device. */
export const LINUX_MANAGEMENT_KNOBS: readonly KnobSource[] = [administratorRights(0)]

function administratorRights(gid: number): KnobSource {
  const membership = { uid: '{uid}', gid }
  return {
    name: 'administrator-rights',
    title: 'The person is no administrator',
    good: [remove('user_groups', membership)],
    bad: [put('user_groups', membership, 'uid', 'gid')],
  }
}

function passwordLength(length: number): ReturnType<typeof set> {
  const to = { policy_content: `policyAttributePassword matches '.{${length},}+'` }
  return set('password_policy', to, { policy_identifier: 'com.apple.policy.legacy.minChars' })
}

/** The profile of the screen lock of a Mac, which is the only place where osquery sees the setting. */
export function screenLockProfile(askForPassword: '0' | '1'): TemplateChange[] {
  const values = { askForPassword, askForPasswordDelay: '0', idleTime: '600' }
  return Object.entries(values).map(([name, value]) =>
    put(
      'managed_policies',
      {
        domain: 'com.apple.screensaver',
        uuid: '2C7D9A16-53E4-4F0B-9A8D-B16E0F42C375',
        name,
        value,
        username: '',
        manual: 0,
      },
      'domain',
      'name',
    ),
  )
}
