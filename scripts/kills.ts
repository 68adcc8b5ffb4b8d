/*
 * Kills processes of the service in the middle of their work, many times, on one database, and proves in the end that
 * nothing which was acknowledged is lost. `node scripts/run.mjs kills [--rounds <n>] [--seed <n>] [--json <file>]`.
 * docs/high-availability.md says what it does and what it found.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { OWNER_ROLE } from '@heliograph/embedded-postgres'
import { DatabaseClient } from '../packages/server/src/platform/db/database-client.ts'
import { toUrl } from '../packages/server/test/support/to-url.ts'
import type { ServiceProcess } from '../packages/server/test/e2e/support/service-process.ts'
import { waitUntil } from './high-availability/child-processes.ts'
import { prepareOrganisation } from './high-availability/prepare-organisation.ts'
import { takePorts } from './high-availability/take-ports.ts'
import { readArrivals } from './kills/arrival.ts'
import { GroupWriter } from './kills/group-writer.ts'
import { KilledService } from './kills/killed-service.ts'
import { proveKills } from './kills/kills-proof.ts'
import { toReceiverEvidence } from './kills/receiver-evidence.ts'
import { Receiver } from './kills/receiver.ts'
import { runRounds, type RoundCounts } from './kills/rounds.ts'
import { countUnfinished, countUnlinked } from './kills/stored-evidence-read.ts'
import { startWorkload } from './kills/workload.ts'
import { Balancer } from './versions/balancer.ts'

const HOST = '127.0.0.1'
const POOL_MAX = 4
/** Besides its pool a process opens one connection that listens, six for deliveries and two for reporting queries. */
const CONNECTIONS_OF_ONE = POOL_MAX + 9
/** A delivery that failed three times is tried again after five minutes, and a fifth more at most. */
const DRAIN_MAX_MS = 600_000
const DATABASE_MAX_MS = 300_000
const REPORT_EVERY = 10
const WRITERS = 4

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    services: { type: 'string', default: '3' },
    agents: { type: 'string', default: '8' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

const folder = await mkdtemp(join(tmpdir(), 'heliograph-kills-'))
// As root the database runs as another user, who must be able to pass through.
await chmod(folder, 0o711)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
const cleanUp: (() => unknown)[] = []
let isProven = false
try {
  isProven = await run()
} finally {
  for (const undo of cleanUp.reverse()) await undo()
  if (isProven && !values.keep) await rm(folder, { recursive: true, force: true })
  else say(`What the receiver wrote down and the database are in ${folder}.`)
}
process.exit(isProven ? 0 : 1)

async function run(): Promise<boolean> {
  const seed = Number(values.seed)
  say(`Seed ${seed}.`)
  const [balancerPort = 0] = await takePorts(1)
  const baseUrl = `http://${HOST}:${balancerPort}`
  const services = await startServices(baseUrl)
  const balancer = new Balancer(services, (at, { method, url = '' }) => {
    if (method === 'PATCH' || url.endsWith('/distributed/write'))
      services[at]?.noteAcknowledgement()
  })
  await balancer.listen(balancerPort)
  cleanUp.push(() => balancer.close())

  const prepared = await prepare(baseUrl, services[0].process)
  const { receiver, arrivals, webhookId } = prepared
  const workload = await startWorkload({
    baseUrl,
    count: Number(values.agents),
    enrollmentSecret: prepared.enrollmentSecret,
    checkId: prepared.checkId,
  })
  const writers = prepared.groupUrls
    .slice(0, WRITERS)
    .map((url) => new GroupWriter(url, prepared.key))

  const beganMs = performance.now()
  const counts = await runRounds({
    count: Number(values.rounds),
    seed,
    services,
    receiver,
    signal: stopping.signal,
    onRound: (sofar) => reportRound(sofar, beganMs),
  })
  const seconds = Math.round((performance.now() - beganMs) / 1_000)
  await Promise.all([workload.stop(), ...writers.map((writer) => writer.stop())])
  say('The last answers are in; waiting for the last deliveries ...')
  const database = new DatabaseClient(await readConnection())
  await database.connect()
  cleanUp.push(() => database.end())
  await waitUntil(
    async () => (await countUnfinished(database)) + (await countUnlinked(database)) === 0,
    DRAIN_MAX_MS,
    'the last deliveries',
  ).catch((error: unknown) => say(String(error)))
  await receiver.stop()
  const proof = await proveKills({
    database,
    agents: workload.agents,
    checkId: prepared.checkId,
    writers,
    webhookId,
    received: toReceiverEvidence(await readArrivals(arrivals)),
    audit: (await services[0].process.command('audit', 'verify')) as { readonly is_whole: boolean },
  })
  const summary = { seed, seconds, counts, ...proof }
  say(JSON.stringify(summary, null, 2))
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify(summary, null, 2)}\n`)
  return proof.problems.length === 0 && counts.rounds >= Number(values.rounds)
}

/** An organisation with two streams and a webhook, and the receiver of all three. */
async function prepare(baseUrl: string, process: ServiceProcess) {
  const [port = 0] = await takePorts(1)
  const receiverUrl = `http://${HOST}:${port}`
  const organisation = await prepareOrganisation(
    { baseUrl, processes: [process] },
    `${receiverUrl}/events`,
  )
  const { key, pushStream, pollStream } = organisation
  const webhook = (await process.command(
    ...['webhooks', 'create', '--name', 'test', '--url', `${receiverUrl}/hooks`],
    ...['--event', 'audit_log.recorded', '--event', 'device_trust.status_changed'],
  )) as { id: string; secret: string }
  const arrivals = join(folder, 'arrivals')
  const receiver = new Receiver({
    baseUrl,
    port,
    path: arrivals,
    key,
    pushAudience: pushStream.aud,
    pollAudience: pollStream.aud,
    pollUrl: pollStream.delivery.endpoint_url,
    webhookSecret: webhook.secret,
  })
  await receiver.start()
  cleanUp.push(() => receiver.stop())
  return { ...organisation, receiver, arrivals, webhookId: webhook.id }
}

