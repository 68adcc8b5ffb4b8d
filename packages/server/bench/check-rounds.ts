/*
 * What a round of checks costs that finds everything as it was: POST /osquery/distributed/write with 44 answers
 * against the real service, again and again from the same devices. CPU time of the service and of PostgreSQL
 * together, and bytes of its log, each for one round.
 */
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { enrollAgents } from './bench-agents.ts'
import { startChildProgram } from './child-program.ts'
import { insertChecksUpTo } from './fleet-store.ts'
import type { LoadAnswer, LoadCommand } from './load-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader, toCpuMs } from './service-cost.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { median } from './statistics.ts'

const DEVICES_COUNT = 100
const CHECKS_COUNT = 44
const CONNECTIONS = 4
const WARM_UP_MS = 2_000
const MEASURE_MS_MIN = 1_000
const PHASES = 3
const WRITE_PATH = '/osquery/distributed/write'
const CPU_MS_TARGET = 1.5
const WAL_BYTES_TARGET = 1_024
export const checkRounds: Scenario = {
  title: `Rounds of ${CHECKS_COUNT} unchanged check results`,
  run: measure,
}

interface Phase {
  readonly load: LoadAnswer
  readonly cpuMs: number
  readonly databaseCpuMs: number
  readonly walBytes: number
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  const generator = startChildProgram<LoadCommand, LoadAnswer>(run, 'load-program')
  const { service, bodies } = await startWithDevices(run)
  const readCost = await openCostReader(service)

  async function load(measureMs: number): Promise<Phase> {
    run.signal.throwIfAborted()
    const before = await readCost()
    generator.send({
      type: 'load',
      port: service.port,
      requests: bodies.map((body) => ({ path: WRITE_PATH, body })),
      connections: CONNECTIONS,
      warmUpMs: 0,
      measureMs,
    })
    const answer = await generator.next('done')
    if (answer.failures > 0) throw new Error(`${answer.failures} rounds were refused`)
    const after = await readCost()
    const walBytes = after.walBytes - before.walBytes
    const databaseCpuMs = after.databaseCpuMs - before.databaseCpuMs
    return { load: answer, cpuMs: toCpuMs(after) - toCpuMs(before), databaseCpuMs, walBytes }
  }

  // The first write to a page after a checkpoint puts the whole page into the log.
  await load(WARM_UP_MS)
  const phases: Phase[] = []
  for (let phase = 1; phase <= PHASES; phase += 1) {
    run.progress(`phase ${phase} of ${PHASES}`)
    phases.push(await load(Math.max(MEASURE_MS_MIN, (run.seconds * 1000) / PHASES)))
  }
  return toMeasurements(phases)
}

async function startWithDevices(
  run: BenchRun,
): Promise<{ readonly service: ServiceUnderTest; readonly bodies: readonly string[] }> {
  let secret = ''
  const service = await startServiceUnderTest(run, {
    prepare: async (services) => {
      await insertChecksUpTo(services.db, { platform: 'linux', count: CHECKS_COUNT })
      secret = await createSecret(services)
    },
  })
  run.progress(`enrolling ${DEVICES_COUNT} devices`)
  const { agents } = await enrollAgents(run, service, { secret, count: DEVICES_COUNT })
  return { service, bodies: agents.map(({ nodeKey, queryIds }) => toBody(nodeKey, queryIds)) }
}

async function createSecret({ runChange, sealer }: ServiceFoundation): Promise<string> {
  const { secret } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
  )
  return secret
}

function toBody(nodeKey: string, queryIds: readonly string[]): string {
  if (queryIds.length !== CHECKS_COUNT) throw new Error(`a device runs ${queryIds.length} checks`)
  const row = { KOLIDE_CHECK_STATUS: 'PASS', name: '/dev/sda1', encrypted: '1', type: 'luks2' }
  return JSON.stringify({
    node_key: nodeKey,
    queries: Object.fromEntries(queryIds.map((id) => [id, [row]])),
    statuses: Object.fromEntries(queryIds.map((id) => [id, 0])),
  })
}

function toMeasurements(phases: readonly Phase[]): Measurement[] {
  const cpuMs = median(phases.map((phase) => phase.cpuMs / phase.load.answered))
  const databaseMs = median(phases.map((phase) => phase.databaseCpuMs / phase.load.answered))
  const walBytes = median(phases.map((phase) => phase.walBytes / phase.load.answered))
  const perSecond = phases.map(({ load }) => (load.requests / load.elapsedMs) * 1000)
  const shared = { limit: undefined, ratio: undefined }
  return [
    {
      what: `CPU time of a round of ${CHECKS_COUNT} unchanged results`,
      target: `<= ${CPU_MS_TARGET} ms`,
      measured: { value: cpuMs, unit: 'ms' },
      ...shared,
      isReached: cpuMs <= CPU_MS_TARGET,
      details: {
        phases: phases.length,
        connections: CONNECTIONS,
        service_ms: cpuMs - databaseMs,
        database_ms: databaseMs,
        rounds_per_second: median(perSecond),
        p50_ms: median(phases.map(({ load }) => load.latencyMs.p50)),
        p99_ms: median(phases.map(({ load }) => load.latencyMs.p99)),
      },
    },
    {
      what: `log of a round of ${CHECKS_COUNT} unchanged results`,
      target: `<= ${WAL_BYTES_TARGET} bytes`,
      measured: { value: walBytes, unit: 'bytes' },
      ...shared,
      isReached: walBytes <= WAL_BYTES_TARGET,
      details: { phases: phases.length },
    },
  ]
}
