/*
 * How long a receiver waits for a change of status: devices whose check answers flip, 200 a second at
 * fixed times however slow the service is, through the whole chain (agent intake, check result, issue,
 * status, audit, outbox, signature, push) to a receiver in another process. Both ends read the clock of
 * one machine.
 *
 * The time of the commit is PostgreSQL's own, read afterwards for every change. What the agent sees is
 * no substitute: its answer comes after the commit, so that latencies from there would be flattering.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { enrollAgents, type AgentFleet } from './bench-agents.ts'
import { startChildProgram, type ChildProgram } from './child-program.ts'
import { appendServerSettings, COMMIT_TIMESTAMPS_SETTING } from './server-settings.ts'
import { CPU_MS_TARGET, measureGroups, toCostOfOne } from './grouped-changes.ts'
import { toLatencyMeasurements } from './latency-measurements.ts'
import { runOpenLoop, type OpenLoopResult } from './open-loop.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { Arrival, ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader, toCpuMs, type ServiceCost } from './service-cost.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import {
  countUndelivered,
  findLastTransitionId,
  listCommittedChanges,
  makeCheckBlock,
  type CommittedChange,
} from './signal-latency-store.ts'
import { COUNTING_SETTING, countStatements, startCountingStatements } from './statement-counter.ts'
import { summariseLatencies } from './statistics.ts'

const EVENTS_PER_SECOND = 200
const DEVICES_COUNT = 400
const WARM_UP_SECONDS = 3
/**
 * Two rounds of autovacuum, which writes a sixth of the log of a shorter phase when it falls into it, and nothing when
 * it does not.
 */
const MEASURED_SECONDS_MIN = 30
const DRAIN_TIMEOUT_MS = 30_000
const POLL_MS = 50
const WAL_BYTES_TARGET = 9 * 1_024

export const signalLatency: Scenario = {
  title: `Status change committed, to first byte at the receiver, ${EVENTS_PER_SECOND} events/s`,
  run: measure,
}

type Receiver = ChildProgram<ReceiverCommand, ReceiverAnswer>

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting service and receiver')
  const receiver: Receiver = startChildProgram(run, 'receiver-program', ['timestamps'])
  const { port } = await receiver.next('listening')
  const { service, secret, checkId } = await startService(run, `http://127.0.0.1:${port}/events`)
  const { db } = service.services

  run.progress(`enrolling ${DEVICES_COUNT} devices`)
  const fleet = await enrollAgents(run, service, { secret, count: DEVICES_COUNT })
  const flip = createFlipper(fleet, checkId)
  run.progress('warming up')
  await load(run, WARM_UP_SECONDS, flip)
  await drain(run, service)
  await takeArrivals(receiver)

  const afterId = await findLastTransitionId(db)
  const readCost = await openCostReader(service)
  const seconds = Math.max(run.seconds, MEASURED_SECONDS_MIN)
  run.progress(`measuring for ${seconds} s`)
  const statementsBefore = await countStatements(db)
  const before = await readCost()
  const loop = await load(run, seconds, flip)
  await drain(run, service)
  const after = await readCost()
  const statements = (await countStatements(db)) - statementsBefore
  const changes = await listCommittedChanges(db, afterId)
  const cost = toCostOfOne(before, after, changes.length)
  const latency = toMeasurements(loop, changes, await takeArrivals(receiver))
  const groups = await measureGroups(run, { db, readCost, flip, drain: () => drain(run, service) })
  return [...latency, ...toCostMeasurements(cost, statements / changes.length), ...groups]
}

interface StartedService {
  readonly service: ServiceUnderTest
  readonly secret: string
  readonly checkId: string
}

async function startService(run: BenchRun, endpointUrl: string): Promise<StartedService> {
  let secret = ''
  let checkId = ''
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' },
    prepare: async (services: ServiceFoundation) => {
      const { db, clock, config, runChange, sealer } = services
      checkId = await makeCheckBlock(db, 'linux')
      await insertPushStream(db, { endpointUrl, issuer: config.baseUrl, at: clock.now() })
      const created = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
        createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
      )
      secret = created.secret
    },
    prepareFolder: (dataDir) =>
      appendServerSettings(dataDir, [COMMIT_TIMESTAMPS_SETTING, COUNTING_SETTING]),
  })
  await startCountingStatements(service)
  return { service, secret, checkId }
}

