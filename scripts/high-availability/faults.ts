/* What is done to the parts, one in each round. What was ended is started again, as a supervisor of processes does. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceProcess } from '../../packages/server/test/e2e/support/service-process.ts'
import type { Balancer } from './balancer.ts'
import type { EtcdCluster } from './etcd-cluster.ts'
import { LEASE_SECONDS, type DatabaseNode, type PatroniCluster } from './patroni-cluster.ts'
import type { Services } from './services.ts'

export interface Installation {
  readonly etcd: EtcdCluster
  readonly patroni: PatroniCluster
  readonly balancer: Balancer
  readonly services: Services
}

export interface Fault {
  readonly name: string
  /** Does it, and resolves when the part has been started again. `begun` is called at the moment of the fault. */
  readonly inflict: (installation: Installation, begun: () => void) => Promise<void>
}

const RESTART_MS = 1_000
const STARTS_MAX = 30
/** Longer than the lease of the primary: the others take over meanwhile. */
const FROZEN_PRIMARY_MS = (LEASE_SECONDS + 6) * 1_000
const FROZEN_SERVICE_MS = 6_000
/** Until a standby has taken over, so that the node that is lost comes back as one that follows. */
const LOST_MS = (LEASE_SECONDS + 4) * 1_000

/** In the order of the rounds. */
export const FAULTS: readonly Fault[] = [
  fault('primary lost (kill -9 of Patroni and the server)', async ({ patroni }, begun) => {
    const { program } = await patroni.findPrimary()
    begun()
    await program.kill()
    await sleep(LOST_MS)
    program.start()
  }),
  fault('service killed (kill -9)', ({ services }, begun) =>
    killService(pick(services.processes), begun),
  ),
  fault('server of the primary killed (kill -9)', async ({ patroni }, begun) => {
    const primary = await patroni.findPrimary()
    begun()
    kill(primary)
    await sleep(RESTART_MS)
  }),
  fault('HAProxy killed (kill -9)', async ({ balancer: { program } }, begun) => {
    begun()
    await program.kill()
    await sleep(RESTART_MS)
    program.start()
  }),
  fault('switchover', async ({ patroni }, begun) => {
    begun()
    await patroni.switchOver()
  }),
  fault('leader of etcd killed (kill -9)', async ({ etcd }, begun) => {
    const program = await etcd.findLeader()
    begun()
    await program.kill()
    await sleep(RESTART_MS)
    program.start()
  }),
  fault('service frozen (SIGSTOP, SIGCONT)', async ({ services }, begun) => {
    const service = pick(services.processes)
    begun()
    service.signal('SIGSTOP')
    await sleep(FROZEN_SERVICE_MS)
    service.signal('SIGCONT')
  }),
  fault('primary frozen (SIGSTOP, SIGCONT after the takeover)', async ({ patroni }, begun) => {
    const { program } = await patroni.findPrimary()
    begun()
    program.signal('SIGSTOP', 'family')
    await sleep(FROZEN_PRIMARY_MS)
    program.signal('SIGCONT', 'family')
  }),
  fault('synchronous standby lost (kill -9)', async ({ patroni }, begun) => {
    const { program } = await patroni.findSynchronousStandby()
    begun()
    await program.kill()
    await sleep(RESTART_MS)
    program.start()
  }),
  fault('primary and a service lost at once', async ({ patroni, services }, begun) => {
    const { program } = await patroni.findPrimary()
    const service = pick(services.processes)
    begun()
    await Promise.all([program.kill(), killService(service, () => undefined)])
    await sleep(LOST_MS)
    program.start()
  }),
]

/** How long nothing is sent to the standbys before the primary is lost. */
const LAG_MS = 500

/** Where commits wait for no standby: the primary is lost, half a second of its commits with it. */
export const LOSING_FAULTS: readonly Fault[] = [
  fault('primary lost while its standbys lag', async ({ patroni }, begun) => {
    const { program } = await patroni.findPrimary()
    for (const pid of program.pids().filter(isWalSender)) process.kill(pid, 'SIGSTOP')
    await sleep(LAG_MS)
    begun()
    await program.kill()
    await sleep(LOST_MS)
    program.start()
  }),
]

function isWalSender(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('walsender')
}

function fault(name: string, inflict: Fault['inflict']): Fault {
  return { name, inflict }
}

async function killService(service: ServiceProcess, begun: () => void): Promise<void> {
  begun()
  await service.kill(false)
  await restart(service)
}

/** It ends again where it finds no database, and a supervisor starts it anew. */
async function restart(service: ServiceProcess): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await sleep(RESTART_MS)
    try {
      await service.start()
      return
    } catch (error) {
      if (attempt === STARTS_MAX) throw error
    }
  }
}

function kill(node: DatabaseNode): void {
  const pid = node.findPostmasterPid()
  if (pid === undefined) throw new Error(`the server of ${node.name} does not run`)
  process.kill(pid, 'SIGKILL')
}

function pick<Item>(items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(Math.random() * items.length)] ?? items[0]
}
