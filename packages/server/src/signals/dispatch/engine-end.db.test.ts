import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, retryFast } from '../../../test/support/delivery-bench.ts'
import { classifyPush } from '../push/push-channel.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

test('what is being prepared when an end begins is given back, and not sent', async () => {
  const receiver = await bench.startReceiver()
  const begun = Promise.withResolvers<void>()
  const going = Promise.withResolvers<void>()
  const engine = await bench.startEngine(retryFast, {
    channels: [
      {
        kind: 'webhook',
        logEvent: 'test.delivery_attempted',
        retryDelaysMs: retryFast,
        claimKid: () => null,
        prepare: async (_destinationId, deliveries) => {
          begun.resolve()
          await going.promise
          const request = { url: receiver.url, method: 'POST' as const, body: '' }
          return deliveries.map(() => ({ token: null, request }))
        },
        classify: classifyPush,
      },
    ],
  })
  await bench.queue(receiver.id, ['a:1', 'a:2', 'b:1'])
  await begun.promise
  await nextTurn()
  const closing = engine.close()
  await nextTurn()
  going.resolve()
  await closing
  const claimed = await bench.database.db
    .selectFrom('delivery')
    .select('id')
    .where('claimed_by', 'is not', null)
    .execute()
  expect(claimed).toEqual([])
  expect(receiver.requests).toEqual([])
})