/** Each call has the next device in turn answer the other way round than the last time. */
function createFlipper({ agents, answer }: AgentFleet, checkId: string) {
  const isFailing = agents.map(() => false)
  let next = 0
  return async (): Promise<void> => {
    const index = next % agents.length
    next += 1
    const agent = agents[index]
    const queryId = agent?.queryIds.find((id) => id.startsWith(`check:${checkId}:`))
    if (agent === undefined || queryId === undefined) {
      throw new Error('a device was not given the check that shall flip')
    }
    isFailing[index] = isFailing[index] !== true
    await answer(agent, [queryId], isFailing[index] ? 'FAIL' : 'PASS')
  }
}

async function load(
  run: BenchRun,
  seconds: number,
  flip: () => Promise<void>,
): Promise<OpenLoopResult> {
  const { signal } = run
  const result = await runOpenLoop({
    ratePerSecond: EVENTS_PER_SECOND,
    seconds,
    signal,
    send: flip,
  })
  if (result.failures === 0) return result
  throw new Error(`${result.failures} answers of devices were refused`, {
    cause: result.firstFailure,
  })
}

async function drain({ signal }: BenchRun, { services }: ServiceUnderTest): Promise<void> {
  const endMs = performance.now() + DRAIN_TIMEOUT_MS
  while ((await countUndelivered(services.db)) > 0) {
    signal.throwIfAborted()
    if (performance.now() > endMs) throw new Error('the events were not delivered in time')
    await sleep(POLL_MS)
  }
}

async function takeArrivals(receiver: Receiver): Promise<Map<string, number>> {
  receiver.send({ type: 'report' })
  const { arrivals } = await receiver.next('report')
  // The first arrival counts: a repetition would be later.
  return new Map([...arrivals].reverse().map(({ txn, atMs }: Arrival) => [txn, atMs]))
}

function toCostMeasurements(cost: ServiceCost, statements: number): Measurement[] {
  const { serviceCpuMs, databaseCpuMs, walBytes } = cost
  const cpuMs = toCpuMs(cost)
  const shared = { limit: undefined, ratio: undefined }
  return [
    {
      what: 'CPU time of a change of status, answer to recorded delivery',
      target: `<= ${CPU_MS_TARGET} ms`,
      measured: { value: cpuMs, unit: 'ms' },
      ...shared,
      isReached: cpuMs <= CPU_MS_TARGET,
      details: { service_ms: serviceCpuMs, postgresql_ms: databaseCpuMs, statements },
    },
    {
      what: 'log of a change of status',
      target: `<= ${WAL_BYTES_TARGET} bytes`,
      measured: { value: walBytes, unit: 'bytes' },
      ...shared,
      isReached: walBytes <= WAL_BYTES_TARGET,
      details: {},
    },
  ]
}

function toMeasurements(
  loop: OpenLoopResult,
  changes: readonly CommittedChange[],
  arrivals: ReadonlyMap<string, number>,
): Measurement[] {
  const fromCommit: number[] = []
  const fromBegin: number[] = []
  for (const { txn, committedAtMs, occurredAtMs } of changes) {
    const atMs = arrivals.get(txn)
    if (atMs === undefined) throw new Error(`the change ${txn} did not reach the receiver`)
    fromCommit.push(atMs - committedAtMs)
    fromBegin.push(atMs - occurredAtMs)
  }
  const latency = summariseLatencies(fromCommit)
  const begin = summariseLatencies(fromBegin)
  const answered = summariseLatencies(loop.latenciesMs)
  const details = {
    events: latency.count,
    rate_per_s: loop.ratePerSecond,
    max_ms: latency.max,
    from_begin_of_change_p50_ms: begin.p50,
    from_begin_of_change_p99_ms: begin.p99,
    agent_answered_p50_ms: answered.p50,
    agent_answered_p99_ms: answered.p99,
  }
  return toLatencyMeasurements('commit to first byte', latency, details)
}
