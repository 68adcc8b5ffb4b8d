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
import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from './balancer.ts'
import { ChildProcesses, waitUntil } from './child-processes.ts'
import { startEtcd } from './etcd-cluster.ts'
import { FAULTS, type Fault, type Installation } from './faults.ts'
import { startPatroni } from './patroni-cluster.ts'
import { startPooler } from './pooler.ts'
import { listStatusChanges, prove } from './proof.ts'
import { startPolling, startPushReceiver } from './receivers.ts'
import { startServices } from './services.ts'
import { prepareOrganisation } from './prepare-organisation.ts'
import { summarise, type Round } from './summary.ts'
import { takePorts } from './take-ports.ts'
import { startWorkload, WriteProbe, type Workload } from './workload.ts'

const WELL_MAX_MS = 300_000
const DRAIN_MAX_MS = 180_000
/** How long everything must have been served before the next fault. */
const CALM_MS = 1_500

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    agents: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '600' },
    json: { type: 'string' },
    pooler: { type: 'boolean', default: false },
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
  const patroni = await startPatroni(processes, folder, etcd.hosts)
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
    return await runRounds(installation)
  } catch (error) {
    for (const [at, service] of services.processes.entries()) {
      await writeFile(join(folder, `service-${at + 1}.log`), service.output)
    }
    throw error
  } finally {
    await Promise.all(services.processes.map((service) => service.stop()))
  }
}

async function runRounds(installation: Installation): Promise<boolean> {
  const { services } = installation
  const { baseUrl } = services
  const push = await startPushReceiver()
  const prepared = await prepareOrganisation(services, push.url)
  const { key, checkId, groupUrls, enrollmentSecret, pushStream, pollStream } = prepared
  push.begin(pushStream, baseUrl)
  const stopPolling = new AbortController()
  const poll = startPolling(pollStream, baseUrl, key, stopPolling.signal)
  const workload = await startWorkload({
    baseUrl,
    count: Number(values.agents),
    enrollmentSecret,
    checkId,
  })
  const probe = new WriteProbe(groupUrls, key)
  const rounds: Round[] = []
  const failures: string[] = []
  const beganMs = performance.now()
  const endMs = beganMs + Number(values.minutes) * 60_000
  for (let number = 0; number < Number(values.rounds); number += 1) {
    if (stopping.signal.aborted || performance.now() > endMs) break
    const fault = FAULTS[number % FAULTS.length]
    if (fault === undefined) break
    const round = await waitUntilWell(installation, probe)
      .then(() => runRound({ fault, installation, probe, workload }))
      .catch((error: unknown) => {
        failures.push(String(error))
      })
    // What was lost by it shows in the proof.
    if (round === undefined) break
    rounds.push(round)
    say(
      `${number + 1}. ${fault.name}: requests served again after ${round.outageMs} ms, answers of every device after ${round.answersMs} ms${round.laterMs === 0 ? '' : `, requests held up later for ${round.laterMs} ms`}`,
    )
  }
  if (failures.length === 0) await waitUntilWell(installation, probe)
  const tookSeconds = Math.round((performance.now() - beganMs) / 1_000)
  probe.stop()
  await workload.stop()
  const changes = await readChanges(installation)
  const inboxes = { push: push.inbox, poll: poll.inbox }
  await waitUntil(
    () => changes.every(({ txn }) => push.inbox.hasTxn(txn) && poll.inbox.hasTxn(txn)),
    DRAIN_MAX_MS,
    'the last events',
  ).catch((error: unknown) => say(String(error)))
  stopPolling.abort()
  await poll.ended
  push.close()
  const proof = prove({ changes, agents: workload.agents, checkId, inboxes })
  const audit = await services.processes[0].command('audit', 'verify')
  const isWhole = (audit as { isWhole: boolean }).isWhole
  const problems = [
    ...failures,
    ...proof.problems,
    ...(isWhole ? [] : ['the audit chain is broken']),
  ]
  const summary = {
    ...summarise(rounds),
    seconds: tookSeconds,
    agents: workload.agents.length,
    status_changes_per_second: Math.round((10 * proof.statusChanges) / tookSeconds) / 10,
    proof: { ...proof, problems, audit },
  }
  say(JSON.stringify({ ...summary, list: undefined }, null, 2))
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify(summary, null, 2)}\n`)
  return problems.length === 0
}

interface RoundContext {
  readonly fault: Fault
  readonly installation: Installation
  readonly probe: WriteProbe
  readonly workload: Workload
}

async function runRound({ fault, installation, probe, workload }: RoundContext): Promise<Round> {
  let beganMs = performance.now()
  let counts = workload.counts()
  let answersMs = 0
  const watch = async () => {
    // The answer that was on its way may have been accepted before.
    await waitUntil(
      () => workload.counts().every((count, at) => count >= (counts[at] ?? 0) + 2),
      WELL_MAX_MS,
      `answers after: ${fault.name}`,
    )
    answersMs = Math.round(performance.now() - beganMs)
  }
  let watching: Promise<void> | undefined
  await fault.inflict(installation, () => {
    beganMs = performance.now()
    counts = workload.counts()
    watching = watch()
  })
  await watching
  await waitUntilWell(installation, probe)
  return { fault: fault.name, ...probe.findOutage(beganMs), answersMs }
}

/** Everything is there, and was for a moment: only one thing fails at a time. */
async function waitUntilWell(
  { etcd, patroni, services }: Installation,
  probe: WriteProbe,
): Promise<void> {
  let waitingFor = ''
  const conditions = {
    etcd: () => etcd.isWell(),
    Patroni: () => patroni.isWell(),
    'the processes': () => services.areReady(),
    'the noted standby': () => isNotedSynchronous(services),
    requests: async () => probe.isServedFor(CALM_MS),
  }
  const areAllWell = async () => {
    for (const [name, isWell] of Object.entries(conditions)) {
      waitingFor = name
      if (!(await isWell())) return false
    }
    return true
  }
  await waitUntil(areAllWell, WELL_MAX_MS, 'everything to be well').catch((error: unknown) => {
    throw new Error(`waited in vain for ${waitingFor} to be well`, { cause: error })
  })
}

/** Whether the service knows that commits wait for a standby: a takeover is not complete otherwise. */
async function isNotedSynchronous(services: Installation['services']): Promise<boolean> {
  try {
    const client = await services.connect()
    try {
      const { rows } = await client.query<{ is_synchronous: boolean }>(
        'select is_synchronous from database_origin',
      )
      return rows[0]?.is_synchronous === true
    } finally {
      await client.end()
    }
  } catch {
    await sleep(200)
    return false
  }
}

async function readChanges({ services }: Installation) {
  const database = await services.connect()
  try {
    return await listStatusChanges(database)
  } finally {
    await database.end()
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
