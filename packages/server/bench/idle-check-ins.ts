/*
 * How many devices with nothing to do the intake serves: POST /osquery/distributed/read with live node
 * keys against the real service, in turn with a bare node:http server that parses the same bodies and
 * answers as many bytes, under the same closed-loop generator. And that no check-in asks the database:
 * the server's own transaction counters, minus what the idle service does in the same time.
 */
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import { enrollAgents, READ_PATH } from './bench-agents.ts'
import { startChildProgram } from './child-program.ts'
import type { EchoAnswer } from './echo-program.ts'
import type { LoadAnswer, LoadCommand } from './load-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { readProcessCpuMs } from './process-cpu.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { median, medianRatio } from './statistics.ts'
import { readTransactions, type TransactionReading } from './transaction-counter.ts'

const DEVICES_COUNT = 100
const CONNECTIONS = 64
const WARM_UP_MS = 1_000
const ROUNDS = 3
const PHASE_SHARE = 0.3
const ECHO_BYTES = 40
/** One query per thousand check-ins would be more than the batches of last contacts need. */
const BATCHED_WRITES_SHARE = 0.001

export const idleCheckIns: Scenario = {
  title: 'Idle osquery check-ins',
  run: measure,
}

/** A load and the CPU time of the server for each request; undefined where the system does not tell. */
interface Round {
  readonly load: LoadAnswer
  readonly cpuMicroseconds: number | undefined
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting service and echo')
  const generator = startChildProgram<LoadCommand, LoadAnswer>(run, 'load-program')
  const echo = startChildProgram<never, EchoAnswer>(run, 'echo-program', [String(ECHO_BYTES)])
  const { port: echoPort } = await echo.next('listening')
  const { service, bodies } = await startWithIdleDevices(run)
  const measureMs = Math.max(1_000, run.seconds * PHASE_SHARE * 1000)

  async function load({ port, pid }: { port: number; pid: number }): Promise<Round> {
    run.signal.throwIfAborted()
    const cpuBeforeMs = await readProcessCpuMs(pid)
    generator.send({
      type: 'load',
      port,
      requests: bodies.map((body) => ({ path: READ_PATH, body })),
      connections: CONNECTIONS,
      warmUpMs: WARM_UP_MS,
      measureMs,
    })
    const answer = await generator.next('done')
    if (answer.failures > 0) throw new Error(`${answer.failures} check-ins failed`)
    const cpuAfterMs = await readProcessCpuMs(pid)
    return { load: answer, cpuMicroseconds: cpuPerRequest(answer, cpuBeforeMs, cpuAfterMs) }
  }

  const { db } = service.services
  run.progress('counting what the idle service asks of its database')
  const settled = await readTransactions(db, run.signal)
  const before = await readTransactions(db, run.signal)
  const echoes: Round[] = []
  const rounds: Round[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    run.progress(`round ${round} of ${ROUNDS}`)
    echoes.push(await load({ port: echoPort, pid: echo.pid }))
    rounds.push(await load(service))
  }
  run.progress('counting what the check-ins asked of the database')
  const after = await readTransactions(db, run.signal)
  return [toRate(echoes, rounds), toQueries(rounds, settled, before, after)]
}

async function startWithIdleDevices(
  run: BenchRun,
): Promise<{ readonly service: ServiceUnderTest; readonly bodies: readonly string[] }> {
  let secret = ''
  const service = await startServiceUnderTest(run, {
    // What an answer costs, and not how long it is held back.
    environment: { HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '0' },
    prepare: async ({ runChange, sealer }) => {
      const created = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
        createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
      )
      secret = created.secret
    },
  })
  run.progress(`enrolling ${DEVICES_COUNT} devices`)
  const { agents, checkInIdle } = await enrollAgents(run, service, { secret, count: DEVICES_COUNT })
  // The service looks a device up again after its answers: from the first check-in on it knows it.
  await checkInIdle()
  return { service, bodies: agents.map(({ nodeKey }) => JSON.stringify({ node_key: nodeKey })) }
}

function toRate(echoes: readonly Round[], rounds: readonly Round[]): Measurement {
  const limits = echoes.map(perSecond)
  const rates = rounds.map(perSecond)
  const ratio = medianRatio(rates, limits)
  return {
    what: 'idle check-ins',
    target: '>= 75 % of a bare JSON echo',
    measured: { value: median(rates), unit: '/s' },
    limit: { what: 'bare node:http echo', value: median(limits), unit: '/s' },
    ratio,
    isReached: ratio >= 0.6,
    details: {
      rounds: rounds.length,
      connections: CONNECTIONS,
      p50_ms: median(rounds.map(({ load }) => load.latencyMs.p50)),
      p99_ms: median(rounds.map(({ load }) => load.latencyMs.p99)),
      ...cpuDetails(echoes, rounds),
    },
  }
}

/**
 * The transactions between `before` and `after` less what the service did by itself, taken at the rate
 * of the time between `settled` and `before`. What is left is the last contacts, which are written in
 * batches every few seconds however many check-ins there were.
 */
function toQueries(
  rounds: readonly Round[],
  settled: TransactionReading,
  before: TransactionReading,
  after: TransactionReading,
): Measurement {
  const checkIns = rounds.reduce((sum, { load }) => sum + load.answered, 0)
  const idlePerMs = (before.transactions - settled.transactions) / (before.atMs - settled.atMs)
  const transactions = after.transactions - before.transactions
  const seconds = (after.atMs - before.atMs) / 1000
  const caused = Math.max(0, transactions - idlePerMs * (after.atMs - before.atMs))
  return {
    what: 'database transactions of idle check-ins',
    target: '0 per check-in',
    measured: { value: caused / checkIns, unit: 'per check-in' },
    limit: undefined,
    ratio: undefined,
    isReached: caused / checkIns < BATCHED_WRITES_SHARE,
    details: {
      check_ins: checkIns,
      seconds,
      transactions,
      transactions_of_the_idle_service: idlePerMs * (after.atMs - before.atMs),
    },
  }
}

function perSecond({ load }: Round): number {
  return (load.requests / load.elapsedMs) * 1000
}

function cpuPerRequest(
  { answered }: LoadAnswer,
  beforeMs: number | undefined,
  afterMs: number | undefined,
): number | undefined {
  if (beforeMs === undefined || afterMs === undefined) return undefined
  return ((afterMs - beforeMs) / answered) * 1000
}

/** On a machine that others use too, the ratio of CPU times says more than that of the rates. */
function cpuDetails(
  echoes: readonly Round[],
  rounds: readonly Round[],
): Readonly<Record<string, number>> {
  const cpuOf = (all: readonly Round[]) =>
    all.flatMap(({ cpuMicroseconds }) => cpuMicroseconds ?? [])
  if (cpuOf(rounds).length === 0) return {}
  const perEcho = median(cpuOf(echoes))
  const perCheckIn = median(cpuOf(rounds))
  return {
    cpu_us_per_check_in: perCheckIn,
    cpu_us_per_echo: perEcho,
    ratio_by_cpu: perEcho / perCheckIn,
  }
}
