/*
 * What a read of the API costs: GET of one device and of a page of 100 with an API key, against the real service.
 * CPU time of the service and of PostgreSQL together for one request, one at a time and many at once; beside it the
 * same answer of a bare server, and the statement of the read alone.
 */
import type { Kysely } from 'kysely'
import { request } from 'undici'
import { DEVICE_LIST } from '../src/posture/devices/device-read.ts'
import type { Schema } from '../src/schema/schema.ts'
import { createKeyAdmin, createTestKey } from '../test/support/api-keys.ts'
import { insertFleet } from './fleet-store.ts'
import { PER_PAGE, toListPath } from './list-client.ts'
import type { LoadRequest } from './load-program.ts'
import { asOwner } from './owner-database.ts'
import {
  measureEchoCpuMs,
  measureRequestCost,
  sendLoad,
  startLoadGenerator,
  type LoadGenerator,
  type RequestCost,
} from './request-cost.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader, type ServiceCost } from './service-cost.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { median } from './statistics.ts'

const FLEET = { devices: 2_000, people: 200, resultsPerDevice: 1, issues: 100, transitions: 100 }
const CONNECTIONS = [1, 16]
const PHASES = 3
const PHASE_SHARE = 0.3
const WARM_UP_MS = 2_000
const PHASE_MS_MIN = 1_000
const STATEMENTS = 2_000

export const reads: Scenario = {
  title: 'GET of one record and of a page',
  run: measure,
}

/** A read that is measured. */
interface ReadKind {
  readonly what: string
  readonly targetMs: number
  readonly requests: readonly LoadRequest[]
  /** What is read from the database for it. */
  readonly readAlone: (db: Kysely<Schema>, turn: number) => Promise<unknown>
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  const generator = startLoadGenerator(run)
  let key = ''
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '10000000' },
    prepare: async (services) => {
      await asOwner(services, (db) => insertFleet(db, FLEET))
      await createKeyAdmin(services.runChange)
      key = await createTestKey(services, [])
    },
  })
  const readCost = await openCostReader(service)
  const bench = { run, generator, service, readCost }
  const measurements: Measurement[] = []
  for (const kind of toKinds(`Bearer ${key}`)) {
    for (const connections of CONNECTIONS) {
      run.progress(`${kind.what}, ${connections} at once`)
      measurements.push(await measureKind(bench, kind, connections))
    }
  }
  return measurements
}

function toKinds(authorization: string): ReadKind[] {
  const ids = Array.from({ length: FLEET.devices }, (_, index) => String(index + 1))
  return [
    {
      what: 'GET of one device',
      targetMs: 0.7,
      requests: ids.map((id) => ({ path: `/devices/${id}`, authorization })),
      readAlone: (db, turn) => DEVICE_LIST.find(db, ids[turn % ids.length] ?? ''),
    },
    {
      what: `GET of ${PER_PAGE} devices`,
      targetMs: 2.5,
      requests: [{ path: toListPath('/devices'), authorization }],
      readAlone: (db) =>
        DEVICE_LIST.listPage(db, {
          search: undefined,
          window: { afterId: undefined, limit: PER_PAGE + 1 },
        }),
    },
  ]
}

interface ReadBench {
  readonly run: BenchRun
  readonly generator: LoadGenerator
  readonly service: ServiceUnderTest
  readonly readCost: () => Promise<ServiceCost>
}

async function measureKind(
  { run, generator, service, readCost }: ReadBench,
  kind: ReadKind,
  connections: number,
): Promise<Measurement> {
  const { requests } = kind
  const measureMs = Math.max(PHASE_MS_MIN, run.seconds * PHASE_SHARE * 1000)
  const load = { port: service.port, requests, connections, measureMs }
  const answerBytes = await readAnswerBytes(service, requests)
  await sendLoad(run, generator, { ...load, measureMs: WARM_UP_MS })
  const costs: RequestCost[] = []
  const echoes: number[] = []
  for (let phase = 0; phase < PHASES; phase += 1) {
    costs.push(await measureRequestCost(run, generator, readCost, load))
    echoes.push(await measureEchoCpuMs(run, generator, answerBytes, load))
  }
  const statementMs = await measureStatementCpuMs(service, kind, readCost)
  return toMeasurement(kind, connections, { costs, echoes, statementMs })
}

async function readAnswerBytes(
  { url }: ServiceUnderTest,
  [first]: readonly LoadRequest[],
): Promise<number> {
  const { path = '/', authorization = '' } = first ?? {}
  const { body } = await request(`${url}${path}`, { headers: { authorization } })
  return Buffer.byteLength(await body.text())
}

/** CPU time of PostgreSQL for the statement of a read alone, prepared, sent again and again by this process. */
async function measureStatementCpuMs(
  { services: { preparedDb } }: ServiceUnderTest,
  { readAlone }: ReadKind,
  readCost: () => Promise<ServiceCost>,
): Promise<number> {
  const before = await readCost()
  for (let turn = 0; turn < STATEMENTS; turn += 1) await readAlone(preparedDb, turn)
  const after = await readCost()
  return (after.databaseCpuMs - before.databaseCpuMs) / STATEMENTS
}

function toMeasurement(
  { what, targetMs }: ReadKind,
  connections: number,
  {
    costs,
    echoes,
    statementMs,
  }: {
    readonly costs: readonly RequestCost[]
    readonly echoes: readonly number[]
    readonly statementMs: number
  },
): Measurement {
  const of = (read: (cost: RequestCost) => number) => median(costs.map(read))
  const cpuMs = of((cost) => cost.cpuMs)
  const echoMs = median(echoes)
  return {
    what: `CPU time of a ${what}, ${connections === 1 ? 'one' : connections} at once`,
    target: `<= ${targetMs} ms`,
    measured: { value: cpuMs, unit: 'ms' },
    limit: { what: 'bare answer and statement', value: echoMs + statementMs, unit: 'ms' },
    ratio: undefined,
    isReached: cpuMs <= targetMs,
    details: {
      service_ms: of((cost) => cost.serviceCpuMs),
      database_ms: of((cost) => cost.databaseCpuMs),
      bare_answer_ms: echoMs,
      statement_alone_ms: statementMs,
      requests_per_second: of(({ load }) => (load.requests / load.elapsedMs) * 1000),
      p50_ms: of(({ load }) => load.latencyMs.p50),
      p99_ms: of(({ load }) => load.latencyMs.p99),
      wal_bytes: of((cost) => cost.walBytes),
    },
  }
}
