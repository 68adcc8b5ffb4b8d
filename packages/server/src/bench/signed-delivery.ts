/*
 * How many signed events per second leave the outbox: rows that are due, an RS256 signature with a
 * 2048-bit key each, an HTTP POST that a receiver in another process answers with 202, the outcome
 * recorded. Against signing and POSTing alone, in turn, so that both see the same machine.
 */
import { createLocalJWKSet, compactVerify } from 'jose'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../platform/clock.ts'
import { measureBareSignAndPost } from './bare-sign-and-post.ts'
import { startChildProgram, type ChildProgram } from './child-program.ts'
import {
  countDelivered,
  deleteEvents,
  hasQueuedEvents,
  insertQueuedEvents,
} from './outbox-store.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startSenderServices, type SenderServices } from './sender-services.ts'
import { median, medianRatio } from './statistics.ts'

const ROUNDS = 3
const STREAMS_MANY = 8
const POLL_MS = 5
/** Of the asked time: a round has three phases, and there are several rounds. */
const PHASE_SHARE = 0.4
/** The engine needs longer for as many events, and most of all on a machine that others use. */
const ENGINE_SHARE = 0.6
const EVENTS_MAX = 100_000
const WARM_UP_EVENTS = 3_000

export const signedDelivery: Scenario = {
  name: 'delivery',
  title: 'Signed events delivered end to end',
  run: measure,
}

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

async function measure(run: BenchRun): Promise<Measurement[]> {
  const bench = await prepareDelivery(run)
  const phaseSeconds = Math.max(1, run.seconds * PHASE_SHARE)
  run.progress('warming up')
  await deliverSigned(bench, 1, WARM_UP_EVENTS)
  const warmRate = await measureBareSignAndPost(bench.sender.keyRing, bench.url, 1)
  const eventCount = Math.ceil(Math.min(EVENTS_MAX, warmRate * phaseSeconds * ENGINE_SHARE))

  const bare: number[] = []
  const one: Phase[] = []
  const many: Phase[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    run.signal.throwIfAborted()
    run.progress(`round ${round} of ${ROUNDS}: bare sign-and-POST`)
    bare.push(await measureBareSignAndPost(bench.sender.keyRing, bench.url, phaseSeconds))
    run.progress(`round ${round} of ${ROUNDS}: ${eventCount} events, one stream`)
    one.push(await deliverSigned(bench, 1, eventCount))
    run.progress(`round ${round} of ${ROUNDS}: ${eventCount} events, ${STREAMS_MANY} streams`)
    many.push(await deliverSigned(bench, STREAMS_MANY, eventCount))
  }
  return [
    toMeasurement('one stream', one, bare, eventCount),
    toMeasurement(`${STREAMS_MANY} streams`, many, bare, eventCount),
  ]
}

/** Starts the database and a receiver in a process of its own. */
export async function prepareDelivery(run: BenchRun): Promise<DeliveryBench> {
  run.progress('starting database and receiver')
  const receiver = startChildProgram<ReceiverCommand, ReceiverAnswer>(run, 'receiver-program')
  const [{ port }, sender] = await Promise.all([
    receiver.next('listening'),
    startSenderServices(run),
  ])
  return { run, sender, receiver, url: `http://127.0.0.1:${port}/events` }
}

/** Queues events and measures from the engine's start until the last one is recorded as delivered. */
export async function deliverSigned(
  bench: DeliveryBench,
  streamCount: number,
  eventCount: number,
): Promise<Phase> {
  const { run, sender, receiver, url } = bench
  const { db } = sender
  const destinationIds: string[] = []
  for (let stream = 0; stream < streamCount; stream += 1) {
    const at = systemClock.now()
    destinationIds.push(await insertPushStream(db, { endpointUrl: url, issuer: url, at }))
  }
  await insertQueuedEvents(db, destinationIds, eventCount)
  const engine = sender.createEngine()
  receiver.send({ type: 'expect', expected: eventCount })
  const reached = receiver.next('reached')
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  try {
    await engine.start()
    await reached
    while (await hasQueuedEvents(db)) await sleep(POLL_MS, undefined, { signal: run.signal })
    const elapsedMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(cpuBefore)
    await verifyDelivered(bench, eventCount)
    return {
      perSecond: (eventCount / elapsedMs) * 1000,
      cpuMicroseconds: (user + system) / eventCount,
    }
  } finally {
    await engine.close(0)
    await deleteEvents(db)
    await db.deleteFrom('ssf_stream').execute()
    await db.deleteFrom('delivery_destination').execute()
  }
}

/** A rate counts only when every event was sent once, recorded, and signed with the published key. */
async function verifyDelivered(
  { sender, receiver }: DeliveryBench,
  eventCount: number,
): Promise<void> {
  receiver.send({ type: 'report' })
  const { count, lastToken } = await receiver.next('report')
  const recorded = await countDelivered(sender.db)
  if (recorded.deliveries !== eventCount || recorded.attempts !== eventCount) {
    throw new Error(`${eventCount} events were queued, ${JSON.stringify(recorded)} recorded`)
  }
  if (count !== eventCount) throw new Error(`${eventCount} queued, the receiver has ${count}`)
  await compactVerify(lastToken, createLocalJWKSet({ keys: sender.keyRing.publishedKeys() }))
}

function toMeasurement(
  streams: string,
  phases: readonly Phase[],
  bare: readonly number[],
  eventCount: number,
): Measurement {
  const rates = phases.map(({ perSecond }) => perSecond)
  const ratio = medianRatio(rates, bare)
  return {
    what: `signed events delivered, ${streams}`,
    target: '>= 60 % of bare sign-and-POST',
    measured: { value: median(rates), unit: '/s' },
    limit: { what: 'bare sign-and-POST', value: median(bare), unit: '/s' },
    ratio,
    isReached: ratio >= 0.6,
    details: {
      rounds: phases.length,
      events_per_round: eventCount,
      lowest_per_s: Math.min(...rates),
      highest_per_s: Math.max(...rates),
      process_cpu_us_per_event: median(phases.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    },
  }
}
