import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
} from '../../../test/support/loopback-receiver.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../../platform/clock.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { createListener, type Listener } from '../../platform/db/listener.ts'
import { newUuid } from '../../platform/ids.ts'
import { createGuardedClient } from '../../platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { classifyPush } from '../push/push-channel.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import { createTestEngine, UNSEEN_WORKER } from '../../../test/support/test-engine.ts'
import { insertDestination } from './destination-store.ts'
import { insertDeliveries } from './delivery-store.ts'
import { createWorkerPresence } from './worker-presence.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const database = await createTestDatabase()
const { db } = database
const change = createChangeRunner(db, systemClock, [])
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const policy = parseAllowedTargets('127.0.0.1')
if (!policy.ok) throw new Error(policy.reason)
const client = createGuardedClient({ policy: policy.policy, userAgent: 'test' })
const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp()
  await db.deleteFrom('delivery_destination').execute()
})
afterAll(async () => {
  await client.close()
  await database.close()
})

function openListener(): Listener {
  const listener = createListener(database.connection, { log, network: new DatabaseNetwork() })
  listener.start()
  cleanups.push(() => listener.stop())
  return listener
}

function channelTo(receiver: LoopbackReceiver): DeliveryChannel {
  return {
    kind: 'webhook',
    logEvent: 'test.delivery_attempted',
    retryDelaysMs: [50],
    claimKid: () => null,
    prepare: (_destinationId, deliveries) =>
      Promise.resolve(
        deliveries.map(({ body }) => ({
          token: null,
          request: { url: receiver.url, method: 'POST' as const, body },
        })),
      ),
    classify: classifyPush,
  }
}

/** A worker on connections of its own; `die` breaks all of them and gives nothing back. */
async function startWorker(receiver: LoopbackReceiver): Promise<{ die(): Promise<void> }> {
  const listener = openListener()
  const own = openDatabase<Schema>(database.connection, {
    network: new DatabaseNetwork(),
    poolMax: 4,
    logError: () => undefined,
  })
  const engine = createTestEngine({
    db: own.db,
    clock: systemClock,
    log,
    client,
    channels: [channelTo(receiver)],
    presence: createWorkerPresence({ db: own.db, listener }),
    settings: { sweepIntervalMs: 200, presenceIntervalMs: 200, requestTimeoutMs: 60_000 },
  })
  cleanups.push(async () => {
    await engine.close(0)
    await own.close()
  })
  await engine.start()
  return {
    die: async () => {
      await own.close()
      await listener.stop()
    },
  }
}

async function startReceiver(): Promise<LoopbackReceiver> {
  const receiver = await startLoopbackReceiver(() => undefined)
  cleanups.push(() => receiver.close())
  return receiver
}

async function queue(count: number): Promise<DestinationId> {
  const destinationId = await insertDestination(db, { kind: 'webhook', state: 'active' })
  await change({ actor: SYSTEM_ACTOR }, (open) =>
    insertDeliveries(
      open,
      Array.from({ length: count }, (_, index) => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey: `device:${index % 2}`,
        body: String(index),
      })),
    ),
  )
  return destinationId
}

test('what a dead worker had claimed is delivered by another within seconds, far sooner than its lease ends', async () => {
  const receiver = await startReceiver()
  await queue(20)
  // Never answered: the first worker dies with all of it claimed.
  const dead = await startWorker(receiver)
  await vi.waitFor(() => expect(receiver.requests.length).toBe(2), WAIT_MS)
  receiver.respond(answerWith(202))
  const sent = receiver.requests.length
  await startWorker(receiver)
  // Longer than a worker may be missing: while its connection lives, its claims are its own.
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect(receiver.requests.length).toBe(sent)
  await dead.die()
  await vi.waitFor(
    async () => {
      const rows = await db.selectFrom('delivery').select(['state', 'body']).execute()
      expect(rows.every(({ state }) => state === 'delivered')).toBe(true)
    },
    { timeout: 10_000, interval: 50 },
  )
  const delivered = receiver.requests.slice(sent).map(({ body }) => Number(body))
  for (const parity of [0, 1]) {
    const ofSubject = delivered.filter((number) => number % 2 === parity)
    expect(ofSubject).toEqual([...ofSubject].sort((left, right) => left - right))
  }
})

