/*
 * What a log of reported rows costs: POST /osquery/log with a snapshot of 100 rows of six columns that have all
 * changed, against the real service. CPU time of the service and of PostgreSQL together and bytes of its log, each for
 * one; beside it a bare server that is sent the same.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'
import { heldNodeKey, insertHeldFleet } from './held-fleet-store.ts'
import type { LoadRequest } from './load-program.ts'
import {
  measureEchoCpuMs,
  measureRequestCost,
  sendLoad,
  startLoadGenerator,
} from './request-cost.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader } from './service-cost.ts'
import { startServiceUnderTest } from './service-under-test.ts'

const DEVICES_COUNT = 300
const ROWS_COUNT = 100
const CONNECTIONS = 8
const LOG_PATH = '/osquery/log'
const HOUR_SECONDS = 3_600
const ANSWER_BYTES = 2
const CPU_MS_TARGET = 4
const WAL_BYTES_TARGET = 70_000

export const reportingLogs: Scenario = {
  title: `Logs of ${ROWS_COUNT} reported rows that have all changed`,
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  const generator = startLoadGenerator(run)
  const service = await startServiceUnderTest(run, {
    prepare: ({ db }) => insertHeldFleet(db, DEVICES_COUNT),
  })
  const readCost = await openCostReader(service)
  const load = { port: service.port, connections: CONNECTIONS, measureMs: 'once' } as const
  const toRequests = (round: number): LoadRequest[] =>
    Array.from({ length: DEVICES_COUNT }, (_, index) => ({
      path: LOG_PATH,
      body: toLog(heldNodeKey(index + 1), round),
    }))
  run.progress('first snapshots')
  await sendLoad(run, generator, { ...load, requests: toRequests(1) })
  run.progress('changed snapshots')
  const requests = toRequests(2)
  const cost = await measureRequestCost(run, generator, readCost, { ...load, requests })
  await assertStored(service.services.db)
  const echoMs = await measureEchoCpuMs(run, generator, ANSWER_BYTES, { ...load, requests })
  const what = `log of ${ROWS_COUNT} changed rows`
  return [
    {
      what: `CPU time of a ${what}`,
      target: `<= ${CPU_MS_TARGET} ms`,
      measured: { value: cost.cpuMs, unit: 'ms' },
      limit: { what: 'bare answer', value: echoMs, unit: 'ms' },
      ratio: undefined,
      isReached: cost.cpuMs <= CPU_MS_TARGET,
      details: { service_ms: cost.serviceCpuMs, database_ms: cost.databaseCpuMs },
    },
    {
      what: `log of the database for a ${what}`,
      target: `<= ${WAL_BYTES_TARGET} bytes`,
      measured: { value: cost.walBytes, unit: 'bytes' },
      limit: undefined,
      ratio: undefined,
      isReached: cost.walBytes <= WAL_BYTES_TARGET,
      details: { devices: DEVICES_COUNT },
    },
  ]
}

/** A snapshot that has no row in common with that of another round. */
function toLog(nodeKey: string, round: number): string {
  const snapshot = Array.from({ length: ROWS_COUNT }, (_, index) => ({
    name: `libexample-runtime-${index}`,
    version: `${round}.${index}.0-2ubuntu${round}`,
    source: `example-source-${index}`,
    arch: 'amd64',
    status: 'install ok installed',
    maintainer: 'Ubuntu Developers <ubuntu-devel-discuss@lists.ubuntu.com>',
  }))
  const unixTime = Math.floor(Date.now() / 1000) + round * HOUR_SECONDS
  const line = { name: 'report:deb_packages', action: 'snapshot', epoch: 0, counter: round }
  return JSON.stringify({
    node_key: nodeKey,
    log_type: 'result',
    data: [{ ...line, hostIdentifier: nodeKey, unixTime, snapshot }],
  })
}

/** Rejects when a device has other rows than those of its last snapshot. */
async function assertStored(db: Kysely<Schema>): Promise<void> {
  const { count } = await db
    .selectFrom('reporting_record')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where(sql<boolean>`columns ->> 'version' like '2.%'`)
    .executeTakeFirstOrThrow()
  const expected = DEVICES_COUNT * ROWS_COUNT
  if (Number(count) !== expected) throw new Error(`${count} of ${expected} rows are stored`)
}
