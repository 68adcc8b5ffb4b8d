/*
 * What a unit of work costs when 1, 2 and 4 processes of each role share one database, each loaded as one alone would
 * be: CPU time of all processes and of PostgreSQL, less what they use while nothing happens; beside them bare servers,
 * which have nothing in common but the machine. And that the limit of requests is exact over all processes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import { createKeyAdmin, createTestKey } from '../test/support/api-keys.ts'
import { measureBareAnswers } from './bare-answers.ts'
import { enrollAgents } from './bench-agents.ts'
import { startChildProgram } from './child-program.ts'
import {
  openInstallation,
  startProcesses,
  startProcessGroup,
  type Installation,
  type ProcessGroup,
} from './process-group.ts'
import {
  CONNECTIONS,
  drain,
  IDLE_CHECK_IN,
  UNITS,
  type FlippingDevice,
  type Unit,
  type UnitBench,
} from './process-units.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import { startLoadGenerator } from './request-cost.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { countUndelivered, makeCheckBlock } from './signal-latency-store.ts'

/** One process of each role comes first and last, so that the mean of both stands for the whole run. */
const GROUP_SIZES = [1, 2, 4, 1]
const LARGEST = Math.max(...GROUP_SIZES)
const DEVICES_COUNT = 200
const WARM_UP_SHARE = 0.5
const IDLE_MS = 3_000
const FULL_SECONDS = 10
const RATIO_MAX = 1.1
const REQUESTS_PER_MINUTE = 500

export const processes: Scenario = {
  title: '1, 2 and 4 processes of each role over one database',
  run: measure,
}

/** What one unit cost in a group, CPU time in milliseconds. */
interface UnitCost {
  readonly cpuMs: number
  readonly serviceMs: number
  readonly databaseMs: number
}

interface GroupCosts {
  readonly count: number
  /** The share of a core that all processes and PostgreSQL use while nothing happens. */
  readonly idle: number
  readonly units: ReadonlyMap<Unit, UnitCost>
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the database and a receiver')
  const receiver = startChildProgram<ReceiverCommand, ReceiverAnswer>(run, 'receiver-program')
  const { port } = await receiver.next('listening')
  const installation = await openInstallation(run)
  const prepared = await prepare(installation, `http://127.0.0.1:${port}/events`)
  const generators = Array.from({ length: LARGEST }, () => startLoadGenerator(run))
  const groups: GroupCosts[] = []
  let devices: readonly FlippingDevice[] | undefined
  for (const size of GROUP_SIZES) {
    const group = await startProcessGroup(installation, size)
    devices ??= await enrollDevices(run, group, prepared)
    groups.push(await measureGroup({ ...installation, ...prepared, group, generators, devices }))
    await group.stop()
  }
  const { perProcess } = IDLE_CHECK_IN
  const load = { generators, connections: CONNECTIONS, perProcess: toPhase(run, perProcess) }
  const bare = await measureBareAnswers(run, GROUP_SIZES, load)
  const limits: Measurement[] = []
  for (const size of [2, 4]) limits.push(await measureLimit(installation, generators, size))
  return [...toMeasurements(groups), ...bare, ...limits]
}

interface Prepared {
  readonly destinationId: DestinationId
  readonly key: string
  readonly secret: string
  readonly checkId: string
}

async function prepare({ services }: Installation, endpointUrl: string): Promise<Prepared> {
  const { db, clock, config, runChange, sealer } = services
  const checkId = await makeCheckBlock(db, 'linux')
  const issuer = config.baseUrl
  const destinationId = await insertPushStream(db, { endpointUrl, issuer, at: clock.now() })
  const { secret } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
  )
  await createKeyAdmin(runChange)
  return { checkId, destinationId, secret, key: await createTestKey(services, []) }
}

async function enrollDevices(
  run: BenchRun,
  { ports }: ProcessGroup,
  { secret, checkId }: Prepared,
): Promise<FlippingDevice[]> {
  run.progress(`enrolling ${DEVICES_COUNT} devices`)
  const url = `http://127.0.0.1:${ports.agents[0] ?? 0}`
  const { agents } = await enrollAgents(run, { url }, { secret, count: DEVICES_COUNT })
  return agents.map(({ nodeKey, queryIds }, index) => {
    const queryId = queryIds.find((id) => id.startsWith(`check:${checkId}:`))
    if (queryId === undefined) throw new Error('a device was not given the check that shall flip')
    return { id: String(index + 1), nodeKey, queryId, isFailing: false }
  })
}

async function measureGroup(bench: UnitBench): Promise<GroupCosts> {
  const { run, group } = bench
  await drain(bench)
  run.progress(`${group.count} of each role: idle`)
  await sleep(IDLE_MS, undefined, { signal: run.signal })
  const [before, startMs] = [await group.readCost(), performance.now()]
  await sleep(IDLE_MS, undefined, { signal: run.signal })
  const elapsedMs = performance.now() - startMs
  const after = await group.readCost()
  const idle = {
    serviceMs: (after.serviceCpuMs - before.serviceCpuMs) / elapsedMs,
    databaseMs: (after.databaseCpuMs - before.databaseCpuMs) / elapsedMs,
  }
  const units = new Map<Unit, UnitCost>()
  for (const unit of UNITS) {
    run.progress(`${group.count} of each role: ${unit.what}`)
    await sendUnits(bench, unit, WARM_UP_SHARE)
    units.set(unit, await measureUnit(bench, unit, idle))
  }
  return { count: group.count, idle: idle.serviceMs + idle.databaseMs, units }
}