/** The first with the embedded database, the others beside it. */
async function startServices(baseUrl: string) {
  const environment = {
    HELIOGRAPH_BASE_URL: baseUrl,
    HELIOGRAPH_CHECK_INTERVAL_SECONDS: '1',
    HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
    HELIOGRAPH_DATABASE_POOL_MAX: String(POOL_MAX),
    HELIOGRAPH_LOG_LEVEL: 'warn',
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const [port = 0, ...otherPorts] = await takePorts(Number(values.services))
  const owner = new KilledService('service-1', {
    dataDir: join(folder, 'data'),
    port,
    // The embedded database takes as many connections as its process may open, and some more.
    environment: {
      ...environment,
      HELIOGRAPH_DATABASE_POOL_MAX: String((otherPorts.length + 1) * CONNECTIONS_OF_ONE),
    },
  })
  cleanUp.push(() => owner.stop())
  await owner.start()
  const connection = await readConnection()
  const database = {
    DATABASE_URL: toUrl(connection),
    HELIOGRAPH_MIGRATION_DATABASE_URL: toUrl({ ...connection, user: OWNER_ROLE }),
  }
  const others = await Promise.all(
    otherPorts.map(async (otherPort, at) => {
      const dataDir = join(folder, `data-${at + 2}`)
      await mkdir(dataDir, { mode: 0o700 })
      const other = new KilledService(
        `service-${at + 2}`,
        { dataDir, port: otherPort, environment: { ...environment, ...database } },
        () => waitUntil(() => owner.isInRotation, DATABASE_MAX_MS, 'the database'),
      )
      cleanUp.push(() => other.stop())
      await other.start()
      return other
    }),
  )
  return [owner, ...others] as const
}

/** How to reach the embedded database: by its socket, which stays where it is. */
async function readConnection() {
  const text = await readFile(join(folder, 'data', 'database.json'), 'utf8')
  const { connection } = JSON.parse(text) as {
    connection: { host: string; port: number; user: string; database: string }
  }
  return connection
}

function reportRound({ rounds, database, receiver }: RoundCounts, beganMs: number): void {
  if (rounds % REPORT_EVERY !== 0) return
  const seconds = Math.round((performance.now() - beganMs) / 1_000)
  say(
    `${rounds} rounds in ${seconds} s, ${database} with the database, ${receiver} with the receiver`,
  )
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
