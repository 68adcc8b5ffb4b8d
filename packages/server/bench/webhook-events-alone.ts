/*
 * What one webhook costs whose event is committed in a transaction of its own: from the change that records the event
 * to the recorded delivery, CPU time of this process and of PostgreSQL together and bytes of its log. Once by many
 * callers at once, once one after the other as fast as they are committed, so that deliveries share claims and
 * outcomes, and once 50 a second, so that each is delivered before the next is committed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { PHASE_SHARE, type DeliveryBench } from './delivery-phase.ts'
import { countDelivered, hasQueuedEvents } from './outbox-store.ts'
import { insertSubjects } from './partition-fill-store.ts'
import type { Measurement } from './scenario.ts'
import { openCostReaderOf, toCpuMs, type ServiceCost } from './service-cost.ts'
import { deleteBenchWebhooks, insertBenchWebhook } from './webhook-store.ts'

const CPU_MS_TARGET = 1
const SECONDS_MIN = 4
/** Before that, most of what an event costs is the compiling and planning of what has just been started. */
const WARM_UP_EVENTS = 600
const PAUSE_MS = 20
const CALLERS_MANY = 16
const POLL_MS = 20
const DEVICE_ID = '1'

interface PhaseOptions {
  /** How many commit events one after the other. */
  readonly callers: number
  /** The phase ends when this has passed and ... */
  readonly measureMs: number
  /** ... so many were committed. */
  readonly eventsMin: number
  /** After each event. */
  readonly pauseMs: number
}

interface Phase {
  readonly eventCount: number
  readonly elapsedMs: number
  /** Of one event; the service is this process. */
  readonly cost: ServiceCost
}

/** Measures events of changes that do nothing else, each in its own transaction. */
export async function measureEventsAlone(bench: DeliveryBench): Promise<Measurement[]> {
  const { run, sender, url } = bench
  await insertSubjects(sender.db, 1)
  await insertBenchWebhook(sender, url)
  const engine = sender.createEngine()
  await engine.start()
  try {
    const measureMs = Math.max(SECONDS_MIN, run.seconds * PHASE_SHARE) * 1_000
    run.progress('webhooks whose events are committed alone')
    const measured = { callers: 1, measureMs, eventsMin: 1, pauseMs: 0 }
    await runPhase(bench, { ...measured, measureMs: 0, eventsMin: WARM_UP_EVENTS })
    const together = await runPhase(bench, measured)
    const apart = await runPhase(bench, { ...measured, pauseMs: PAUSE_MS })
    const many = await runPhase(bench, { ...measured, callers: CALLERS_MANY })
    return [
      toMeasurement(
        `a webhook whose event is committed alone, by ${CALLERS_MANY} callers at once`,
        many,
      ),
      toMeasurement('a webhook whose event is committed alone, as fast as they come', together),
      toMeasurement('the same, each delivered before the next is committed', apart),
    ]
  } finally {
    await engine.close()
    await deleteBenchWebhooks(sender)
  }
}

/** Commits events, each in a change of its own, until the last one is recorded as delivered. */
async function runPhase(
  { run, sender: { db, runChange } }: DeliveryBench,
  { callers, measureMs, eventsMin, pauseMs }: PhaseOptions,
): Promise<Phase> {
  const readDatabaseCost = await openCostReaderOf([], db)
  const deliveredBefore = await countDelivered(db)
  const before = await readDatabaseCost()
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  let eventCount = 0
  async function call(): Promise<void> {
    while (eventCount < eventsMin || performance.now() - startMs < measureMs) {
      run.signal.throwIfAborted()
      eventCount += 1
      await runChange({ actor: SYSTEM_ACTOR }, (change) => {
        change.recordEvent({ type: 'devices.created', deviceId: DEVICE_ID })
        return Promise.resolve()
      })
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  while (await hasQueuedEvents(db)) await sleep(POLL_MS, undefined, { signal: run.signal })
  const elapsedMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpuBefore)
  const after = await readDatabaseCost()
  const delivered = (await countDelivered(db)).deliveries - deliveredBefore.deliveries
  if (delivered !== eventCount)
    throw new Error(`${eventCount} were committed, ${delivered} recorded`)
  const cost = {
    serviceCpuMs: (user + system) / 1_000 / eventCount,
    databaseCpuMs: (after.databaseCpuMs - before.databaseCpuMs) / eventCount,
    walBytes: (after.walBytes - before.walBytes) / eventCount,
  }
  return { eventCount, elapsedMs, cost }
}

function toMeasurement(what: string, { eventCount, elapsedMs, cost }: Phase): Measurement {
  const cpuMs = toCpuMs(cost)
  return {
    what: `CPU time of ${what}`,
    target: `<= ${CPU_MS_TARGET} ms`,
    measured: { value: cpuMs, unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: cpuMs <= CPU_MS_TARGET,
    details: {
      events: eventCount,
      events_per_s: (eventCount / elapsedMs) * 1_000,
      process_ms: cost.serviceCpuMs,
      postgresql_ms: cost.databaseCpuMs,
      log_bytes: cost.walBytes,
    },
  }
}
