/*
 * How many signed events per second leave the outbox: rows that are due, an RS256 signature with a
 * 2048-bit key each, an HTTP POST that a receiver in another process answers with 202, the outcome
 * recorded. Against signing and POSTing alone, in turn, so that both see the same machine.
 */
import { createLocalJWKSet, compactVerify } from 'jose'
import { systemClock } from '../src/platform/clock.ts'
import { measureBareSignAndPost } from './bare-sign-and-post.ts'
import {
  describePhases,
  EVENTS_MAX,
  PHASE_SHARE,
  ROUNDS,
  runDeliveryPhase,
  startDeliveryBench,
  WARM_UP_EVENTS,
  type DeliveryBench,
  type Phase,
} from './delivery-phase.ts'
import { deleteEvents, insertQueuedEvents } from './outbox-store.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { median, medianRatio } from './statistics.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'

const STREAMS_MANY = 8
const RATIO_TARGET = 0.75
/** The engine needs longer for as many events, and most of all on a machine that others use. */
const ENGINE_SHARE = 0.6

export const signedDelivery: Scenario = {
  title: 'Signed events delivered end to end',
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const bench = await startDeliveryBench(run)
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

/** Queues events and measures until the last one is recorded as delivered. */
export async function deliverSigned(
  bench: DeliveryBench,
  streamCount: number,
  eventCount: number,
): Promise<Phase> {
  const { sender, url } = bench
  const { db } = sender
  const destinationIds: DestinationId[] = []
  for (let stream = 0; stream < streamCount; stream += 1) {
    const at = systemClock.now()
    destinationIds.push(await insertPushStream(db, { endpointUrl: url, issuer: url, at }))
  }
  try {
    const phase = await runDeliveryPhase(bench, eventCount, async (tx) => {
      await insertQueuedEvents(tx, destinationIds, eventCount)
      return destinationIds
    })
    await verifyReceived(bench, eventCount)
    return phase
  } finally {
    await deleteEvents(sender)
    await db.deleteFrom('ssf_stream').execute()
    await db.deleteFrom('delivery_destination').execute()
  }
}

/** A rate counts only when every event was sent once, and signed with the published key. */
async function verifyReceived(
  { sender, receiver }: DeliveryBench,
  eventCount: number,
): Promise<void> {
  receiver.send({ type: 'report' })
  const { count, lastToken } = await receiver.next('report')
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
    target: `>= ${RATIO_TARGET * 100} % of bare sign-and-POST`,
    measured: { value: median(rates), unit: '/s' },
    limit: { what: 'bare sign-and-POST', value: median(bare), unit: '/s' },
    ratio,
    isReached: ratio >= RATIO_TARGET,
    details: describePhases(phases, eventCount),
  }
}
