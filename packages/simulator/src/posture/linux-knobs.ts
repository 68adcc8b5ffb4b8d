import { only, put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import { accountFileKnobs } from './account-file-knobs.ts'
import { maliciousSoftwareKnobs } from './malicious-software-knobs.ts'
import { LINUX_MANAGEMENT_KNOBS } from './management-knobs.ts'
import {
  COMMON_KNOBS,
  augeasValue,
  debPackage,
  rpmPackage,
  systemdUnit,
} from './shared-knob-rows.ts'
import { knobsOf } from './knob.ts'
import type { KnobSource } from './knob.ts'
import { LINUX_ACCESS_KNOBS } from './linux-access-knobs.ts'
import { LINUX_SOFTWARE_KNOBS } from './linux-software-knobs.ts'
import { POSIX_KNOBS } from './posix-knobs.ts'

const AUTO_UPGRADES = '/etc/apt/apt.conf.d/20auto-upgrades'
const UFW_MODULES = ['xt_hl', 'ip6t_rt']

function diskEncryption(isEncrypted: boolean): TemplateChange[] {
  return ['/dev/dm-0', '/dev/dm-1'].map((name) =>
    set(
      'disk_encryption',
      {
        encrypted: isEncrypted ? 1 : 0,
        type: isEncrypted ? 'aes-xts-plain64' : '',
        encryption_status: isEncrypted ? 'encrypted' : 'not encrypted',
      },
      { name },
    ),
  )
}

function firewall(isOn: boolean): TemplateChange[] {
  return [
    ...only('ubuntu', systemdUnit('ufw.service', isOn)),
    ...only('fedora', systemdUnit('firewalld.service', isOn)),
    set('iptables', { policy: isOn ? 'DROP' : 'ACCEPT' }, { chain: 'INPUT', target: '' }),
    ...UFW_MODULES.map((name) =>
      isOn
        ? put('kernel_modules', { name, size: 16_384, used_by: '-', status: 'Live' }, 'name')
        : remove('kernel_modules', { name }),
    ),
  ]
}

function osVersion(row: Record<string, string | number>): TemplateChange {
  return put('os_version', { arch: 'x86_64', build: '', patch: 0, ...row }, 'platform')
}

const UBUNTU = { name: 'Ubuntu', platform: 'ubuntu', platform_like: 'debian' }
const FEDORA = { name: 'Fedora Linux', platform: 'fedora', platform_like: '', minor: 0 }

const SYSTEM_KNOBS: readonly KnobSource[] = [
  {
    name: 'disk-encryption',
    title: 'The root file system is encrypted',
    good: diskEncryption(true),
    bad: diskEncryption(false),
  },
  { name: 'firewall', title: 'A firewall is on', good: firewall(true), bad: firewall(false) },
  {
    name: 'automatic-updates',
    title: 'Updates are installed by themselves',
    good: [
      ...only(
        'ubuntu',
        debPackage('unattended-upgrades', '2.13ubuntu1'),
        systemdUnit('apt-daily-upgrade.timer', true),
        augeasValue(AUTO_UPGRADES, 'Unattended-Upgrade', '1'),
      ),
      ...only(
        'fedora',
        rpmPackage('dnf5-plugin-automatic', '5.4.1'),
        systemdUnit('dnf5-automatic.timer', true),
      ),
    ],
    bad: [
      ...only(
        'ubuntu',
        systemdUnit('apt-daily-upgrade.timer', false),
        augeasValue(AUTO_UPGRADES, 'Unattended-Upgrade', '0'),
      ),
      ...only('fedora', systemdUnit('dnf5-automatic.timer', false)),
    ],
  },
  {
    name: 'os-version',
    title: 'The distribution is a supported release',
    good: [
      ...only(
        'ubuntu',
        osVersion({
          ...UBUNTU,
          version: '26.04 LTS (Resolute Raccoon)',
          major: 26,
          minor: 4,
          codename: 'resolute',
        }),
      ),
      ...only(
        'fedora',
        osVersion({ ...FEDORA, version: '44 (Workstation Edition)', major: 44, codename: '' }),
      ),
    ],
    bad: [
      ...only(
        'ubuntu',
        osVersion({
          ...UBUNTU,
          version: '20.04.6 LTS (Focal Fossa)',
          major: 20,
          minor: 4,
          codename: 'focal',
        }),
      ),
      ...only(
        'fedora',
        osVersion({ ...FEDORA, version: '38 (Workstation Edition)', major: 38, codename: '' }),
      ),
    ],
  },
  {
    name: 'kernel-version',
    title: 'The kernel is current',
    good: [put('kernel_info', kernel('7.0.4-generic'), 'path')],
    bad: [put('kernel_info', kernel('5.4.0-42-generic'), 'path')],
  },
  {
    name: 'secure-boot',
    title: 'Secure Boot is on',
    good: [set('secureboot', { secure_boot: 1, setup_mode: 0 })],
    bad: [set('secureboot', { secure_boot: 0, setup_mode: 0 })],
  },
  {
    name: 'mandatory-access-control',
    title: 'AppArmor or SELinux enforces',
    good: [
      ...only(
        'ubuntu',
        set('apparmor_profiles', { mode: 'enforce' }),
        systemdUnit('apparmor.service', true),
      ),
      ...only('fedora', put('selinux_settings', { scope: '', key: 'enforce', value: '1' }, 'key')),
    ],
    bad: [
      ...only(
        'ubuntu',
        set('apparmor_profiles', { mode: 'complain' }),
        systemdUnit('apparmor.service', false),
      ),
      ...only('fedora', put('selinux_settings', { scope: '', key: 'enforce', value: '0' }, 'key')),
    ],
  },
  {
    name: 'time-synchronisation',
    title: 'The clock is synchronised',
    good: [systemdUnit('systemd-timesyncd.service', true)],
    bad: [systemdUnit('systemd-timesyncd.service', false)],
  },
  {
    name: 'audit-daemon',
    title: 'The audit daemon runs',
    good: [systemdUnit('auditd.service', true)],
    bad: [systemdUnit('auditd.service', false)],
  },
  {
    name: 'disk-space',
    title: 'The disk has room',
    good: [set('mounts', { blocks_free: 74_000_000, blocks_available: 68_000_000 }, { path: '/' })],
    bad: [set('mounts', { blocks_free: 1_900_000, blocks_available: 900_000 }, { path: '/' })],
  },
]

function kernel(version: string): Record<string, string> {
  const path = '/boot/vmlinuz'
  return { version, arguments: 'ro quiet splash', path, device: '/dev/mapper/vg-root' }
}

/** The knobs of Linux. */
export const LINUX_KNOBS = knobsOf('linux', [
  ...SYSTEM_KNOBS,
  ...LINUX_ACCESS_KNOBS,
  ...LINUX_SOFTWARE_KNOBS,
  ...POSIX_KNOBS,
  ...LINUX_MANAGEMENT_KNOBS,
  ...maliciousSoftwareKnobs('/usr/local/lib', '/'),
  ...accountFileKnobs('/'),
  ...COMMON_KNOBS,
])
