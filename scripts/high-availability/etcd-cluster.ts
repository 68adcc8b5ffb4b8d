/* Three members of etcd, which decide for Patroni who is primary. */
import { join } from 'node:path'
import { waitUntil, type ChildProcesses, type Program } from './child-processes.ts'
import { takePorts } from './take-ports.ts'

export interface EtcdCluster {
  /** `host:port` of each member. */
  readonly hosts: readonly string[]
  readonly programs: readonly Program[]
  findLeader(): Promise<Program>
  isWell(): Promise<boolean>
}

interface Status {
  readonly leader?: string
  readonly header?: { readonly member_id?: string }
}

const START_MAX_MS = 60_000

export async function startEtcd(processes: ChildProcesses, folder: string): Promise<EtcdCluster> {
  const members = await Promise.all(
    ['etcd-1', 'etcd-2', 'etcd-3'].map(async (name) => {
      const [client = 0, peer = 0] = await takePorts(2)
      return { name, client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` }
    }),
  )
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const running = members.map((member) => ({
    ...member,
    program: processes.run(member.name, [
      'etcd',
      ...['--name', member.name, '--data-dir', join(folder, member.name)],
      ...['--listen-client-urls', member.client, '--advertise-client-urls', member.client],
      ...['--listen-peer-urls', member.peer, '--initial-advertise-peer-urls', member.peer],
      ...['--initial-cluster', cluster, '--initial-cluster-token', 'heliograph'],
      ...['--heartbeat-interval', '100', '--election-timeout', '1000', '--logger', 'zap'],
    ]),
  }))
  const readStatuses = () => Promise.all(running.map(({ client }) => readStatus(client)))
  const isWell = async () => {
    const leaders = new Set((await readStatuses()).map((status) => status?.leader))
    return leaders.size === 1 && !leaders.has(undefined) && !leaders.has('0')
  }
  await waitUntil(isWell, START_MAX_MS, 'etcd')
  return {
    hosts: members.map(({ client }) => new URL(client).host),
    programs: running.map(({ program }) => program),
    isWell,
    async findLeader() {
      const statuses = await readStatuses()
      const at = statuses.findIndex((status) => status?.leader === status?.header?.member_id)
      const leader = running[at]
      if (leader === undefined) throw new Error('etcd has no leader')
      return leader.program
    },
  }
}

async function readStatus(client: string): Promise<Status | undefined> {
  try {
    const response = await fetch(`${client}/v3/maintenance/status`, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(2_000),
    })
    return (await response.json()) as Status
  } catch {
    return undefined
  }
}
