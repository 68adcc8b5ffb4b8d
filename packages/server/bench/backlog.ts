/*
 * A service that starts on a million deliveries that are due: how long until it is ready, whether what has been due
 * longest goes out first, what it takes of memory, and what an event costs while so many wait.
 */
import { readFile } from 'node:fs/promises'
import { systemClock } from '../src/platform/clock.ts'
import { insertBacklog, readDeliveryBytes } from './backlog-store.ts'
import { bulkLoad } from './bulk-load.ts'
import { startChildProgram } from './child-program.ts'
import { asOwner } from './owner-database.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader } from './service-cost.ts'
import { startServiceUnderTest } from './service-under-test.ts'

const DELIVERIES = 1_000_000
const DEVICES = 50_000
/** As many as are measured. */
const DELIVERED = 20_000
/** What a dispatcher may have claimed at once: that many may overtake each other, of different devices. */
const CLAIMED_MAX = 1_024
const READY_TARGET_S = 10

export const backlog: Scenario = {
  title: 'A start with a backlog',
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const count = Math.max(2 * DELIVERED, Math.round(DELIVERIES * run.scale))
  const receiver = startChildProgram<ReceiverCommand, ReceiverAnswer>(run, 'receiver-program', [
    'timestamps',
  ])
  const { port } = await receiver.next('listening')
  receiver.send({ type: 'expect', expected: DELIVERED })
  const reached = receiver.next('reached')
  let tableBytes = 0
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' },
    prepare: async (services) => {
      const { db } = services
      const url = `http://127.0.0.1:${port}/events`
      const at = systemClock.now()
      const destinationId = await insertPushStream(db, { endpointUrl: url, issuer: url, at })
      const onFilled = (filled: number) => run.progress(`${filled} of ${count} deliveries queued`)
      await asOwner(services, (owner) =>
        bulkLoad(owner, ['delivery'], (tx) =>
          insertBacklog(tx, destinationId, { count, devices: DEVICES, onFilled }),
        ),
      )
      tableBytes = await readDeliveryBytes(db)
    },
  })
  const readCost = await openCostReader(service)
  const before = await readCost()
  receiver.send({ type: 'report' })
  const { count: alreadyThere } = await receiver.next('report')
  run.progress(`ready after ${Math.round(service.startedInMs)} ms; delivering`)
  await reached
  const after = await readCost()
  receiver.send({ type: 'report' })
  const { count: arrived, arrivals } = await receiver.next('report')
  const order = arrivals.map(({ txn }) => Number(txn))
  const events = Math.max(1, arrived - alreadyThere)
  const inOrder = furthestAhead(order)
  return [
    {
      what: `ready with ${count.toLocaleString('en')} deliveries queued`,
      target: `within ${READY_TARGET_S} s`,
      measured: { value: service.startedInMs / 1_000, unit: 's' },
      limit: undefined,
      ratio: undefined,
      isReached: service.startedInMs <= READY_TARGET_S * 1_000,
      details: {
        service_rss_mib: await readResidentMib(service.pid),
        delivery_table_mib: tableBytes / 2 ** 20,
        service_cpu_us_per_event: ((after.serviceCpuMs - before.serviceCpuMs) / events) * 1_000,
        database_cpu_us_per_event: ((after.databaseCpuMs - before.databaseCpuMs) / events) * 1_000,
        wal_bytes_per_event: (after.walBytes - before.walBytes) / events,
      },
    },
    {
      what: `an event ahead of what has been due longer, of the first ${arrived.toLocaleString('en')}`,
      target: `at most ${CLAIMED_MAX}`,
      measured: { value: inOrder, unit: 'places' },
      limit: undefined,
      ratio: undefined,
      isReached: inOrder <= CLAIMED_MAX,
      details: {},
    },
  ]
}

/** How many places an event came at most before its turn; both count from 1. */
function furthestAhead(order: readonly number[]): number {
  return order.reduce((furthest, place, index) => Math.max(furthest, place - (index + 1)), 0)
}

async function readResidentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024
}
