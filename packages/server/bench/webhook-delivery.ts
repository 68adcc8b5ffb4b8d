/*
 * How many webhooks per second leave the outbox: rows that are due, an HMAC each, an HTTP POST that a
 * receiver in another process answers with 202, the outcome recorded. In turn with signed events, which
 * the same engine delivers, so that both see the same machine.
 */
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
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { deliverSigned } from './signed-delivery.ts'
import { median, medianRatio } from './statistics.ts'
import { measureEventsAlone } from './webhook-events-alone.ts'
import { deleteBenchWebhooks, insertBenchWebhook, insertQueuedWebhooks } from './webhook-store.ts'

const WEBHOOKS_MANY = 8
/** A thousand a second on two cores is what a sender of webhooks is expected to sustain. */
const TARGET_PER_SECOND = 1_000

export const webhookDelivery: Scenario = {
  title: 'Webhooks delivered end to end',
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const bench = await startDeliveryBench(run)
  run.progress('warming up')
  await deliverSigned(bench, 1, WARM_UP_EVENTS)
  const { perSecond } = await deliverWebhooks(bench, 1, WARM_UP_EVENTS)
  const phaseSeconds = Math.max(1, run.seconds * PHASE_SHARE)
  const eventCount = Math.ceil(Math.min(EVENTS_MAX, perSecond * phaseSeconds))
  const signed: Phase[] = []
  const one: Phase[] = []
  const many: Phase[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    run.signal.throwIfAborted()
    run.progress(`round ${round} of ${ROUNDS}: ${eventCount} signed events`)
    signed.push(await deliverSigned(bench, 1, eventCount))
    run.progress(`round ${round} of ${ROUNDS}: ${eventCount} webhooks to one receiver`)
    one.push(await deliverWebhooks(bench, 1, eventCount))
    run.progress(`round ${round} of ${ROUNDS}: ${eventCount} webhooks to ${WEBHOOKS_MANY}`)
    many.push(await deliverWebhooks(bench, WEBHOOKS_MANY, eventCount))
  }
  return [
    toMeasurement('one webhook', one, signed, eventCount),
    toMeasurement(`${WEBHOOKS_MANY} webhooks`, many, signed, eventCount),
    ...(await measureEventsAlone(bench)),
  ]
}

/** Queues deliveries and measures until the last one is recorded. */
async function deliverWebhooks(
  bench: DeliveryBench,
  webhookCount: number,
  eventCount: number,
): Promise<Phase> {
  const { sender, url } = bench
  for (let webhook = 0; webhook < webhookCount; webhook += 1) await insertBenchWebhook(sender, url)
  try {
    return await runDeliveryPhase(bench, eventCount, (tx) => insertQueuedWebhooks(tx, eventCount))
  } finally {
    await deleteBenchWebhooks(sender)
  }
}

function toMeasurement(
  what: string,
  phases: readonly Phase[],
  signed: readonly Phase[],
  eventCount: number,
): Measurement {
  const rates = phases.map(({ perSecond }) => perSecond)
  const signedRates = signed.map(({ perSecond }) => perSecond)
  const measured = median(rates)
  return {
    what: `webhooks delivered, ${what}`,
    target: `>= ${TARGET_PER_SECOND}/s`,
    measured: { value: measured, unit: '/s' },
    limit: { what: 'signed events, one stream', value: median(signedRates), unit: '/s' },
    ratio: medianRatio(rates, signedRates),
    isReached: measured >= TARGET_PER_SECOND,
    details: describePhases(phases, eventCount),
  }
}
