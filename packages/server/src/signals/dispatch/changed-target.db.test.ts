import { afterAll, afterEach, expect, test, vi } from 'vitest'
import {
  createDeliveryBench,
  firstArrivals,
  numberedEvents,
  retryFast,
  WAIT_MS,
  type BenchReceiver,
} from '../../../test/support/delivery-bench.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import { classifyPush } from '../push/push-channel.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

/** One as a rule; a look that is under way then may meet what was given back, and have to give it back again. */
const RELEASES_MAX = 3
/** No sweep has a destination looked at while something is given back. */
const sweepIntervalMs = 600_000

/** How many statements give claims back while something is done. */
async function countReleases(work: () => Promise<unknown>): Promise<number> {
  const statements = await recordStatements(work)
  return statements.filter(({ text }) => text.includes('as released')).length
}

test('what is being prepared when its target changes is prepared again, and sent in its order', async () => {
  const former = await bench.startReceiver()
  const present = await bench.startReceiver()
  let url = former.url
  let begun: () => void = () => undefined
  let goOn: () => void = () => undefined
  const isBegun = new Promise<void>((resolve) => (begun = resolve))
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve))
  const channel: DeliveryChannel = {
    kind: 'webhook',
    logEvent: 'test.delivery_attempted',
    retryDelaysMs: retryFast,
    claimKid: () => null,
    async prepare(_destinationId, deliveries) {
      const known = url
      begun()
      await mayGoOn
      return deliveries.map(({ body }) => ({
        token: null,
        request: { url: known, method: 'POST', body },
      }))
    },
    classify: classifyPush,
  }
  const events = numberedEvents(60, 20)
  await bench.queue(former.id, events)
  const engine = await bench.startEngine(retryFast, {
    channels: [channel],
    settings: { sweepIntervalMs },
  })
  await isBegun
  url = present.url
  engine.onTargetChanged(former.id)
  const releases = await countReleases(async () => {
    goOn()
    await bench.waitForStates(former.id, { delivered: events.length })
  })
  expect(former.requests).toEqual([])
  const arrivals = present.requests.map(({ body }) => body)
  expect(firstArrivals(arrivals)).toEqual(firstArrivals(events))
  expect(arrivals).toHaveLength(events.length)
  expect(releases).toBeLessThanOrEqual(RELEASES_MAX)
})

test('what waits for any receiver goes back by one statement when each may have changed, and is sent in its order', async () => {
  const events = numberedEvents(40, 10)
  const receivers: BenchReceiver[] = []
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
  for (let at = 0; at < 8; at += 1) {
    const receiver = await bench.startReceiver((_request, response) => {
      void mayAnswer.then(() => response.writeHead(202).end())
    })
    await bench.queue(receiver.id, events)
    receivers.push(receiver)
  }
  const engine = await bench.startEngine(retryFast, {
    settings: { concurrency: 2, sweepIntervalMs },
  })
  await vi.waitFor(() => receivers.forEach(({ requests }) => expect(requests).toHaveLength(2)), {
    timeout: WAIT_MS,
  })
  const releases = await countReleases(async () => {
    engine.onTargetChanged()
    answer()
    for (const { id } of receivers) await bench.waitForStates(id, { delivered: events.length })
  })
  expect(releases).toBeLessThanOrEqual(RELEASES_MAX)
  for (const { requests } of receivers) {
    expect(requests).toHaveLength(events.length)
    expect(firstArrivals(requests.map(({ body }) => body))).toEqual(firstArrivals(events))
  }
})
