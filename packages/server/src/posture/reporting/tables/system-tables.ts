import type { ReportingTable } from '../reporting-table.ts'
import { EVERY_HOUR, POSIX, inCategory, text, whole } from './table-parts.ts'

/** The machine, its system and its disks. */
export const SYSTEM_TABLES: readonly ReportingTable[] = [
  ...inCategory('System', [
    {
      name: 'os_version',
      description: 'The operating system and its version.',
      intervalSeconds: EVERY_HOUR,
      columns: [
        text('name', 'Name of the distribution or product'),
        text('version', 'Version as people write it'),
        whole('major', 'Major version'),
        whole('minor', 'Minor version'),
        whole('patch', 'Patch level'),
        text('build', 'Build of the vendor'),
        text('platform', 'Platform as osquery names it'),
        text('codename', 'Code name of the release'),
        text('arch', 'Processor architecture'),
      ],
    },
    {
      name: 'system_info',
      description: 'The hardware and its names.',
      columns: [
        text('hostname', 'Network name'),
        text('uuid', 'Identifier of the hardware'),
        text('cpu_brand', 'Processor'),
        whole('cpu_physical_cores', 'Physical cores'),
        whole('cpu_logical_cores', 'Logical cores'),
        whole('physical_memory', 'Memory in bytes'),
        text('hardware_vendor', 'Manufacturer'),
        text('hardware_model', 'Model'),
        text('hardware_serial', 'Serial number'),
        text('computer_name', 'Name that its user gave it'),
      ],
    },
    {
      name: 'osquery_info',
      description: 'The agent.',
      columns: [
        text('version', 'Version of osquery'),
        text('instance_id', 'Identifier of the installation'),
        text('build_platform', 'Platform it was built for'),
        whole('start_time', 'Start in seconds since the epoch'),
        whole('config_valid', '1 when its configuration is valid'),
      ],
    },
    {
      name: 'uptime',
      description: 'Time since the last boot.',
      intervalSeconds: EVERY_HOUR,
      columns: [
        whole('days', 'Whole days'),
        whole('hours', 'Hours beyond the days'),
        whole('minutes', 'Minutes beyond the hours'),
        whole('total_seconds', 'All of it in seconds'),
      ],
    },
    {
      name: 'kernel_info',
      description: 'The running kernel.',
      columns: [
        text('version', 'Version'),
        text('arguments', 'Arguments at boot'),
        text('path', 'File'),
        text('device', 'Boot device'),
      ],
    },
  ]),
  ...inCategory('Storage', [
    {
      name: 'mounts',
      description: 'Mounted file systems.',
      platforms: POSIX,
      columns: [
        text('device', 'Device'),
        text('path', 'Mount point'),
        text('type', 'File system'),
        whole('blocks_size', 'Block size in bytes'),
        whole('blocks', 'Blocks'),
        whole('blocks_available', 'Blocks free for users'),
        text('flags', 'Mount options'),
      ],
    },
    {
      name: 'disk_encryption',
      description: 'Encryption of disks on macOS and Linux.',
      platforms: POSIX,
      intervalSeconds: EVERY_HOUR,
      columns: [
        text('name', 'Disk'),
        text('uuid', 'Identifier of the disk'),
        whole('encrypted', '1 when encrypted'),
        text('type', 'Kind of encryption'),
        text('encryption_status', 'Status as the platform words it'),
        text('filevault_status', 'FileVault status, macOS only'),
      ],
    },
    {
      name: 'bitlocker_info',
      description: 'BitLocker of each volume.',
      platforms: ['windows'],
      intervalSeconds: EVERY_HOUR,
      columns: [
        text('device_id', 'Volume'),
        text('drive_letter', 'Drive'),
        whole('conversion_status', '1 when fully encrypted'),
        whole('protection_status', '1 when protected'),
        text('encryption_method', 'Algorithm'),
        whole('percentage_encrypted', 'Per cent encrypted'),
      ],
    },
  ]),
]
