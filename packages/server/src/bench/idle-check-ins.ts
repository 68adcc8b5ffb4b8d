/*
 * How many devices with nothing to do the intake serves: POST /osquery/distributed/read with live node
 * keys against the real service, in turn with a bare node:http server that parses the same bodies and
 * answers as many bytes, under the same closed-loop generator. And that no check-in asks the database:
 * the server's own transaction counters, minus what the idle service does in the same time.
 */
import { SYSTEM_ACTOR } from '../audit/audit-entry.ts'
import { createEnrollmentSecret } from '../enrollment-secrets/create-enrollment-secret.ts'
import { enrollAgents } from './bench-agents.ts'
import { startChildProgram } from './child-program.ts'
import type { EchoAnswer } from './echo-program.ts'
import type { LoadAnswer, LoadCommand } from './load-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { median } from './statistics.ts'
import { readTransactions, type TransactionReading } from './transaction-counter.ts'

const DEVICES_COUNT = 100
const CONNECTIONS = 64
const WARM_UP_MS = 1_000
const ROUNDS = 3
const PHASE_SHARE = 0.4
const READ_PATH = '/osquery/distributed/read'
const ECHO_BYTES = 40
/** One query per thousand check-ins would be more than the batches of last contacts need. */
const BATCHED_WRITES_SHARE = 0.001

export const idleCheckIns: Scenario = {
  name: 'check-ins',
  title: 'Idle osquery check-ins',
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting service and echo')
  const generator = startChildProgram<LoadCommand, LoadAnswer>(run, 'load-program')
  const echo = startChildProgram<never, EchoAnswer>(run, 'echo-program', [String(ECHO_BYTES)])
  const { port: echoPort } = await echo.next('listening')
  const { service, bodies } = await startWithIdleDevices(run)
  const measureMs = Math.max(1_000, run.seconds * PHASE_SHARE * 1000)

  async function load(port: number): Promise<LoadAnswer> {
    run.signal.throwIfAborted()
    generator.send({
      type: 'load',
      port,
      path: READ_PATH,
      bodies,
      connections: CONNECTIONS,
      warmUpMs: WARM_UP_MS,
      measureMs,
    })
    const answer = await generator.next('done')
    if (answer.failures > 0) throw new Error(`${answer.failures} check-ins failed`)
    return answer
  }

  const { db } = service.services
  run.progress('counting what the idle service asks of its database')
  const settled = await readTransactions(db, run.signal)
  const before = await readTransactions(db, run.signal)
  const echoes: LoadAnswer[] = []
  const answers: LoadAnswer[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    run.progress(`round ${round} of ${ROUNDS}`)
    echoes.push(await load(echoPort))
    answers.push(await load(service.port))
  }
  run.progress('counting what the check-ins asked of the database')
  const after = await readTransactions(db, run.signal)
  return [toRate(echoes, answers), toQueries(answers, settled, before, after)]
}

async function startWithIdleDevices(
  run: BenchRun,
): Promise<{ readonly service: ServiceUnderTest; readonly bodies: readonly string[] }> {
  let secret = ''
  const service = await startServiceUnderTest(run, {
    prepare: async ({ runChange, sealer }) => {
      const created = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
        createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
      )
      secret = created.secret
    },
  })
  run.progress(`enrolling ${DEVICES_COUNT} devices`)
  const { agents } = await enrollAgents(run, service, { secret, count: DEVICES_COUNT })
  return { service, bodies: agents.map(({ nodeKey }) => JSON.stringify({ node_key: nodeKey })) }
}

function toRate(echoes: readonly LoadAnswer[], answers: readonly LoadAnswer[]): Measurement {
  const limit = median(echoes.map(perSecond))
  const value = median(answers.map(perSecond))
  const ratio = value / limit
  return {
    what: 'idle check-ins',
    target: '>= 60 % of a bare JSON echo',
    measured: { value, unit: '/s' },
    limit: { what: 'bare node:http echo', value: limit, unit: '/s' },
    ratio,
    isReached: ratio >= 0.6,
    details: {
      rounds: answers.length,
      connections: CONNECTIONS,
      p50_ms: median(answers.map(({ latencyMs }) => latencyMs.p50)),
      p99_ms: median(answers.map(({ latencyMs }) => latencyMs.p99)),
    },
  }
}

/**
 * The transactions between `before` and `after` less what the service did by itself, taken at the rate
 * of the time between `settled` and `before`. What is left is the last contacts, which are written in
 * batches every few seconds however many check-ins there were.
 */
function toQueries(
  answers: readonly LoadAnswer[],
  settled: TransactionReading,
  before: TransactionReading,
  after: TransactionReading,
): Measurement {
  const checkIns = answers.reduce((sum, { answered }) => sum + answered, 0)
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

function perSecond({ requests, elapsedMs }: LoadAnswer): number {
  return (requests / elapsedMs) * 1000
}
