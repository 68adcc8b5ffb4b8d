import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, retryFast } from '../../../test/support/delivery-bench.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import { classifyPush } from '../push/push-channel.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

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
  await bench.queue(former.id, ['a:1', 'a:2', 'a:3'])
  const engine = await bench.startEngine(retryFast, { channels: [channel] })
  await isBegun
  url = present.url
  engine.onTargetChanged(former.id)
  goOn()
  await bench.waitForStates(former.id, { delivered: 3 })
  expect(former.requests).toEqual([])
  expect(present.requests.map(({ body }) => body)).toEqual(['a:1', 'a:2', 'a:3'])
})
