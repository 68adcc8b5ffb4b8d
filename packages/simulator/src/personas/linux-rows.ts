import { POSIX_ROWS } from './posix-rows.ts'
import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateRow, TemplateTables } from './template-rows.ts'

const UNIT_COLUMNS =
  'id description load_state active_state sub_state unit_file_state fragment_path user'

function unit(id: string, description: string, subState = 'running'): string[] {
  const path = `/usr/lib/systemd/system/${id}`
  return [id, description, 'loaded', 'active', subState, 'enabled', path, '']
}

const PROCESS_COLUMNS = 'pid name path cmdline state uid gid euid egid on_disk parent threads nice'

function processRow(pid: number, path: string, uid: number | string): (string | number)[] {
  const name = path.split('/').at(-1) ?? path
  return [pid, name, path, path, 'S', uid, uid, uid, uid, 1, 1, 3, 0]
}

const SYSTEM_ACCOUNTS = ['daemon', 'bin', 'sys', 'mail', 'systemd-network', 'polkitd'] as const

const FILE_COLUMNS = 'path directory filename uid gid mode size type symlink mtime'

function fileRow(
  path: string,
  mode: string,
  size: number,
): (string | number | { secondsAgo: number })[] {
  const split = path.lastIndexOf('/')
  const [directory, filename] = [path.slice(0, split) || '/', path.slice(split + 1)]
  return [path, directory, filename, 0, 0, mode, size, 'regular', 0, daysAgo(60)]
}

