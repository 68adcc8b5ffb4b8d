/*
 * What a unit of work costs with 1,000 to 1,000,000 devices in the database, each with its results, issues and changes:
 * whether it stays the same, how fast the lists are, and what each device takes on disk and in memory.
 */
import { createSecretKey } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CleanupStack } from '../src/platform/cleanup-stack.ts'
import { createKeyAdmin, createTestKey } from '../test/support/api-keys.ts'
import { deriveKey } from '../src/platform/secrets/master-key.ts'
import { startChildProgram } from './child-program.ts'
import { measureDeviceLists } from './device-lists.ts'
import { heldNodeKey } from './held-fleet-store.ts'
import { createListClient } from './list-client.ts'
import type { LoadRequest } from './load-program.ts'
import { asOwner } from './owner-database.ts'
import { readMemoryKib } from './process-cpu.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import { sendLoad, startLoadGenerator, type LoadGenerator } from './request-cost.ts'
import {
  FULL_FLEET,
  toCostMeasurements,
  toFlatness,
  toNeedMeasurement,
  type ScaledCosts,
  type UnitName,
} from './scale-report.ts'
import { toIdleReads, toRounds, toChangedRounds, toStatusChanges } from './scale-requests.ts'
import {
  insertScaledFleet,
  listActiveDevices,
  listQueryIds,
  readDatabaseBytes,
  type ScaledDevice,
} from './scale-store.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader, type ServiceCost } from './service-cost.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { countUndelivered, makeCheckBlock } from './signal-latency-store.ts'

const SIZES = [1_000, 10_000, 100_000, FULL_FLEET]
const ACTIVE_DEVICES = 40
const CONNECTIONS = 4
const KNOWN_DEVICES_MAX = 20_000
const POLL_MS = 50
const FULL_SECONDS = 10
/** How many units are measured in a run of ten seconds. */
const UNIT_COUNTS: Readonly<Record<UnitName, number>> = {
  round: 1_200,
  changedRound: 1_200,
  statusChange: 800,
  checkIn: 20_000,
}

export const scale: Scenario = {
  title: 'Units of work with 1,000 to 1,000,000 devices',
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const generator = startLoadGenerator(run)
  const receiver = startChildProgram<ReceiverCommand, ReceiverAnswer>(run, 'receiver-program')
  const { port } = await receiver.next('listening')
  const endpointUrl = `http://127.0.0.1:${port}/events`
  const all: ScaledCosts[] = []
  const lists: Measurement[] = []
  for (const devices of SIZES.filter((size) => size <= FULL_FLEET * run.scale)) {
    const cleanup = new CleanupStack()
    try {
      const measured = await measureSize({ ...run, cleanup }, { generator, endpointUrl, devices })
      all.push(measured.costs)
      lists.push(...measured.lists)
    } finally {
      // The next one gets its place on the disk.
      await cleanup.run()
    }
  }
  const last = all.at(-1)
  if (last === undefined) throw new Error('--scale 1 is 10,000 devices, and the least')
  return [...all.flatMap(toCostMeasurements), ...toFlatness(all), toNeedMeasurement(last), ...lists]
}

interface SizeOptions {
  readonly generator: LoadGenerator
  readonly endpointUrl: string
  readonly devices: number
}

interface ScaledService {
  readonly service: ServiceUnderTest
  readonly key: string
  readonly checkId: string
}

