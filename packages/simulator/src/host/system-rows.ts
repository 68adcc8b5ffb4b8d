/** Rows that the system-information library has on every operating system. */
import { hostname, networkInterfaces, release, userInfo } from 'node:os'
import si from 'systeminformation'
import { readTextFile } from './run-command.ts'
import { PLATFORM_TYPE } from '../platform.ts'
import type { Platform } from '../platform.ts'
import type { StoredRow, TableRows } from '../sql/platform-database.ts'

const PROCESSES_MAX = 400
const PORTS_MAX = 400

async function systemInfo(hostIdentifier: string): Promise<TableRows> {
  const [system, cpu, memory] = await Promise.all([si.system(), si.cpu(), si.mem()])
  const row: StoredRow = {
    hostname: hostname(),
    uuid: hostIdentifier,
    cpu_type: process.arch === 'x64' ? 'x86_64' : process.arch,
    cpu_subtype: cpu.model,
    cpu_brand: `${cpu.manufacturer} ${cpu.brand}`.trim(),
    cpu_physical_cores: cpu.physicalCores,
    cpu_logical_cores: cpu.cores,
    cpu_sockets: cpu.processors,
    cpu_microcode: '',
    physical_memory: memory.total,
    hardware_vendor: system.manufacturer,
    hardware_model: system.model,
    hardware_version: system.version,
    hardware_serial: system.serial,
    computer_name: hostname(),
    local_hostname: hostname(),
  }
  const cpuRow: StoredRow = {
    device_id: 'CPU0',
    model: cpu.brand,
    manufacturer: cpu.manufacturer,
    processor_type: 'Central',
    number_of_cores: String(cpu.physicalCores),
    logical_processors: cpu.cores,
    address_width: '64',
    socket_designation: cpu.socket,
  }
  return { system_info: [row], cpu_info: [cpuRow] }
}

async function kernelArguments(platform: Platform): Promise<string> {
  return platform === 'linux' ? (await readTextFile('/proc/cmdline')).trim() : ''
}

async function osVersion(platform: Platform): Promise<TableRows> {
  const os = await si.osInfo()
  const numbers = os.release.split('.').map((part) => Number.parseInt(part, 10) || 0)
  const row: StoredRow = {
    name: os.distro,
    version: os.codename === '' ? os.release : `${os.release} (${os.codename})`,
    major: numbers[0] ?? 0,
    minor: numbers[1] ?? 0,
    patch: numbers[2] ?? 0,
    build: platform === 'windows' ? (os.release.split('.')[2] ?? os.build) : os.build,
    platform: platform === 'linux' ? (os.distro.split(' ')[0] ?? '').toLowerCase() : platform,
    platform_like: platform === 'linux' ? '' : platform,
    codename: os.codename,
    arch: os.arch,
  }
  return {
    os_version: [row],
    kernel_info: [{ version: release(), arguments: await kernelArguments(platform) }],
  }
}

async function bootTime(nowMs: number): Promise<TableRows> {
  const { uptime, timezoneName } = si.time()
  return {
    uptime: [{ total_seconds: Math.floor(nowMs / 1_000 - Number(uptime)) }],
    time: [{ local_timezone: timezoneName }],
  }
}

async function network(): Promise<TableRows> {
  const addresses: StoredRow[] = []
  const details = new Map<string, StoredRow>()
  for (const [name, entries] of Object.entries(networkInterfaces())) {
    for (const entry of entries ?? []) {
      addresses.push({
        interface: name,
        address: entry.address,
        mask: entry.netmask,
        type: 'unknown',
      })
      details.set(name, { interface: name, mac: entry.mac, type: 6 })
    }
  }
  return { interface_addresses: addresses, interface_details: [...details.values()] }
}

async function processes(): Promise<TableRows> {
  const { list } = await si.processes()
  const rows = list.slice(0, PROCESSES_MAX).map((entry): StoredRow => ({
    pid: entry.pid,
    parent: entry.parentPid,
    name: entry.name,
    path: entry.path,
    cmdline: entry.name,
    state: entry.state.slice(0, 1).toUpperCase(),
    nice: entry.nice,
    resident_size: entry.memRss * 1_024,
    total_size: entry.memVsz * 1_024,
    on_disk: entry.path === '' ? -1 : 1,
  }))
  return { processes: rows }
}

async function listeningPorts(): Promise<TableRows> {
  const connections = await si.networkConnections()
  const rows = connections
    .filter(({ state }) => state.toUpperCase().startsWith('LISTEN'))
    .slice(0, PORTS_MAX)
    .map((entry): StoredRow => ({
      pid: entry.pid,
      port: Number(entry.localPort),
      protocol: entry.protocol.startsWith('udp') ? 17 : 6,
      family: entry.localAddress.includes(':') ? 10 : 2,
      address: entry.localAddress,
      path: '',
    }))
  return { listening_ports: rows }
}

async function sessions(): Promise<TableRows> {
  const users = await si.users()
  const rows = users.map(({ user, tty, ip }): StoredRow => ({ type: 'user', user, tty, host: ip }))
  return { logged_in_users: rows }
}

function agentRow(platform: Platform, uuid: string): TableRows {
  const row: StoredRow = {
    pid: process.pid,
    uuid,
    version: '5.23.1',
    config_valid: 1,
    extensions: 'inactive',
    build_platform: platform,
    platform_mask: Number(PLATFORM_TYPE[platform]),
    watcher: -1,
  }
  return { osquery_info: [row] }
}

function currentUser(): TableRows {
  const { uid, gid, username, homedir, shell } = userInfo()
  const row: StoredRow = {
    uid,
    gid,
    uid_signed: uid,
    gid_signed: gid,
    username,
    directory: homedir,
    shell,
  }
  return { users: [row] }
}

/** The collectors for every platform; each answers on its own and may fail on its own. */
export function systemCollectors(
  platform: Platform,
  hostIdentifier: string,
  nowMs: () => number,
): (() => Promise<TableRows>)[] {
  return [
    () => systemInfo(hostIdentifier),
    () => osVersion(platform),
    () => bootTime(nowMs()),
    network,
    processes,
    listeningPorts,
    sessions,
    async () => agentRow(platform, hostIdentifier),
    // Linux lists all of its accounts elsewhere.
    async () => (platform === 'linux' ? {} : currentUser()),
  ]
}