/** What a well-kept Linux laptop has apart from what the posture knobs and its distribution decide. */
export const LINUX_ROWS: TemplateTables = {
  ...POSIX_ROWS,
  mounts: rowsOf(
    'device device_alias path type blocks_size blocks blocks_free blocks_available inodes inodes_free flags',
    [
      '/dev/mapper/vg-root',
      '/dev/dm-1',
      '/',
      'ext4',
      4096,
      122_000_000,
      74_000_000,
      68_000_000,
      31_000_000,
      30_100_000,
      'rw,relatime',
    ],
    [
      '/dev/nvme0n1p2',
      '/dev/nvme0n1p2',
      '/boot',
      'ext4',
      4096,
      480_000,
      310_000,
      290_000,
      131_072,
      130_700,
      'rw,relatime',
    ],
    [
      'tmpfs',
      'tmpfs',
      '/tmp',
      'tmpfs',
      4096,
      2_000_000,
      1_990_000,
      1_990_000,
      2_000_000,
      1_999_900,
      'rw,nosuid,nodev',
    ],
  ),
  block_devices: rowsOf(
    'name parent vendor model size block_size uuid type label',
    ['/dev/nvme0n1', '', '', 'Example NVMe 512', 1_000_215_216, 512, '', '', ''],
    [
      '/dev/nvme0n1p3',
      '/dev/nvme0n1',
      '',
      '',
      996_118_528,
      512,
      'b62f8d0e-55a1-4f0c-9be2-6cf2e0a7d931',
      'crypto_LUKS',
      '',
    ],
    ['/dev/dm-0', '/dev/nvme0n1p3', '', '', 996_085_760, 512, '', 'LVM2_member', ''],
    [
      '/dev/dm-1',
      '/dev/dm-0',
      '',
      '',
      976_000_000,
      512,
      '4c9b7ad1-2e60-4f57-8d25-f19b30c6e874',
      'ext4',
      '',
    ],
  ),
  disk_encryption: rowsOf(
    'name uuid encrypted type encryption_status',
    ['/dev/nvme0n1p2', '', 0, '', 'undefined'],
    ['/dev/dm-0', '', 1, 'aes-xts-plain64', 'encrypted'],
    ['/dev/dm-1', '4c9b7ad1-2e60-4f57-8d25-f19b30c6e874', 1, 'aes-xts-plain64', 'encrypted'],
  ),
  secureboot: rowsOf('secure_boot setup_mode', [1, 0]),
  iptables: rowsOf(
    'filter_name chain policy target protocol src_port dst_port src_ip src_mask iniface dst_ip dst_mask outiface packets bytes',
    ['filter', 'INPUT', 'DROP', '', 0, '', '', '', '', '', '', '', '', 182, 21_904],
    [
      'filter',
      'INPUT',
      '',
      'ACCEPT',
      0,
      '',
      '',
      '0.0.0.0',
      '0.0.0.0',
      'lo',
      '0.0.0.0',
      '0.0.0.0',
      '',
      5_120,
      604_102,
    ],
    ['filter', 'FORWARD', 'DROP', '', 0, '', '', '', '', '', '', '', '', 0, 0],
    ['filter', 'OUTPUT', 'ACCEPT', '', 0, '', '', '', '', '', '', '', '', 92_110, 8_210_332],
  ),
  kernel_modules: rowsOf(
    'name size used_by status address',
    ['xt_hl', 16_384, '-', 'Live', '0x0000000000000000'],
    ['dm_crypt', 65_536, '-', 'Live', '0x0000000000000000'],
    ['nvme', 61_440, '-', 'Live', '0x0000000000000000'],
  ),
  systemd_units: rowsOf(
    UNIT_COLUMNS,
    unit('dbus.service', 'D-Bus System Message Bus'),
    unit('NetworkManager.service', 'Network Manager'),
    unit('systemd-journald.service', 'Journal Service'),
    unit('cron.service', 'Regular background program processing daemon'),
    unit('osqueryd.service', 'The osquery Daemon'),
    unit('graphical.target', 'Graphical Interface', 'active'),
  ),
  users: [
    ...rowsOf(
      'uid gid uid_signed gid_signed username description directory shell uuid',
      ['{uid}', '{uid}', '{uid}', '{uid}', '{user}', '{name}', '{home}', '/bin/bash', ''],
      [0, 0, 0, 0, 'root', 'root', '/root', '/bin/bash', ''],
    ),
    ...SYSTEM_ACCOUNTS.map((username, index): TemplateRow => ({
      uid: index + 1,
      gid: index + 1,
      uid_signed: index + 1,
      gid_signed: index + 1,
      username,
      description: username,
      directory: '/nonexistent',
      shell: '/usr/sbin/nologin',
      uuid: '',
    })),
  ],
  shadow: [
    ...rowsOf(
      'username password_status hash_alg last_change min max warning inactive expire',
      ['{user}', 'active', 'y', 20_400, 0, 99_999, 7, -1, -1],
      ['root', 'locked', '', 20_100, 0, 99_999, 7, -1, -1],
    ),
    ...SYSTEM_ACCOUNTS.map((username): TemplateRow => ({
      username,
      password_status: 'locked',
      hash_alg: '',
    })),
  ],
  groups: rowsOf(
    'gid gid_signed groupname',
    [0, 0, 'root'],
    [4, 4, 'adm'],
    ['{uid}', '{uid}', '{user}'],
  ),
  user_groups: rowsOf('uid gid', ['{uid}', '{uid}'], ['{uid}', 4], [0, 0]),
  logged_in_users: rowsOf('type user tty host time pid', [
    'user',
    '{user}',
    'tty2',
    '',
    daysAgo(0.3),
    1_804,
  ]),
  chrome_extensions: rowsOf(
    'browser_type uid name profile identifier version path from_webstore state permissions install_timestamp',
    [
      'chrome',
      '{uid}',
      'Google Docs Offline',
      'Person 1',
      'ghbmnnjooekpmoecnnnilnnbdlolhkhi',
      '1.98.1',
      '{home}/.config/google-chrome/Default/Extensions/ghbmnnjooekpmoecnnnilnnbdlolhkhi/1.98.1_0',
      'true',
      '1',
      'alarms, storage, unlimitedStorage',
      1_780_000_000,
    ],
  ),
  firefox_addons: rowsOf(
    'uid name identifier type version active disabled autoupdate location path',
    [
      '{uid}',
      'uBlock Origin',
      'uBlock0@raymondhill.net',
      'extension',
      '1.69.0',
      1,
      0,
      1,
      'app-profile',
      '{home}/.mozilla/firefox/default/extensions/uBlock0@raymondhill.net.xpi',
    ],
  ),
  processes: rowsOf(
    PROCESS_COLUMNS,
    processRow(1, '/usr/lib/systemd/systemd', 0),
    processRow(702, '/usr/sbin/NetworkManager', 0),
    processRow(911, '/opt/osquery/bin/osqueryd', 0),
    processRow(1_804, '/usr/bin/gnome-shell', '{uid}'),
    processRow(2_950, '/usr/lib/firefox/firefox', '{uid}'),
  ),
  listening_ports: rowsOf(
    'pid port protocol family address fd socket path net_namespace',
    [650, 53, 17, 2, '127.0.0.53', 13, 21_202, '', '4026531840'],
    [2_110, 631, 6, 2, '127.0.0.1', 7, 30_111, '', '4026531840'],
  ),
  sudoers: rowsOf(
    'source header rule_details',
    ['/etc/sudoers', 'Defaults', 'env_reset'],
    ['/etc/sudoers', 'Defaults', 'use_pty'],
    ['/etc/sudoers', 'root', 'ALL=(ALL:ALL) ALL'],
    ['/etc/sudoers', '%sudo', 'ALL=(ALL:ALL) ALL'],
  ),
  crontab: rowsOf(
    'event minute hour day_of_month month day_of_week command path',
    [
      '',
      '17',
      '*',
      '*',
      '*',
      '*',
      'root cd / && run-parts --report /etc/cron.hourly',
      '/etc/crontab',
    ],
    [
      '',
      '25',
      '6',
      '*',
      '*',
      '*',
      'root test -x /usr/sbin/anacron || run-parts --report /etc/cron.daily',
      '/etc/crontab',
    ],
  ),
  augeas: rowsOf(
    'node value label path',
    ['/files/etc/ssh/sshd_config/UsePAM', 'yes', 'UsePAM', '/etc/ssh/sshd_config'],
    ['/files/etc/ssh/sshd_config/X11Forwarding', 'no', 'X11Forwarding', '/etc/ssh/sshd_config'],
    ['/files/etc/hosts/1/ipaddr', '127.0.0.1', 'ipaddr', '/etc/hosts'],
    ['/files/etc/login.defs/PASS_MAX_DAYS', '99999', 'PASS_MAX_DAYS', '/etc/login.defs'],
    ['/files/etc/login.defs/UMASK', '022', 'UMASK', '/etc/login.defs'],
  ),
  file: [
    ...rowsOf(
      FILE_COLUMNS,
      fileRow('/etc/ssh/sshd_config', '0600', 3_262),
      fileRow('/etc/sudoers', '0440', 1_714),
      fileRow('/etc/group', '0644', 1_040),
    ),
    ...rowsOf(
      FILE_COLUMNS,
      ['{home}', '/home', '{user}', '{uid}', '{uid}', '0750', 4_096, 'directory', 0, daysAgo(1)],
      [
        '{home}/.ssh',
        '{home}',
        '.ssh',
        '{uid}',
        '{uid}',
        '0700',
        4_096,
        'directory',
        0,
        daysAgo(40),
      ],
      ['/tmp', '/', 'tmp', 0, 0, '1777', 460, 'directory', 0, daysAgo(0.1)],
    ),
  ],
  system_controls: rowsOf(
    'name oid subsystem current_value config_value type',
    ['kernel.randomize_va_space', '', 'kernel', '2', '', ''],
    ['net.ipv4.ip_forward', '', 'net', '0', '', ''],
    ['net.ipv4.conf.all.accept_redirects', '', 'net', '0', '', ''],
    ['kernel.kptr_restrict', '', 'kernel', '1', '', ''],
  ),
  certificates: rowsOf(
    'common_name subject issuer ca self_signed not_valid_before not_valid_after signing_algorithm key_algorithm key_strength path serial',
    [
      'ISRG Root X1',
      '/C=US/O=Internet Security Research Group/CN=ISRG Root X1',
      '/C=US/O=Internet Security Research Group/CN=ISRG Root X1',
      1,
      1,
      '1433415878',
      '2064567878',
      'sha256WithRSAEncryption',
      'rsaEncryption',
      '4096',
      '/etc/ssl/certs/ca-certificates.crt',
      '8210CFB0D240E3594463E0BB63828B00',
    ],
  ),
  memory_devices: rowsOf(
    'handle array_handle form_factor total_width data_width size device_locator memory_type max_speed manufacturer',
    [
      '0x0016',
      '0x0015',
      'SODIMM',
      64,
      64,
      16_384,
      'ChannelA-DIMM0',
      'DDR5',
      5_600,
      'Example Memory',
    ],
  ),
}

