/** Rows that a Linux machine tells through files. Hashes of passwords are looked at, never kept. */
import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { userInfo } from 'node:os'
import { readLines, readTextFile } from './run-command.ts'
import { scanSshKeys } from './ssh-key-scan.ts'
import type { StoredRow, TableRows } from '../sql/platform-database.ts'

const WATCHED_PATHS = [
  '/etc/passwd',
  '/etc/shadow',
  '/etc/group',
  '/etc/sudoers',
  '/etc/ssh/sshd_config',
  '/tmp',
]
const SSHD_DROP_INS = '/etc/ssh/sshd_config.d'
const EFI_VARIABLES = '/sys/firmware/efi/efivars'
const EFI_GLOBAL = '8be4df61-93ca-11d2-aa0d-00e098032b8c'

async function accounts(): Promise<TableRows> {
  const lines = await readLines('/etc/passwd')
  const users = lines.map((line): StoredRow => {
    const [username = '', , uid = '', gid = '', description = '', directory = '', shell = ''] =
      line.split(':')
    const ids = {
      uid: Number(uid),
      gid: Number(gid),
      uid_signed: Number(uid),
      gid_signed: Number(gid),
    }
    return { ...ids, username, description, directory, shell }
  })
  const groupLines = (await readLines('/etc/group')).map((line) => line.split(':'))
  const groups = groupLines.map(([groupname = '', , gid = '']): StoredRow => ({
    gid: Number(gid),
    gid_signed: Number(gid),
    groupname,
  }))
  const memberships = groupLines.flatMap(([, , gid = '', members = '']) =>
    users
      .filter(
        ({ username, gid: own }) =>
          own === Number(gid) || members.split(',').includes(String(username)),
      )
      .map(({ uid }): StoredRow => ({ uid: uid ?? null, gid: Number(gid) })),
  )
  return { users, groups, user_groups: memberships }
}

function passwordStatus(field: string): string {
  if (field === '') return 'empty'
  if (field.startsWith('!')) return 'locked'
  return field.startsWith('*') ? 'not_set' : 'active'
}

async function shadow(): Promise<TableRows> {
  const lines = await readLines('/etc/shadow')
  const rows = lines.map((line): StoredRow => {
    const [username = '', password = '', lastChange = '', min = '', max = '', warning = ''] =
      line.split(':')
    const status = passwordStatus(password)
    return {
      username,
      password_status: status,
      hash_alg: status === 'active' ? (password.split('$')[1] ?? '') : '',
      last_change: Number(lastChange),
      min: Number(min),
      max: Number(max),
      warning: Number(warning),
    }
  })
  return { shadow: rows }
}

async function sudoers(): Promise<TableRows> {
  const fragments = await readdir('/etc/sudoers.d').catch(() => [])
  const sources = ['/etc/sudoers', ...fragments.map((name) => join('/etc/sudoers.d', name))]
  const rows: StoredRow[] = []
  for (const source of sources) {
    for (const line of await readLines(source)) {
      const [header = '', ...rest] = line.split(/\s+/)
      rows.push({ source, header, rule_details: rest.join(' ') })
    }
  }
  return { sudoers: rows }
}

async function mounts(): Promise<TableRows> {
  const rows: StoredRow[] = []
  for (const line of await readLines('/proc/self/mounts')) {
    const [device = '', path = '', type = '', flags = ''] = line.split(' ')
    const alias = device.startsWith('/dev/') ? await realpath(device).catch(() => device) : device
    rows.push({ device, device_alias: alias, path, type, flags })
  }
  return { mounts: rows }
}

async function kernel(): Promise<TableRows> {
  const modules = (await readLines('/proc/modules')).map((line): StoredRow => {
    const [name = '', size = '', , usedBy = '', status = '', address = ''] = line.split(' ')
    return { name, size: Number(size), used_by: usedBy, status, address }
  })
  return { kernel_modules: modules }
}

async function listSshdDropIns(): Promise<string[]> {
  const names = await readdir(SSHD_DROP_INS).catch(() => [])
  return names.filter((name) => name.endsWith('.conf')).map((name) => join(SSHD_DROP_INS, name))
}