/** Of what one process does while it is measured; answers how many that is. */
function countOf({ run, group }: UnitBench, { perProcess }: Unit, share: number): number {
  return toPhase(run, perProcess * share) * group.count
}

/** Of as many in a full phase, those of a phase of this run. */
function toPhase({ seconds }: BenchRun, count: number): number {
  return Math.max(1, Math.round((count * seconds) / FULL_SECONDS))
}

async function sendUnits(bench: UnitBench, unit: Unit, share: number): Promise<void> {
  const count = countOf(bench, unit, share)
  await unit.prepare?.(bench, count)
  await unit.send(bench, count)
}

async function measureUnit(
  bench: UnitBench,
  unit: Unit,
  idle: Omit<UnitCost, 'cpuMs'>,
): Promise<UnitCost> {
  const { group, services } = bench
  const count = countOf(bench, unit, 1)
  await unit.prepare?.(bench, count)
  // A worker may have found some of what was queued meanwhile.
  const units = unit.prepare === undefined ? count : await countUndelivered(services.db)
  const [before, startMs] = [await group.readCost(), performance.now()]
  await unit.send(bench, count)
  const elapsedMs = performance.now() - startMs
  const after = await group.readCost()
  const serviceMs = (after.serviceCpuMs - before.serviceCpuMs - idle.serviceMs * elapsedMs) / units
  const databaseMs =
    (after.databaseCpuMs - before.databaseCpuMs - idle.databaseMs * elapsedMs) / units
  return { cpuMs: serviceMs + databaseMs, serviceMs, databaseMs }
}

/** One key sends more than it may to all processes at once, within the minute that counts. */
async function measureLimit(
  installation: Installation,
  generators: UnitBench['generators'],
  size: number,
): Promise<Measurement> {
  const { run, services } = installation
  const key = await createTestKey(services, [])
  const limited = await startProcesses(installation, {
    role: 'api',
    count: size,
    settings: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: String(REQUESTS_PER_MINUTE) },
  })
  run.progress(`the limit of requests over ${size} processes`)
  const startMs = performance.now()
  const answers = await Promise.all(
    limited.map(async ({ port }, process) => {
      const generator = generators[process]
      if (generator === undefined) throw new Error('there are fewer generators than processes')
      const request = { path: '/devices/1', authorization: `Bearer ${key}` }
      const requests = Array.from({ length: REQUESTS_PER_MINUTE }, () => request)
      const load = { port, requests, connections: 16, warmUpMs: 0, measureMs: 'once' } as const
      generator.send({ type: 'load', ...load })
      return generator.next('done')
    }),
  )
  const seconds = (performance.now() - startMs) / 1_000
  await Promise.all(limited.map((process) => process.stop()))
  const admitted = answers.reduce((sum, { answered, failures }) => sum + answered - failures, 0)
  const sent = answers.reduce((sum, { answered }) => sum + answered, 0)
  return {
    what: `requests of one key that ${size} processes admit in a minute`,
    target: `${REQUESTS_PER_MINUTE}, neither more nor fewer`,
    measured: { value: admitted, unit: `of ${sent}` },
    limit: undefined,
    ratio: undefined,
    isReached: admitted === REQUESTS_PER_MINUTE,
    details: { seconds },
  }
}

function toMeasurements(groups: readonly GroupCosts[]): Measurement[] {
  const single = groups.filter(({ count }) => count === 1)
  const costsOfOne = new Map(UNITS.map((unit) => [unit, meanOf(single, unit)]))
  const ones = UNITS.map((unit) => toMeasurement(unit, 1, costsOfOne.get(unit)))
  const others = groups
    .filter(({ count }) => count > 1)
    .flatMap(({ count, units }) =>
      UNITS.map((unit) => toMeasurement(unit, count, units.get(unit), costsOfOne.get(unit))),
    )
  return [...ones, ...others, ...groups.map(toIdleMeasurement)]
}

function meanOf(groups: readonly GroupCosts[], unit: Unit): UnitCost {
  const mean = (read: (cost: UnitCost) => number) =>
    groups.reduce((sum, { units }) => sum + read(units.get(unit) ?? NOTHING), 0) / groups.length
  return {
    cpuMs: mean(({ cpuMs }) => cpuMs),
    serviceMs: mean(({ serviceMs }) => serviceMs),
    databaseMs: mean(({ databaseMs }) => databaseMs),
  }
}

const NOTHING: UnitCost = { cpuMs: NaN, serviceMs: NaN, databaseMs: NaN }

function toMeasurement(
  { what }: Unit,
  count: number,
  cost: UnitCost = NOTHING,
  costOfOne?: UnitCost,
): Measurement {
  const ratio = costOfOne === undefined ? undefined : cost.cpuMs / costOfOne.cpuMs
  return {
    what: `CPU time of ${what}, ${count} of each role`,
    target: costOfOne === undefined ? '-' : 'within 10 % of one of each role',
    measured: { value: cost.cpuMs, unit: 'ms' },
    limit:
      costOfOne === undefined
        ? undefined
        : { what: 'one of each role', value: costOfOne.cpuMs, unit: 'ms' },
    ratio,
    isReached: ratio === undefined || ratio <= RATIO_MAX,
    details: { service_ms: cost.serviceMs, postgresql_ms: cost.databaseMs },
  }
}

function toIdleMeasurement({ count, idle }: GroupCosts): Measurement {
  return {
    what: `CPU time while nothing happens, ${count} of each role`,
    target: '-',
    measured: { value: idle * 100, unit: '% of a core' },
    limit: undefined,
    ratio: undefined,
    isReached: true,
    details: {},
  }
}
