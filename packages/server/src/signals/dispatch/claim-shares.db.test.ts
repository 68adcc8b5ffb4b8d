import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import {
  createDeliveryBench,
  numberedEvents,
  WAIT_MS,
  type BenchReceiver,
} from '../../../test/support/delivery-bench.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

const EVENTS = 60

async function countClaimed(): Promise<number> {
  const { rows } = await bench.database.pool.query<{ count: number }>(
    'select count(*)::int as count from delivery where claimed_by is not null',
  )
  return rows[0]?.count ?? 0
}

test('who looks in vain takes nothing of it', async () => {
  const engine = await bench.startEngine([60_000], {
    settings: { sweepIntervalMs: 60_000, claimSize: 20, claimedByAllMax: 100, claimedMin: 4 },
  })
  for (let at = 0; at < 10; at += 1) {
    const { id } = await bench.startReceiver()
    await bench.queue(id, ['a:1'])
    await bench.waitForStates(id, { delivered: 1 })
    // Each look but the first may claim.
    for (let look = 0; look < 3; look += 1) {
      engine.wake(id)
      await sleep(20)
    }
  }
  const slow = await bench.startReceiver(() => undefined)
  await bench.queue(slow.id, numberedEvents(EVENTS, EVENTS))
  await vi.waitFor(async () => expect(await countClaimed()).toBe(EVENTS), { timeout: WAIT_MS })
})

test('slow receivers that all have much waiting when a process starts share what it may have claimed', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
  const receivers: BenchReceiver[] = []
  for (let at = 0; at < 16; at += 1) {
    const receiver = await bench.startReceiver((_request, response) => {
      void mayAnswer.then(() => response.writeHead(202).end())
    })
    await bench.queue(receiver.id, numberedEvents(EVENTS, EVENTS))
    receivers.push(receiver)
  }
  await bench.startEngine([60_000], {
    settings: {
      concurrency: 2,
      claimSize: 20,
      claimedMax: 40,
      claimedByAllMax: 100,
      claimedMin: 4,
    },
  })
  await vi.waitFor(() => receivers.forEach(({ requests }) => expect(requests).toHaveLength(2)), {
    timeout: WAIT_MS,
  })
  expect(await countClaimed()).toBeLessThanOrEqual(100 + receivers.length * 4)
  answer()
  for (const { id } of receivers) await bench.waitForStates(id, { delivered: EVENTS })
})

test('who has its share does not look before some of it has ended', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
  const receiver = await bench.startReceiver((_request, response) => {
    void mayAnswer.then(() => response.writeHead(202).end())
  })
  await bench.queue(receiver.id, numberedEvents(EVENTS, EVENTS))
  const statements = await recordStatements(async () => {
    await bench.startEngine([60_000], {
      settings: { sweepIntervalMs: 60_000, concurrency: 2, claimSize: 10, claimedMax: 20 },
    })
    await vi.waitFor(async () => expect(await countClaimed()).toBe(20), { timeout: WAIT_MS })
    await sleep(100)
  })
  // One before anything is known of the destination, and one that also claims.
  const looks = statements.filter(({ text }) => text.includes('as "isPaced"'))
  expect(looks).toHaveLength(2)
  answer()
  await bench.waitForStates(receiver.id, { delivered: EVENTS })
})
