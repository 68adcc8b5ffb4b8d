/*
 * What one change of status costs when 1, 10 or 100 devices answer at once and wait for each other: CPU time of the
 * service and of PostgreSQL, bytes of the log and statements, from the answers to the recorded deliveries.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'
import type { BenchRun, Measurement } from './scenario.ts'
import { toCpuMs, type ServiceCost } from './service-cost.ts'
import { countStatements } from './statement-counter.ts'

const GROUP_SIZES = [1, 10, 100]
const MEASURE_MS_MIN = 1_000
/** Of one change of status, the service and PostgreSQL together. */
export const CPU_MS_TARGET = 2.5

export interface GroupedChanges {
  readonly db: Kysely<Schema>
  readonly readCost: () => Promise<ServiceCost>
  /** Has the next device in turn change its status; resolves when its answer was taken. */
  readonly flip: () => Promise<void>
  /** Resolves when every event is recorded as delivered. */
  readonly drain: () => Promise<void>
}

/** Measures groups of each size one after another, each for a third of the run. */
export async function measureGroups(
  run: BenchRun,
  changes: GroupedChanges,
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (const size of GROUP_SIZES) {
    run.progress(`measuring changes in groups of ${size}`)
    measurements.push(await measureGroup(run, changes, size))
  }
  return measurements
}

async function measureGroup(
  run: BenchRun,
  { db, readCost, flip, drain }: GroupedChanges,
  size: number,
): Promise<Measurement> {
  const endMs =
    performance.now() + Math.max(MEASURE_MS_MIN, (run.seconds * 1_000) / GROUP_SIZES.length)
  const statementsBefore = await countStatements(db)
  const before = await readCost()
  let count = 0
  do {
    run.signal.throwIfAborted()
    await Promise.all(Array.from({ length: size }, flip))
    count += size
  } while (performance.now() < endMs)
  await drain()
  const cost = toCostOfOne(before, await readCost(), count)
  const statements = (await countStatements(db)) - statementsBefore
  return {
    what: `CPU time of a change of status, in groups of ${size}`,
    target: `<= ${CPU_MS_TARGET} ms`,
    measured: { value: toCpuMs(cost), unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: toCpuMs(cost) <= CPU_MS_TARGET,
    details: {
      changes: count,
      service_ms: cost.serviceCpuMs,
      postgresql_ms: cost.databaseCpuMs,
      log_bytes: cost.walBytes,
      statements: statements / count,
    },
  }
}

/** What one of `count` changes cost. */
export function toCostOfOne(before: ServiceCost, after: ServiceCost, count: number): ServiceCost {
  return {
    serviceCpuMs: (after.serviceCpuMs - before.serviceCpuMs) / count,
    databaseCpuMs: (after.databaseCpuMs - before.databaseCpuMs) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
  }
}