async function configurationFiles(): Promise<TableRows> {
  const rows: StoredRow[] = []
  const add = (path: string, label: string, value: string): unknown =>
    rows.push({ node: `/files${path}/${label}`, label, value, path })
  for (const path of ['/etc/ssh/sshd_config', ...(await listSshdDropIns())]) {
    let matches = 0
    for (const line of await readLines(path)) {
      const [label = '', ...value] = line.split(/[\s=]+/)
      if (label.toLowerCase() === 'match') matches += 1
      const place = matches === 0 ? label : `Match[${matches}]/Settings/${label}`
      rows.push({ node: `/files${path}/${place}`, label, value: value.join(' '), path })
    }
  }
  const upgrades = '/etc/apt/apt.conf.d/20auto-upgrades'
  for (const line of await readLines(upgrades)) {
    const match = /^APT::Periodic::(\S+)\s+"([^"]*)"/.exec(line)
    if (match !== null) add(upgrades, match[1] ?? '', match[2] ?? '')
  }
  return { augeas: rows }
}

async function efiFlag(name: string): Promise<number | undefined> {
  const value = await readFile(`${EFI_VARIABLES}/${name}-${EFI_GLOBAL}`).catch(() => undefined)
  return value?.at(-1)
}

async function secureBoot(): Promise<TableRows> {
  const isEnabled = await efiFlag('SecureBoot')
  if (isEnabled === undefined) return {}
  return { secureboot: [{ secure_boot: isEnabled, setup_mode: (await efiFlag('SetupMode')) ?? 0 }] }
}

async function accessControl(): Promise<TableRows> {
  const enforce = (await readTextFile('/sys/fs/selinux/enforce')).trim()
  const profiles = (await readLines('/sys/kernel/security/apparmor/profiles')).map(
    (line): StoredRow => {
      const match = /^(.*) \((\w+)\)$/.exec(line)
      return { path: match?.[1] ?? line, name: match?.[1] ?? line, mode: match?.[2] ?? '' }
    },
  )
  return {
    selinux_settings: enforce === '' ? [] : [{ scope: '', key: 'enforce', value: enforce }],
    apparmor_profiles: profiles,
  }
}

async function names(): Promise<TableRows> {
  const hosts = (await readLines('/etc/hosts')).map((line): StoredRow => {
    const [address = '', ...hostnames] = line.split(/\s+/)
    return { address, hostnames: hostnames.join(' ') }
  })
  const resolvers = (await readLines('/etc/resolv.conf'))
    .filter((line) => line.startsWith('nameserver'))
    .map((line, id): StoredRow => ({
      id,
      type: 'nameserver',
      address: line.split(/\s+/)[1] ?? '',
      options: 0,
    }))
  return { etc_hosts: hosts, dns_resolvers: resolvers }
}

async function fileRow(path: string): Promise<StoredRow | undefined> {
  const info = await stat(path).catch(() => undefined)
  if (info === undefined) return undefined
  return {
    path,
    directory: dirname(path),
    filename: basename(path),
    uid: info.uid,
    gid: info.gid,
    mode: (info.mode & 0o7777).toString(8).padStart(4, '0'),
    size: info.size,
    mtime: Math.floor(info.mtimeMs / 1_000),
    type: info.isDirectory() ? 'directory' : 'regular',
    symlink: 0,
  }
}

async function watchedFiles(): Promise<TableRows> {
  const home = userInfo().homedir
  const paths = [...WATCHED_PATHS, ...(await listSshdDropIns()), home, join(home, '.ssh')]
  const rows = await Promise.all(paths.map(fileRow))
  return { file: rows.filter((row) => row !== undefined) }
}

async function sshKeys(): Promise<TableRows> {
  const { homedir, uid } = userInfo()
  return { user_ssh_keys: await scanSshKeys(homedir, uid) }
}

export const LINUX_FILE_COLLECTORS: readonly (() => Promise<TableRows>)[] = [
  accounts,
  shadow,
  sudoers,
  mounts,
  kernel,
  configurationFiles,
  secureBoot,
  accessControl,
  names,
  watchedFiles,
  sshKeys,
]