const DEB_COLUMNS =
  'name version source size arch revision status maintainer section priority admindir'

function debPackage(name: string, version: string, section: string): (string | number)[] {
  const revision = version.split('-').at(-1) ?? ''
  return [
    name,
    version,
    '',
    4_096_000,
    'amd64',
    revision,
    'install ok installed',
    'Ubuntu Developers <ubuntu-devel-discuss@lists.ubuntu.com>',
    section,
    'optional',
    '/var/lib/dpkg',
  ]
}

/** What Ubuntu adds. */
export const UBUNTU_ROWS: TemplateTables = {
  ...LINUX_ROWS,
  deb_packages: rowsOf(
    DEB_COLUMNS,
    debPackage('bash', '5.3-2ubuntu1', 'shells'),
    debPackage('openssl', '3.5.5-1ubuntu1', 'utils'),
    debPackage('openssh-client', '1:10.2p1-2ubuntu1', 'net'),
    debPackage('sudo', '1.9.17p2-1ubuntu1', 'admin'),
    debPackage('firefox', '1:1snap1-0ubuntu7', 'web'),
    debPackage('git', '1:2.53.0-1ubuntu1', 'vcs'),
    debPackage('python3', '3.14.2-1', 'python'),
  ),
  apparmor_profiles: rowsOf(
    'path name attach mode sha1',
    [
      'firefox.1',
      'firefox',
      '/usr/lib/firefox/firefox',
      'enforce',
      '3a9c1f5be02d7786c0f4de2b9185ab7703e6d41c',
    ],
    [
      'usr.sbin.cups-browsed.2',
      '/usr/sbin/cups-browsed',
      '/usr/sbin/cups-browsed',
      'enforce',
      'd40f2b6c77a18e93c5d2096be8417f3a5c60b9e2',
    ],
    [
      'unprivileged_userns.3',
      'unprivileged_userns',
      '',
      'enforce',
      '90b1e74c2d3f6a58c7e0914fb82d6ca351e7f08d',
    ],
  ),
}

const RPM_COLUMNS =
  'name version release source size sha1 arch epoch install_time vendor package_group'

function rpmPackage(name: string, version: string): TemplateRow[] {
  return rowsOf(RPM_COLUMNS, [
    name,
    version,
    '1.fc44',
    `${name}-${version}-1.fc44.src.rpm`,
    5_120_000,
    '',
    'x86_64',
    0,
    daysAgo(12),
    'Fedora Project',
    'Unspecified',
  ])
}

/** What Fedora adds. */
export const FEDORA_ROWS: TemplateTables = {
  ...LINUX_ROWS,
  rpm_packages: [
    ['bash', '5.3.9'],
    ['openssl', '3.5.5'],
    ['openssh-clients', '10.2p1'],
    ['sudo', '1.9.17'],
    ['git', '2.53.0'],
    ['python3', '3.14.2'],
    ['gnome-shell', '50.1'],
  ].flatMap(([name = '', version = '']) => rpmPackage(name, version)),
  selinux_settings: rowsOf(
    'scope key value',
    ['', 'mls', '1'],
    ['', 'policyvers', '33'],
    ['', 'deny_unknown', '0'],
    ['booleans', 'ssh_sysadm_login', 'off'],
  ),
}
