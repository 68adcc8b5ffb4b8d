import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createDeliveryBench, numberedEvents } from '../../../test/support/delivery-bench.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

test('whoever watches is told when a receiver begins to fail and when it is well again, and not with each attempt', async () => {
  let answers = 0
  const receiver = await bench.startReceiver((_request, response) => {
    answers += 1
    response.writeHead(answers <= 3 ? 503 : 202).end()
  })
  const told: string[] = []
  await bench.startEngine([20, 20, 20, 20], {
    topics: {
      tell: (topics) => told.push(...topics.map((topic) => topic.replace(/:\d+$/, ''))),
    },
  })
  await bench.queue(receiver.id, numberedEvents(1, 1))
  await vi.waitFor(() => expect(told.filter((topic) => topic === 'deliveries')).toHaveLength(4))
  const failing = ['deliveries', 'webhooks', 'deliveries', 'deliveries']
  expect(told).toEqual([...failing, 'deliveries', 'webhooks'])
})
