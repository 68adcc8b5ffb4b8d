import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, retryFast } from '../../../test/support/delivery-bench.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import { classifyPush } from '../push/push-channel.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

/** A channel whose requests are made by a function that is told of each claim. */
const toChannel = (prepare: DeliveryChannel['prepare']): DeliveryChannel => ({
  kind: 'webhook',
  logEvent: 'test.delivery_attempted',
  retryDelaysMs: retryFast,
  claimKid: () => null,
  prepare,
  classify: classifyPush,
})

/** How many deliveries somebody may take up at once. */
async function countFree(): Promise<number> {
  const { rows } = await sql`
    select from delivery
    where state = 'queued' and claimed_by is null and next_attempt_at <= now()`.execute(
    bench.database.db,
  )
  return rows.length
}

test('what is being prepared when an end begins is given back at once, however long that takes', async () => {
  const receiver = await bench.startReceiver()
  const begun = Promise.withResolvers<void>()
  const engine = await bench.startEngine(retryFast, {
    channels: [
      toChannel(() => {
        begun.resolve()
        return new Promise(() => undefined)
      }),
    ],
  })
  await bench.queue(receiver.id, ['a:1', 'a:2', 'b:1'])
  await begun.promise
  await nextTurn()
  await engine.close()
  expect(await countFree()).toBe(3)
  expect(receiver.requests).toEqual([])
})

test('a claim that comes after an end has begun is given back at once, and not prepared', async () => {
  const receiver = await bench.startReceiver()
  const prepared: string[] = []
  const channel = toChannel((_destinationId, deliveries) => {
    prepared.push(...deliveries.map(({ body }) => body))
    const request = { url: receiver.url, method: 'POST' as const, body: '' }
    return Promise.resolve(deliveries.map(() => ({ token: null, request })))
  })
  const claiming = Promise.withResolvers<void>()
  let beginEnd = () => undefined as unknown
  // Asked just before the statement that claims.
  const claimKid = () => {
    beginEnd()
    return null
  }
  const engine = await bench.startEngine(retryFast, { channels: [{ ...channel, claimKid }] })
  await bench.queue(receiver.id, ['a:1'])
  await bench.waitForStates(receiver.id, { delivered: 1 })
  beginEnd = () => {
    void engine.beginEnd()
    claiming.resolve()
  }
  await bench.queue(receiver.id, ['a:2', 'b:1'])
  await claiming.promise
  await engine.close()
  expect(await countFree()).toBe(2)
  expect(prepared).toEqual(['a:1'])
})
