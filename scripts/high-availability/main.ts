/*
 * Kills the parts of an installation one after another while devices report, and proves in the end that nothing which
 * was acknowledged is lost: three PostgreSQL servers under Patroni with a synchronous standby, three members of etcd,
 * HAProxy, three processes of the service, a receiver of pushes and one that polls. Everything is on 127.0.0.1 and in a
 * temporary folder. docs/high-availability.md says what it needs and what it found.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startBalancer } from './balancer.ts'
import { ChildProcesses } from './child-processes.ts'
import { startEtcd } from './etcd-cluster.ts'
import { startPatroni } from './patroni-cluster.ts'
import { startPooler } from './pooler.ts'
import { runRounds } from './rounds.ts'
import { startServices } from './services.ts'
import { takePorts } from './take-ports.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    agents: { type: 'string', default: '200' },
    rate: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '600' },
    json: { type: 'string' },
    pooler: { type: 'boolean', default: false },
    asynchronous: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})

const folder = await mkdtemp(join(tmpdir(), 'heliograph-ha-'))
// PostgreSQL runs as another user, who must be able to pass through.
await chmod(folder, 0o711)
const processes = new ChildProcesses(folder)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
let isProven = false
try {
  isProven = await run()
} finally {
  await processes.stop()
  if (isProven && !values.keep) await rm(folder, { recursive: true, force: true })
  else say(`The logs are in ${folder}.`)
}
process.exit(isProven ? 0 : 1)

async function run(): Promise<boolean> {
  say('Starting etcd, Patroni, HAProxy and the service ...')
  const etcd = await startEtcd(processes, folder)
  const patroni = await startPatroni(processes, folder, {
    etcdHosts: etcd.hosts,
    isSynchronous: !values.asynchronous,
  })
  const servicePorts = await takePorts(3)
  const balancer = await startBalancer(processes, folder, patroni.nodes, servicePorts)
  const primary = await patroni.findPrimary()
  const services = await startServices(folder, servicePorts, balancer, {
    primary,
    ...(values.pooler && {
      poolerPort: await startPooler(processes, folder, balancer.databasePort),
    }),
  })
  const installation = { etcd, patroni, balancer, services }
  try {
    return await runRounds(installation, {
      rounds: Number(values.rounds),
      minutes: Number(values.minutes),
      devices: Number(values.agents),
      changesPerSecond: Number(values.rate),
      isSynchronous: !values.asynchronous,
      signal: stopping.signal,
      say,
      report: async (summary) => {
        if (values.json !== undefined)
          await writeFile(values.json, `${JSON.stringify(summary, null, 2)}\n`)
      },
    })
  } finally {
    for (const [at, service] of services.processes.entries()) {
      await writeFile(join(folder, `service-${at + 1}.log`), service.output)
    }
    if (values.pooler) {
      const unprepared = services.processes.filter(({ output }) =>
        output.includes('no prepared statements'),
      )
      say(`${unprepared.length} of the services went on without prepared statements.`)
    }
    await Promise.all(services.processes.map((service) => service.stop()))
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