test('a worker that was taken for dead is looked after again once it is back', async () => {
  const one = openListener()
  const presence = createWorkerPresence({ db, listener: one })
  await presence.start()
  await db.deleteFrom('delivery_worker').execute()
  await presence.releaseDead()
  expect(await db.selectFrom('delivery_worker').selectAll().execute()).toHaveLength(1)
  await presence.close()
  expect(await db.selectFrom('delivery_worker').selectAll().execute()).toEqual([])
})

test('claims that belong to no worker are left to their lease', async () => {
  const destinationId = await queue(1)
  const claimId = newUuid()
  await db
    .updateTable('delivery')
    .set({ claimed_by: claimId, claim_expires_at: new Date(Date.now() + 60_000) })
    .execute()
  const presence = createWorkerPresence({ db, listener: openListener() })
  await presence.start()
  await db
    .insertInto('delivery_worker')
    .values({ id: 7, started_at: new Date(), missing_since: new Date(Date.now() - 60_000) })
    .execute()
  expect(await presence.releaseDead()).toEqual([])
  const row = await db
    .selectFrom('delivery')
    .select('claimed_by')
    .where('destination_id', '=', destinationId)
    .executeTakeFirstOrThrow()
  expect(row.claimed_by).toBe(claimId)
  // The dead worker itself is forgotten.
  expect(await db.selectFrom('delivery_worker').select('id').where('id', '=', 7).execute()).toEqual(
    [],
  )
  await presence.close()
})

test('of the workers that live one claims first for each destination, another than for the next', async () => {
  const one = createWorkerPresence({ db, listener: openListener() })
  const other = createWorkerPresence({ db, listener: openListener() })
  const destinationIds = ['1', '2'] as DestinationId[]
  await one.start()
  expect(destinationIds.map((id) => one.isFirstFor(id))).toEqual([true, true])
  await other.start()
  await one.releaseDead()
  await other.releaseDead()
  const ofOne = destinationIds.map((id) => one.isFirstFor(id))
  expect(ofOne.filter((isFirst) => isFirst)).toHaveLength(1)
  expect(destinationIds.map((id) => other.isFirstFor(id))).toEqual(ofOne.map((isFirst) => !isFirst))
  await other.close()
  await one.releaseDead()
  expect(destinationIds.map((id) => one.isFirstFor(id))).toEqual([true, true])
  await one.close()
})

/** An engine that is the first of no destination, and whether a wake has it look at once. */
async function startOther(receiver: LoopbackReceiver) {
  let statementCount = 0
  const counted = db.withPlugin({
    transformQuery({ node }) {
      statementCount += 1
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  })
  const engine = createTestEngine({
    db: counted,
    client,
    channels: [channelTo(receiver)],
    presence: { ...UNSEEN_WORKER, isFirstFor: () => false },
    settings: { sweepIntervalMs: 600_000 },
  })
  cleanups.push(() => engine.close(0))
  await engine.start()
  return {
    engine,
    /** Once what it does by itself is over. */
    looksAtOnce: async (destinationId: DestinationId) => {
      await vi.waitFor(async () => {
        const before = statementCount
        await new Promise((resolve) => setTimeout(resolve, 500))
        expect(statementCount).toBe(before)
      }, WAIT_MS)
      const before = statementCount
      engine.wake(destinationId)
      await nextTurn()
      return statementCount > before
    },
  }
}

test('a worker that is not the first of a destination takes up what the first one leaves, and what comes soon after that at once', async () => {
  const receiver = await startReceiver()
  receiver.respond(answerWith(202))
  const { looksAtOnce } = await startOther(receiver)
  // A busy machine may take longer for a look than the worker stands in.
  await vi.waitFor(async () => {
    const before = receiver.requests.length
    const destinationId = await queue(1)
    expect(await looksAtOnce(destinationId)).toBe(false)
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(before + 1), WAIT_MS)
    expect(await looksAtOnce(destinationId)).toBe(true)
  }, WAIT_MS)
})

test('a worker that is not the first sees at once that a destination has changed of which it has claimed something', async () => {
  const receiver = await startReceiver()
  const { engine, looksAtOnce } = await startOther(receiver)
  const destinationId = await queue(1)
  // Not by a wake, so that it does not stand in for the first.
  await engine.sweep()
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT_MS)
  expect(await looksAtOnce(destinationId)).toBe(true)
})
