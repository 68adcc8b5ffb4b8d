import { LINUX_ACCOUNT_ROWS } from './linux-account-rows.ts'
import { POSIX_ROWS } from './posix-rows.ts'
import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateTables } from './template-rows.ts'

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
  ...LINUX_ACCOUNT_ROWS,
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
