/*
 * What others notice while a partition of many rows is dropped, and while a table of many rows becomes one: requests
 * that read, write and add to the same table, at a fixed rate, beside the same without.
 */
import { Pool } from 'undici'
import { createKeyAdmin, createTestKey } from '../test/support/api-keys.ts'
import { keepPartitions } from '../src/organisation/partitions/keep-partitions.ts'
import {
  dropPartition,
  isTableInUse,
  listFullPartitions,
} from '../src/platform/partitions/partition-store.ts'
import { asOwner } from './owner-database.ts'
import { runOpenLoop } from './open-loop.ts'
import {
  addTransition,
  fillPartitions,
  fillPlainTable,
  holdJobs,
  insertSubjects,
} from './partition-fill-store.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { median, summariseLatencies } from './statistics.ts'

const ROWS = 8_000_000
const PARTITIONS = 3
const DEVICES_COUNT = 500
const REQUESTS_PER_SECOND = 60
const WARM_UP_PHASES_MAX = 8
/** A phase that is slower than this has to do with what was filled in before. */
const CALM_P99_MS = 150
/** How much the 99th percentile of others may move. */
const MOVE_MAX = 0.1

export const retention: Scenario = {
  title: `A partition of ${ROWS} rows is dropped, and a table of as many partitioned, at ${REQUESTS_PER_SECOND} requests/s`,
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const rows = Math.round(ROWS * run.scale)
  run.progress(`filling a database with ${(PARTITIONS + 1) * rows} transitions`)
  let key = ''
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000' },
    prepare: async (services) => {
      await createKeyAdmin(services.runChange)
      key = await createTestKey(services, ['Update Devices'])
      await insertSubjects(services.db, DEVICES_COUNT)
      await asOwner(services, async (db) => {
        await holdJobs(db)
        await fillPartitions(db, { partitions: PARTITIONS, rows })
        await fillPlainTable(db, rows)
      })
    },
  })
  const others = createOthers(run, service, key)
  const { db } = service.services
  const calm: Phase[] = []
  const rest = async () => {
    run.progress('requests without anything beside them')
    return others(() => Promise.resolve())
  }
  // What was filled in is still being written, and the first requests find nothing in memory and code that is not
  // compiled yet.
  for (let phase = 0; phase < WARM_UP_PHASES_MAX; phase += 1) {
    if (summarise([await rest()]).p99 < CALM_P99_MS) break
  }
  const dropping: Phase[] = []
  for (const partition of await listFullPartitions(db, 'check_transition')) {
    calm.push(await rest())
    run.progress(`dropping ${partition.name}`)
    dropping.push(
      await others(() => untilDone(() => dropPartition(db, 'check_transition', partition))),
    )
  }
  calm.push(await rest())
  run.progress('partitioning a table')
  const steps: string[] = []
  const converting = await others(async () => {
    while (!steps.includes('analysed')) {
      const onStep = ({ step }: { readonly step: string }) => void steps.push(step)
      await keepPartitions(db, { onStep, signal: run.signal })
    }
  })
  calm.push(await rest())
  return [
    toMeasurement(`p99 while a partition of ${rows} rows is dropped`, calm, dropping),
    toMeasurement(`p99 while a table of ${rows} rows is partitioned`, calm, [converting]),
  ]
}

/** Tried as retention does, which gives up rather than wait. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!isTableInUse(error)) throw error
    }
  }
}

interface Phase {
  readonly latenciesMs: readonly number[]
  readonly failures: number
  /** What was done beside the requests took so long. */
  readonly workMs: number
}

/** Sends requests while something is done beside them, in the middle of the phase. */
function createOthers(run: BenchRun, service: ServiceUnderTest, key: string) {
  const pool = new Pool(service.url, { connections: 16 })
  run.cleanup.add(() => pool.destroy())
  const request = async (method: 'GET' | 'PATCH', path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await pool.request({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text}`)
  }
  const send = async (index: number): Promise<void> => {
    const id = 1 + ((index * 7919) % DEVICES_COUNT)
    if (index % 3 === 0) return request('GET', `/devices/${id}/timeline`)
    if (index % 3 === 1) return request('PATCH', `/devices/${id}`, { note: `note ${index}` })
    return addTransition(service.services.db, id)
  }
  return async (work: () => Promise<unknown>): Promise<Phase> => {
    const { seconds, signal } = run
    const requests = runOpenLoop({ ratePerSecond: REQUESTS_PER_SECOND, seconds, signal, send })
    const startMs = performance.now()
    await work()
    const workMs = performance.now() - startMs
    const { latenciesMs, failures, firstFailure } = await requests
    if (failures > 0) run.progress(`${failures} requests failed: ${String(firstFailure)}`)
    return { latenciesMs, failures, workMs }
  }
}

/** Phases of a kind are taken together: one hundredth of a single one is five or six requests. */
function toMeasurement(what: string, calm: readonly Phase[], busy: readonly Phase[]): Measurement {
  const withWork = summarise(busy)
  const without = summarise(calm)
  const p99OfEach = calm.map((phase) => summarise([phase]).p99)
  return {
    what,
    target: `+${MOVE_MAX * 100} %`,
    measured: { value: withWork.p99, unit: 'ms' },
    limit: { what: 'without', value: without.p99, unit: 'ms' },
    ratio: withWork.p99 / without.p99,
    isReached: withWork.p99 <= without.p99 * (1 + MOVE_MAX),
    details: {
      work_ms: median(busy.map(({ workMs }) => workMs)),
      failures: busy.reduce((sum, { failures }) => sum + failures, 0),
      p50_ms: withWork.p50,
      p50_without_ms: without.p50,
      max_ms: withWork.max,
      max_without_ms: without.max,
      least_p99_without_ms: Math.min(...p99OfEach),
      greatest_p99_without_ms: Math.max(...p99OfEach),
    },
  }
}

function summarise(phases: readonly Phase[]): ReturnType<typeof summariseLatencies> {
  return summariseLatencies(phases.flatMap(({ latenciesMs }) => latenciesMs))
}
