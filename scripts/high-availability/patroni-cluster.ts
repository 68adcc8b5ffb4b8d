/*
 * Three PostgreSQL servers under Patroni, one of the standbys synchronous. What kill -9 and SIGSTOP do to a node, they
 * do to Patroni and the server alike, as when its host is lost or cut off.
 */
import { execFileSync } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil, type ChildProcesses, type Program } from './child-processes.ts'
import { findPostgresUser } from './postgres-user.ts'
import { takePorts } from './take-ports.ts'

/** A node of the cluster. */
export interface DatabaseNode {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly program: Program
  /** The process of the server itself; undefined while there is none. */
  findPostmasterPid(): number | undefined
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly lag?: number | string
}

export interface PatroniCluster {
  readonly nodes: readonly DatabaseNode[]
  findPrimary(): Promise<DatabaseNode>
  /** The synchronous standby; where there is none, one that follows. */
  findSynchronousStandby(): Promise<DatabaseNode>
  /** Whether there is a primary, all others follow it, and, where commits wait for one, one of them synchronously. */
  isWell(): Promise<boolean>
  /** Has the synchronous standby take over in order. */
  switchOver(): Promise<void>
}

const START_MAX_MS = 180_000
export const LEASE_SECONDS = 8

/**
 * Under Patroni 3.0.2 a primary that was frozen took its lease back from the standby that had been promoted, whose
 * commits were lost. What runs is what that user finds, which may be another one than root's.
 */
function assertVersion(user: ReturnType<typeof findPostgresUser>): void {
  const said = execFileSync('patroni', ['--version'], { encoding: 'utf8', ...user }).trim()
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(said)?.[0] ?? '').split('.').map(Number)
  if (major < 4 || (major === 4 && minor < 1)) {
    throw new Error(`Patroni 4.1 or later is needed, and ${said} is what the test finds.`)
  }
}

export async function startPatroni(
  processes: ChildProcesses,
  folder: string,
  { etcdHosts, isSynchronous }: Pick<NodeSettings, 'etcdHosts' | 'isSynchronous'>,
): Promise<PatroniCluster> {
  const user = findPostgresUser()
  assertVersion(user)
  const nodes: DatabaseNode[] = []
  for (const name of ['pg-1', 'pg-2', 'pg-3']) {
    const [port = 0, restPort = 0] = await takePorts(2)
    const own = join(folder, name)
    await mkdir(own, { mode: 0o700 })
    const configuration = join(own, 'patroni.json')
    await writeFile(
      configuration,
      JSON.stringify(
        toConfiguration({ name, port, restPort, folder: own, etcdHosts, isSynchronous }),
      ),
    )
    if (user !== undefined) {
      for (const path of [own, configuration]) await chown(path, user.uid, user.gid)
    }
    const findPostmasterPid = () => readPostmasterPid(own)
    const program = processes.run(name, ['patroni', configuration], { user }, () => {
      const pid = findPostmasterPid()
      return pid === undefined ? [] : [pid]
    })
    nodes.push({ name, port, restPort, program, findPostmasterPid })
  }
  const byName = (name: string | undefined) => {
    const node = nodes.find((each) => each.name === name)
    if (node === undefined) throw new Error(`there is no node ${name ?? 'for that'}`)
    return node
  }
  const findByRole = async (role: string) =>
    byName((await listMembers(nodes)).find((member) => member.role === role)?.name)
  const standbyRole = isSynchronous ? 'sync_standby' : 'replica'
  const cluster: PatroniCluster = {
    nodes,
    findPrimary: () => findByRole('leader'),
    findSynchronousStandby: () => findByRole(standbyRole),
    async isWell() {
      const members = await listMembers(nodes)
      const roles = members.map(({ role }) => role)
      return (
        members.length === nodes.length &&
        members.every(
          ({ state, lag = 0 }) => /^(?:running|streaming)$/.test(state) && lag !== 'unknown',
        ) &&
        roles.filter((role) => role === 'leader').length === 1 &&
        roles.includes(standbyRole)
      )
    },
    async switchOver() {
      const [leader, candidate] = [
        await cluster.findPrimary(),
        await cluster.findSynchronousStandby(),
      ]
      const response = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
        signal: AbortSignal.timeout(60_000),
      })
      if (!response.ok) throw new Error(`the switchover was refused: ${await response.text()}`)
    },
  }
  await waitUntil(() => cluster.isWell(), START_MAX_MS, 'Patroni')
  return cluster
}

/** What the first member that answers says of all. */
async function listMembers(nodes: readonly DatabaseNode[]): Promise<readonly Member[]> {
  const answers = nodes.map(async ({ restPort }) => {
    const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
      signal: AbortSignal.timeout(2_000),
    })
    return ((await response.json()) as { members?: Member[] }).members ?? []
  })
  return Promise.any(answers).catch(() => [])
}

function readPostmasterPid(folder: string): number | undefined {
  try {
    const [pid = ''] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
    return Number(pid) > 1 && isPostgres(Number(pid)) ? Number(pid) : undefined
  } catch {
    return undefined
  }
}

/** The file outlives a server that was killed, and its number may be somebody else's by then. */
function isPostgres(pid: number): boolean {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
}

interface NodeSettings {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly folder: string
  readonly etcdHosts: readonly string[]
  /** Whether a commit waits for a standby. */
  readonly isSynchronous: boolean
}

/** YAML takes JSON. The times are the shortest that a busy machine keeps. */
function toConfiguration(settings: NodeSettings) {
  const { name, port, restPort, folder, etcdHosts, isSynchronous } = settings
  const rest = `127.0.0.1:${restPort}`
  const role = (username: string) => ({ username, password: 'loopback' })
  return {
    scope: 'heliograph',
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { hosts: etcdHosts },
    bootstrap: {
      dcs: {
        ttl: LEASE_SECONDS,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: isSynchronous,
        primary_start_timeout: 0,
        master_start_timeout: 0,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          // A server that was rewound asks for the log since the checkpoint before both parted, which may be the whole
          // of it.
          parameters: { max_connections: 200, wal_keep_size: '2GB', shared_buffers: '64MB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: '/usr/lib/postgresql/15/bin',
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: role('postgres'),
        replication: role('replicator'),
        rewind: role('rewinder'),
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
  }
}
