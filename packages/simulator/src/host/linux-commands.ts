/** Rows that a Linux machine tells through commands which only read. */
import { runCommand } from './run-command.ts'
import type { StoredRow, TableRows } from '../sql/platform-database.ts'

const PACKAGES_MAX = 5_000

interface BlockDevice {
  readonly path?: string
  readonly type?: string
  readonly size?: number
  readonly uuid?: string | null
  readonly fstype?: string | null
  readonly model?: string | null
  readonly vendor?: string | null
  readonly kname?: string
  readonly children?: readonly BlockDevice[]
}

function describeDevice(device: BlockDevice, parent: string, isInsideCrypt: boolean): TableRows[] {
  const name = `/dev/${device.kname ?? ''}`
  const isEncrypted = isInsideCrypt || device.type === 'crypt'
  const block: StoredRow = {
    name,
    parent,
    vendor: (device.vendor ?? '').trim(),
    model: (device.model ?? '').trim(),
    size: Math.floor((device.size ?? 0) / 512),
    block_size: 512,
    uuid: device.uuid ?? '',
    type: device.fstype ?? '',
    label: '',
  }
  const encryption: StoredRow = {
    name,
    uuid: device.uuid ?? '',
    encrypted: isEncrypted ? 1 : 0,
    type: isEncrypted ? 'luks' : '',
    encryption_status: isEncrypted ? 'encrypted' : 'not encrypted',
  }
  const children = (device.children ?? []).flatMap((child) =>
    describeDevice(child, name, isEncrypted),
  )
  return [{ block_devices: [block], disk_encryption: [encryption] }, ...children]
}

async function disks(): Promise<TableRows> {
  const columns = 'KNAME,PATH,TYPE,SIZE,UUID,FSTYPE,MODEL,VENDOR'
  const output = await runCommand('lsblk', ['--json', '--bytes', '--output', columns])
  if (output === '') return {}
  const { blockdevices = [] } = JSON.parse(output) as { blockdevices?: BlockDevice[] }
  const described = blockdevices.flatMap((device) => describeDevice(device, '', false))
  return {
    block_devices: described.flatMap((rows) => rows['block_devices'] ?? []),
    disk_encryption: described.flatMap((rows) => rows['disk_encryption'] ?? []),
  }
}

async function debPackages(): Promise<TableRows> {
  const format =
    '${Package}\\t${Version}\\t${Architecture}\\t${Status}\\t${Section}\\t${Installed-Size}\\n'
  const output = await runCommand('dpkg-query', ['--show', `--showformat=${format}`])
  const rows = output
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, PACKAGES_MAX)
    .map((line): StoredRow => {
      const [name = '', version = '', arch = '', status = '', section = '', size = ''] =
        line.split('\t')
      return {
        name,
        version,
        arch,
        status,
        section,
        size: Number(size) * 1_024,
        admindir: '/var/lib/dpkg',
      }
    })
  return { deb_packages: rows }
}

async function rpmPackages(): Promise<TableRows> {
  const format = '%{NAME}\\t%{VERSION}\\t%{RELEASE}\\t%{ARCH}\\t%{SIZE}\\t%{INSTALLTIME}\\n'
  const output = await runCommand('rpm', ['--query', '--all', '--queryformat', format])
  const rows = output
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, PACKAGES_MAX)
    .map((line): StoredRow => {
      const [name = '', version = '', release = '', arch = '', size = '', time = ''] =
        line.split('\t')
      return {
        name,
        version,
        release,
        arch,
        size: Number(size),
        install_time: Number(time),
        epoch: 0,
      }
    })
  return { rpm_packages: rows }
}

async function systemdUnits(): Promise<TableRows> {
  const output = await runCommand('systemctl', [
    'list-units',
    '--all',
    '--no-legend',
    '--plain',
    '--no-pager',
  ])
  const rows = output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): StoredRow => {
      const [id = '', load = '', active = '', sub = '', ...description] = line.trim().split(/\s+/)
      return {
        id,
        load_state: load,
        active_state: active,
        sub_state: sub,
        description: description.join(' '),
      }
    })
  return { systemd_units: rows }
}

async function firewallRules(): Promise<TableRows> {
  const output = await runCommand('iptables', ['--list-rules'])
  const rows = output.split('\n').flatMap((line): StoredRow[] => {
    const policy = /^-P (\S+) (\S+)/.exec(line)
    if (policy !== null) {
      return [
        { filter_name: 'filter', chain: policy[1] ?? '', policy: policy[2] ?? '', target: '' },
      ]
    }
    const rule = /^-A (\S+).*-j (\S+)/.exec(line)
    if (rule === null) return []
    return [{ filter_name: 'filter', chain: rule[1] ?? '', policy: '', target: rule[2] ?? '' }]
  })
  return { iptables: rows }
}

export const LINUX_COMMAND_COLLECTORS: readonly (() => Promise<TableRows>)[] = [
  disks,
  debPackages,
  rpmPackages,
  systemdUnits,
  firewallRules,
]
