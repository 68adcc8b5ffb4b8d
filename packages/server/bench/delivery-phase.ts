/*
 * One measured phase of delivery: what is queued goes out by an engine of its own, which runs by then, to a receiver
 * in another process, until the last outcome is recorded. Does not own what is queued, nor its targets.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { startChildProgram, type ChildProgram } from './child-program.ts'
import { countDelivered, hasQueuedEvents } from './outbox-store.ts'
import type { ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import type { BenchRun, Measurement } from './scenario.ts'
import { startSenderServices, type SenderServices } from './sender-services.ts'
import { median } from './statistics.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import type { Schema } from '../src/schema/schema.ts'
import { notifyDestinations } from '../src/signals/dispatch/delivery-store.ts'

/** How often the compared phases follow each other. */
export const ROUNDS = 3
/** Of the asked time: a round has three phases, and there are several rounds. */
export const PHASE_SHARE = 0.4
/** What one phase delivers at the most. */
export const EVENTS_MAX = 100_000
/** What is delivered unmeasured before the first round. */
export const WARM_UP_EVENTS = 3_000
const POLL_MS = 5

/** One measured phase. */
export interface Phase {
  readonly perSecond: number
  /** CPU time of this process per event: main thread and signing threads, not database and receiver. */
  readonly cpuMicroseconds: number
}

/** What a phase works with. */
export interface DeliveryBench {
  readonly run: BenchRun
  readonly sender: SenderServices
  readonly receiver: ChildProgram<ReceiverCommand, ReceiverAnswer>
  readonly url: string
}

/** Starts the database and a receiver in a process of its own. */
export async function startDeliveryBench(run: BenchRun): Promise<DeliveryBench> {
  run.progress('starting database and receiver')
  const receiver = startChildProgram<ReceiverCommand, ReceiverAnswer>(run, 'receiver-program')
  const [{ port }, sender] = await Promise.all([
    receiver.next('listening'),
    startSenderServices(run),
  ])
  return { run, sender, receiver, url: `http://127.0.0.1:${port}/events` }
}

/**
 * Measures from when `eventCount` events are there for an engine that runs, and waits, until the last of them is
 * recorded; `queue` queues them and answers their destinations. A rate counts only when every event was recorded
 * after one attempt: throws otherwise.
 */
export async function runDeliveryPhase(
  { run, sender, receiver }: DeliveryBench,
  eventCount: number,
  queue: (tx: Transaction<Schema>) => Promise<readonly DestinationId[]>,
): Promise<Phase> {
  const { db } = sender
  const engine = sender.createEngine()
  receiver.send({ type: 'expect', expected: eventCount })
  const reached = receiver.next('reached')
  try {
    await engine.start()
    await db.transaction().execute(async (tx) => notifyDestinations(tx, await queue(tx)))
    const cpuBefore = process.cpuUsage()
    const startMs = performance.now()
    await reached
    while (await hasQueuedEvents(db)) await sleep(POLL_MS, undefined, { signal: run.signal })
    const elapsedMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(cpuBefore)
    const recorded = await countDelivered(db)
    if (recorded.deliveries !== eventCount || recorded.attempts !== eventCount) {
      throw new Error(`${eventCount} events were queued, ${JSON.stringify(recorded)} recorded`)
    }
    return {
      perSecond: (eventCount / elapsedMs) * 1000,
      cpuMicroseconds: (user + system) / eventCount,
    }
  } finally {
    await engine.close()
  }
}

/** The further numbers of phases with `eventCount` events each. */
export function describePhases(
  phases: readonly Phase[],
  eventCount: number,
): Measurement['details'] {
  const rates = phases.map(({ perSecond }) => perSecond)
  return {
    rounds: phases.length,
    events_per_round: eventCount,
    lowest_per_s: Math.min(...rates),
    highest_per_s: Math.max(...rates),
    process_cpu_us_per_event: median(phases.map(({ cpuMicroseconds }) => cpuMicroseconds)),
  }
}