async function measureSize(run: BenchRun, options: SizeOptions) {
  const { devices } = options
  const { service, key, checkId } = await startScaled(run, options)
  const { db, masterKeys } = service.services
  const databaseBytes = await readDatabaseBytes(db)
  const memoryBefore = await readMemoryKib(service.pid)
  run.progress(`${devices} devices: letting the service know them`)
  const known = Math.min(devices, KNOWN_DEVICES_MAX)
  const load = { port: service.port, connections: CONNECTIONS, measureMs: 'once' } as const
  const keys = Array.from({ length: known }, (_, index) => heldNodeKey(index + 1))
  await sendLoad(run, options.generator, { ...load, requests: toIdleReads(keys, known) })
  const memoryAfter = await readMemoryKib(service.pid)

  const active = await listActiveDevices(db, { devices, count: ACTIVE_DEVICES })
  const units = await measureUnits(run, { ...options, service, active, checkId })
  const client = createListClient(run, {
    url: service.url,
    key,
    cursorKey: createSecretKey(deriveKey(masterKeys.current, 'list cursors')),
  })
  const lists = await measureDeviceLists(run, { client, db, devices })
  const costs: ScaledCosts = {
    devices,
    units,
    bytesPerDevice: databaseBytes / devices,
    memoryKib: memoryBefore,
    memoryBytesPerDevice: ((memoryAfter - memoryBefore) * 1_024) / known,
  }
  return {
    costs,
    lists: lists.map((list) => ({ ...list, what: `${devices} devices: ${list.what}` })),
  }
}

async function startScaled(
  run: BenchRun,
  { devices, endpointUrl }: SizeOptions,
): Promise<ScaledService> {
  run.progress(`filling a database with ${devices} devices`)
  let key = ''
  let checkId = ''
  const service = await startServiceUnderTest(run, {
    environment: {
      HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
      HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '0',
      HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '10000000',
    },
    prepare: async (services) => {
      const { db, clock, config } = services
      await asOwner(services, (owner) => insertScaledFleet(owner, devices))
      checkId = await makeCheckBlock(db, 'linux')
      await insertPushStream(db, { endpointUrl, issuer: config.baseUrl, at: clock.now() })
      await createKeyAdmin(services.runChange)
      key = await createTestKey(services, [])
    },
  })
  return { service, key, checkId }
}

interface UnitOptions extends SizeOptions {
  readonly service: ServiceUnderTest
  readonly active: readonly ScaledDevice[]
  readonly checkId: string
}

async function measureUnits(
  run: BenchRun,
  { generator, service, active, checkId, devices }: UnitOptions,
): Promise<Readonly<Record<UnitName, ServiceCost>>> {
  const queryIds = await listQueryIds(service.services.db)
  const readCost = await openCostReader(service)
  const flipped = queryIds.find((id) => id.startsWith(`check:${checkId}:`))
  if (flipped === undefined)
    throw new Error('the check that shall flip is not among those of Linux')
  const keys = active.map(({ nodeKey }) => nodeKey)
  const toRequests: Readonly<Record<UnitName, (count: number) => LoadRequest[]>> = {
    round: (count) => toRounds(keys, queryIds, count),
    changedRound: (count) => toChangedRounds(keys, queryIds, count),
    statusChange: (count) => toStatusChanges(keys, flipped, count),
    checkIn: (count) => toIdleReads(keys, count),
  }

  async function send(unit: UnitName, count: number): Promise<void> {
    const requests = toRequests[unit](count)
    await sendLoad(run, generator, {
      port: service.port,
      requests,
      connections: CONNECTIONS,
      measureMs: 'once',
    })
    while ((await countUndelivered(service.services.db)) > 0) {
      await sleep(POLL_MS, undefined, { signal: run.signal })
    }
  }

  async function measureUnit(unit: UnitName): Promise<ServiceCost> {
    run.progress(`${devices} devices: ${unit}`)
    // Whole turns of all devices, each of which turns good and bad.
    const turns = (UNIT_COUNTS[unit] * run.seconds) / FULL_SECONDS / keys.length / 2
    const count = Math.max(1, Math.round(turns)) * keys.length * 2
    await send(unit, count)
    const before = await readCost()
    await send(unit, count)
    const after = await readCost()
    return {
      serviceCpuMs: (after.serviceCpuMs - before.serviceCpuMs) / count,
      databaseCpuMs: (after.databaseCpuMs - before.databaseCpuMs) / count,
      walBytes: (after.walBytes - before.walBytes) / count,
    }
  }

  return {
    round: await measureUnit('round'),
    changedRound: await measureUnit('changedRound'),
    statusChange: await measureUnit('statusChange'),
    checkIn: await measureUnit('checkIn'),
  }
}
