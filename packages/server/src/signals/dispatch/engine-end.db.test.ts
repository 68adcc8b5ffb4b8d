import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, retryFast } from '../../../test/support/delivery-bench.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { giveBackTokens, setPace, takeTokens } from '../webhooks/webhook-pace-store.ts'
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

/** Less than a statement waits for a lock by itself. */
const END_TIMEOUT_MS = 15_000

test(
  'an end does not wait for long for what is given back and somebody has locked',
  async () => {
    const receiver = await bench.startReceiver()
    const begun = Promise.withResolvers<void>()
    const channel = toChannel(() => {
      begun.resolve()
      return new Promise(() => undefined)
    })
    const engine = await bench.startEngine(retryFast, { channels: [channel] })
    await bench.queue(receiver.id, ['a:1'])
    await begun.promise
    const locker = await bench.database.pool.connect()
    try {
      await locker.query('begin')
      await locker.query('select from delivery for no key update')
      await engine.close()
      expect(await countFree()).toBe(0)
    } finally {
      await locker.query('rollback')
      locker.release()
    }
  },
  END_TIMEOUT_MS,
)

test(
  'nor for a claim whose pace somebody has locked',
  async () => {
    const { db, pool } = bench.database
    const receiver = await bench.startReceiver()
    await setPace(db, receiver.id, 10)
    const pace = {
      take: (id: DestinationId, wanted: number) => takeTokens(db, id, wanted),
      giveBack: (id: DestinationId, count: number) => giveBackTokens(db, id, count),
    }
    const channel = { ...toChannel(() => Promise.resolve(undefined)), pace }
    const locker = await pool.connect()
    try {
      await locker.query('begin')
      await locker.query('select from webhook_pace for update')
      const engine = await bench.startEngine(retryFast, { channels: [channel] })
      await bench.queue(receiver.id, ['a:1'])
      await waitForLock(db)
      await engine.close()
      expect(await countFree()).toBe(1)
    } finally {
      await locker.query('rollback')
      locker.release()
    }
  },
  END_TIMEOUT_MS,
)
