/*
 * Between which ids a worker looks for deliveries: where something waits, and where nothing can come any more.
 */
import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { newUuid } from '../src/platform/ids.ts'
import { shareLockInTransaction } from '../src/platform/db/advisory-lock.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import { LOCK_KEYS } from '../src/schema/lock-keys.ts'
import { claimDeliveries, findDestinationSchedule } from '../src/signals/dispatch/claim-store.ts'
import {
  EVERY_DELIVERY,
  findDeliveryEnd,
  isWithin,
  PARTITION_IDS,
  toDeliveryRange,
  type DeliveryRange,
} from '../src/signals/dispatch/delivery-range-store.ts'
import { insertDestination } from '../src/signals/dispatch/destination-store.ts'
import { raiseQueuedFrom } from '../src/signals/dispatch/queued-from-store.ts'
import { createDeliveryBench, retryFast, WAIT_MS } from './support/delivery-bench.ts'
import { addDeliveries, setNextId } from './support/partitioned-deliveries.ts'

const bench = await createDeliveryBench()
const { db } = bench.database
afterEach(() => bench.clear())
afterAll(() => bench.close())

const SIZE = Number(PARTITION_IDS)
describe('where a worker looks', () => {
  it('is between the bounds of partitions', async () => {
    const { rows } = await sql<{ size: string }>`select partition_size::text as size
      from partitioned_tables() where table_name in ('delivery', 'delivery_attempt')`.execute(db)
    expect(rows.map(({ size }) => BigInt(size))).toEqual([PARTITION_IDS, PARTITION_IDS])
    expect(toDeliveryRange([String(SIZE + 5), String(3 * SIZE - 1)])).toEqual({
      fromId: PARTITION_IDS,
      toId: 3n * PARTITION_IDS,
    })
  })

  it('is no partition but those in which something can wait', async () => {
    await setNextId(db, 5 * SIZE + 1)
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    const range = { fromId: 5n * PARTITION_IDS, toId: await findDeliveryEnd(db) }
    const countScans = async (of: DeliveryRange) => {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain select from delivery d where d.destination_id = ${id} and d.state = 'queued'
          and ${isWithin('d', of)}`.execute(db)
      return rows.filter((row) => row['QUERY PLAN'].includes('Scan')).length
    }
    expect(await countScans(EVERY_DELIVERY)).toBeGreaterThan(3)
    expect(await countScans(range)).toBe(1)
  })

  it('begins later when what was before has ended, and earlier as soon as some of it waits again', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    await setNextId(db, 6 * SIZE + 10)
    const old = await addDeliveries(db, id, { count: 2, ageDays: 3 })
    const waiting = await addDeliveries(db, id, { count: 1, ageDays: 3, state: 'queued' })
    await setNextId(db, 8 * SIZE + 10)
    await addDeliveries(db, id, { count: 1, ageDays: 2, state: 'queued' })
    const rangeOf = async () =>
      (await findDestinationSchedule(db, id))?.range.fromId ?? expect.unreachable()
    await raiseQueuedFrom(db)
    expect(await rangeOf()).toBe(6n * PARTITION_IDS)
    const { queued_from_id: exact } = await db
      .selectFrom('delivery_destination')
      .select('queued_from_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(exact).toBe(waiting)

    await db.updateTable('delivery').set({ state: 'dead' }).where('id', '=', waiting).execute()
    await raiseQueuedFrom(db)
    expect(await rangeOf()).toBe(8n * PARTITION_IDS)
    await db.updateTable('delivery').set({ state: 'queued' }).where('id', '=', old).execute()
    expect(await rangeOf()).toBe(6n * PARTITION_IDS)
  })

  it('does not begin behind what others may still add, or are about to have wait again', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    await setNextId(db, 10 * SIZE + 10)
    const old = await addDeliveries(db, id, { count: 1, ageDays: 3 })
    await setNextId(db, 11 * SIZE + 10)
    await addDeliveries(db, id, { count: 1 })
    const from = () =>
      db
        .selectFrom('delivery_destination')
        .select('queued_from_id')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
        .then((row) => BigInt(row.queued_from_id))
    await raiseQueuedFrom(db)
    expect(await from()).toBe(10n * PARTITION_IDS)
    await sql`update delivery set created_at = now() - interval '2 days'`.execute(db)
    await db.transaction().execute(async (tx) => {
      await tx.updateTable('delivery').set({ state: 'queued' }).where('id', '=', old).execute()
      await raiseQueuedFrom(db, { writersMaxMs: 0 })
      expect(await from()).toBe(10n * PARTITION_IDS)
    })
    await db.transaction().execute(async (tx) => {
      await shareLockInTransaction(tx, LOCK_KEYS.waitingDeliveries)
      await raiseQueuedFrom(db)
      expect(await from()).toBe(10n * PARTITION_IDS)
    })
    await raiseQueuedFrom(db)
    expect(await from()).toBe(BigInt(old))
  })

  it('does not begin behind what somebody adds who has begun long ago', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    const from = async () => (await findDestinationSchedule(db, id))?.range.fromId
    for (const number of [23, 22]) await setNextId(db, number * SIZE + 10)
    let slow = ''
    await db.transaction().execute(async (tx) => {
      slow = await addDeliveries(tx, id, { count: 1, ageDays: 3, state: 'queued' })
      await sql`select setval('delivery_id_seq', ${23 * SIZE}::bigint)`.execute(db)
      await addDeliveries(db, id, { count: 1, ageDays: 2 })
      await raiseQueuedFrom(db, { writersMaxMs: 150 })
      expect(await from()).toBe(0n)
    })
    await raiseQueuedFrom(db)
    expect(await from()).toBe(22n * PARTITION_IDS)
    expect(BigInt(slow)).toBe(22n * PARTITION_IDS + 10n)
  })

  it('is raised without waiting for those who have a destination, and without holding one up', async () => {
    const insert = () => insertDestination(db, { kind: 'webhook', state: 'active' })
    const [first, used, last] = [await insert(), await insert(), await insert()]
    const from = async (id: DestinationId) => (await findDestinationSchedule(db, id))?.range.fromId
    await setNextId(db, 25 * SIZE + 10)
    await addDeliveries(db, first, { count: 1, ageDays: 2 })
    await db.transaction().execute(async (tx) => {
      await sql`update delivery_destination set consecutive_failures = 1 where id = ${used}`.execute(
        tx,
      )
      await raiseQueuedFrom(db)
      expect(await from(first)).toBe(25n * PARTITION_IDS)
      expect(await from(used)).toBe(0n)
      expect(await from(last)).toBe(25n * PARTITION_IDS)
    })
    await raiseQueuedFrom(db)
    expect(await from(used)).toBe(25n * PARTITION_IDS)
  })

  it('is never past an older event of a device that waits again: nothing is claimed before it', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    await setNextId(db, 13 * SIZE + 10)
    const old = await addDeliveries(db, id, { count: 1, ageDays: 3 })
    await setNextId(db, 14 * SIZE + 10)
    const young = await addDeliveries(db, id, { count: 1, ageDays: 2, state: 'queued' })
    await raiseQueuedFrom(db)
    const known = (await findDestinationSchedule(db, id, EVERY_DELIVERY))?.range
    expect(known?.fromId).toBe(14n * PARTITION_IDS)
    const claim = async (range = EVERY_DELIVERY) => {
      const { deliveries } = await claimDeliveries(db, {
        destinationId: id,
        claimId: newUuid(),
        ownClaimIds: [],
        leaseMs: 60_000,
        limit: 10,
        kid: null,
        range,
      })
      return deliveries.map((delivery) => delivery.id)
    }
    await db.updateTable('delivery').set({ state: 'queued' }).where('id', '=', old).execute()
    expect(await claim(known)).toEqual([])
    const schedule = await findDestinationSchedule(db, id, known)
    expect(schedule?.range.fromId).toBe(13n * PARTITION_IDS)
    expect(schedule?.nextDueInMs).toBeLessThanOrEqual(0)
    expect(await claim(schedule?.range)).toEqual([old, young])
  })

  it('reaches everything that waits, older than the last partition and beyond the present one', async () => {
    const receiver = await bench.startReceiver()
    await setNextId(db, 16 * SIZE + 10)
    const old = await addDeliveries(db, receiver.id, { count: 1, ageDays: 3 })
    await setNextId(db, 17 * SIZE + 10)
    await addDeliveries(db, receiver.id, { count: 1, ageDays: 2 })
    await raiseQueuedFrom(db)
    const engine = await bench.startEngine(retryFast)
    await bench.queue(receiver.id, ['one:present'])
    await bench.waitForStates(receiver.id, { delivered: 3 })

    await sql`select setval('delivery_id_seq', ${20 * SIZE}::bigint)`.execute(db)
    await bench.queue(receiver.id, ['one:beyond'])
    await bench.waitForStates(receiver.id, { delivered: 4 })

    await db
      .updateTable('delivery')
      .set({ state: 'queued', body: 'one:again' })
      .where('id', '=', old)
      .execute()
    engine.wake(receiver.id)
    await bench.waitForStates(receiver.id, { delivered: 4 })
    await vi.waitFor(
      () =>
        expect(receiver.requests.map(({ body }) => body)).toEqual([
          'one:present',
          'one:beyond',
          'one:again',
        ]),
      WAIT_MS,
    )
  })
})
