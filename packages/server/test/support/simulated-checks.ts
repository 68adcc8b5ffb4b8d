/* Simulated devices that fail one check at a time: which knob of the simulator turns which check. */
import {
  createDeviceFactory,
  createRandom,
  findKnob,
  type SimulatedDevice,
} from '@heliograph/simulator'
import { vi } from 'vitest'
import { CHECK_CATALOGUE } from '../../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'

export type Flavor = SimulatedDevice['person']['flavor']

const FLAVORS: readonly (readonly [Flavor, CheckPlatform])[] = [
  ['macos', 'darwin'],
  ['windows', 'windows'],
  ['ubuntu', 'linux'],
  ['fedora', 'linux'],
]

/** Checks to the knobs of the simulator that turn them. */
export const KNOBS: Readonly<Record<string, string>> = {
  'accounts-have-passwords': 'empty-passwords',
  'agent-up-to-date': 'agent-version',
  antivirus: 'antivirus',
  'app-store-automatic-updates': 'automatic-updates',
  'automatic-login-disabled': 'automatic-login',
  'automatic-updates': 'automatic-updates',
  'autorun-disabled': 'autorun',
  'banned-applications': 'unwanted-software',
  'bluetooth-sharing-disabled': 'bluetooth-sharing',
  'chrome-up-to-date': 'chrome-version',
  'compromised-packages': 'compromised-packages',
  'data-drives-encrypted': 'data-drive',
  'defender-exclusions': 'defender-exclusions',
  'defender-real-time-protection': 'real-time-protection',
  'defender-tamper-protection': 'tamper-protection',
  'disk-encryption': 'disk-encryption',
  'disk-space': 'disk-space',
  'edge-up-to-date': 'edge-version',
  'endpoint-detection-running': 'endpoint-detection',
  'file-sharing-disabled': 'file-sharing',
  'firefox-up-to-date': 'firefox-version',
  firewall: 'firewall',
  gatekeeper: 'gatekeeper',
  'hosts-file-unaltered': 'hosts-file',
  'guest-account-disabled': 'guest-account',
  'internet-sharing-disabled': 'internet-sharing',
  'malicious-extensions': 'malicious-extensions',
  'llmnr-disabled': 'llmnr',
  'lsa-protection': 'lsa-protection',
  'malware-definition-updates': 'malware-definitions',
  'mandatory-access-control': 'mandatory-access-control',
  'mdm-enrolled': 'mdm-enrolment',
  'ntlmv1-disabled': 'ntlmv1',
  'office-up-to-date': 'office-version',
  'operating-system-supported': 'os-version',
  'password-manager-installed': 'password-manager',
  'password-manager-kits': 'password-manager-kit',
  'password-policy': 'password-policy',
  'plain-text-cloud-credentials': 'cloud-credentials',
  'plain-text-registry-credentials': 'registry-credentials',
  'powershell-execution-policy': 'powershell-execution-policy',
  'printer-sharing-disabled': 'printer-sharing',
  'remote-apple-events-disabled': 'remote-apple-events',
  'remote-desktop-disabled': 'remote-desktop',
  'remote-login-disabled': 'remote-login',
  'remote-management-disabled': 'remote-management',
  'restarted-recently': 'recent-restart',
  'root-ssh-login-disabled': 'ssh-root-login',
  'safari-up-to-date': 'safari-version',
  'screen-lock': 'screen-lock',
  'screen-sharing-disabled': 'screen-sharing',
  'secure-boot': 'secure-boot',
  'sideloaded-browser-extensions': 'browser-extensions',
  'smb-signing-required': 'smb-signing',
  'smb1-disabled': 'smb1',
  'ssh-keys-encrypted': 'ssh-keys',
  'ssh-password-login-disabled': 'ssh-password-authentication',
  'sudo-requires-password': 'sudo-password',
  'system-integrity-protection': 'system-integrity-protection',
  'time-synchronised': 'time-synchronisation',
  'two-factor-backup-codes': 'backup-codes',
  'tpm-ready': 'tpm',
  'unexpected-root-certificates': 'root-certificates',
  'user-account-control': 'user-account-control',
  'xcode-up-to-date': 'xcode-version',
  'user-not-local-administrator': 'administrator-rights',
}

/** The knob of a check where one platform has another. */
export const PLATFORM_KNOBS: Readonly<Record<string, string>> = {
  'operating-system-up-to-date on darwin': 'os-version',
  'operating-system-up-to-date on windows': 'pending-updates',
}

/** A check on a flavour of device. */
export interface SimulatedCheck {
  readonly slug: string
  readonly sql: string
  readonly flavor: Flavor
  readonly platform: CheckPlatform
  readonly knob: string | undefined
}

/** Every check on every flavour of device that it is for. */
export const CASES: readonly SimulatedCheck[] = FLAVORS.flatMap(([flavor, platform]) =>
  CHECK_CATALOGUE.filter((check) => check.platforms.includes(platform)).map((check) => ({
    slug: check.slug,
    sql: check.queries[platform]!,
    flavor,
    platform,
    knob: PLATFORM_KNOBS[`${check.slug} on ${platform}`] ?? KNOBS[check.slug],
  })),
)

/** Those that a device can be made to fail. */
export const CASES_WITH_KNOB: readonly (SimulatedCheck & { readonly knob: string })[] =
  CASES.flatMap((entry) =>
    entry.knob !== undefined && findKnob(entry.platform, entry.knob) !== undefined
      ? [{ ...entry, knob: entry.knob }]
      : [],
  )

/** One device of each flavour, with all its knobs good between two tests. */
function createDevices(): Map<Flavor, SimulatedDevice> {
  const factory = createDeviceFactory(() => Date.now())
  const random = createRandom(1)
  const devices = new Map<Flavor, SimulatedDevice>()
  for (let count = 0; devices.size < FLAVORS.length && count < 1_000; count += 1) {
    const [, platform] = FLAVORS[count % FLAVORS.length]!
    const device = factory.create(platform, random)
    devices.set(device.person.flavor, device)
  }
  return devices
}

const devices = createDevices()

/** Runs SQL on a device whose knobs are all good but one. */
export function runOnDevice(flavor: Flavor, sql: string, badKnob?: string) {
  const device = devices.get(flavor)!
  // By this clock statements are interrupted: it stands still while a busy machine takes its time.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  if (badKnob !== undefined) device.setPosture(badKnob, 'bad')
  try {
    const result = device.tables.query(sql)
    if (result.outcome !== 'rows') throw new Error(result.message)
    return result.rows
  } finally {
    clock.mockRestore()
    if (badKnob !== undefined) device.setPosture(badKnob, 'good')
  }
}
