import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { EVERY_ATTEMPT } from './attempt-read.ts'
import { listLatestAttempts } from './delivery-read.ts'
import { countPutOff } from '../../../test/support/count-put-off.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
  type Respond,
} from '../../../test/support/loopback-receiver.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { systemClock } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import { createGuardedClient } from '../../platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { classifyPush } from '../push/push-channel.ts'
import { claimDeliveries } from './claim-store.ts'
import type { DeliveryChannel, DestinationNotice, Verdict } from './delivery-channel.ts'
import type { DeliveryEngine } from './delivery-engine.ts'
import { createTestEngine } from '../../../test/support/test-engine.ts'
import type { DeliverySettings } from './delivery-settings.ts'
import { insertDestination } from './destination-store.ts'
import { insertDeliveries } from './delivery-store.ts'
import { redriveDeliveries } from './redrive-deliveries.ts'
import { requeueDelivery } from './redrive-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const database = await createTestDatabase()
const { db } = database
const change = createChangeRunner(db, systemClock, [])
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const policy = parseAllowedTargets('127.0.0.1')
if (!policy.ok) throw new Error(policy.reason)
const client = createGuardedClient({ policy: policy.policy, userAgent: 'test' })

const engines: DeliveryEngine[] = []
const receivers: LoopbackReceiver[] = []

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close(50)
  for (const receiver of receivers.splice(0)) await receiver.close()
  await db.deleteFrom('delivery_destination').execute()
  vi.clearAllMocks()
})
afterAll(async () => {
  await client.close()
  await database.close()
})

const urls = new Map<string, string>()

const GONE: Verdict = { kind: 'gone', errorCode: 'http_410', error: 'no more' }
const notices: DestinationNotice[] = []

function testChannel(retryDelaysMs: readonly number[]): DeliveryChannel {
  return {
    onNotice: (change, notice) => {
      notices.push(notice)
      change.recordAudit({ action: 'test.noticed', target: null, description: notice.kind })
      return Promise.resolve()
    },
    kind: 'webhook',
    logEvent: 'test.delivery_attempted',
    retryDelaysMs,
    claimKid: () => null,
    prepare: (destinationId, deliveries) =>
      Promise.resolve(
        deliveries.map(({ body }) => ({
          token: null,
          request: { url: urls.get(destinationId) ?? '', method: 'POST' as const, body },
        })),
      ),
    classify: (result) => (result.status === 410 ? GONE : classifyPush(result)),
  }
}

async function startEngine(
  options: { retryDelaysMs?: readonly number[]; settings?: Partial<DeliverySettings> } = {},
): Promise<DeliveryEngine> {
  const engine = createTestEngine({
    db,
    clock: systemClock,
    log,
    client,
    channels: [testChannel(options.retryDelaysMs ?? [50, 50, 50])],
    settings: { sweepIntervalMs: 200, requestTimeoutMs: 60_000, ...options.settings },
  })
  engines.push(engine)
  await engine.start()
  return engine
}

async function startReceiver(respond?: Respond): Promise<LoopbackReceiver & { id: DestinationId }> {
  const receiver = await startLoopbackReceiver(respond)
  receivers.push(receiver)
  const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
  urls.set(id, `${receiver.url}/${id}`)
  return { ...receiver, id }
}

const deliveriesOf = (destinationId: DestinationId) =>
  db
    .selectFrom('delivery')
    .selectAll()
    .where('destination_id', '=', destinationId)
    .orderBy('id')
    .execute()

async function queue(
  destinationId: DestinationId,
  bodies: readonly string[],
  subjectOf: (body: string) => string | null = () => null,
): Promise<void> {
  await change({ actor: SYSTEM_ACTOR }, (open) =>
    insertDeliveries(
      open,
      bodies.map((body) => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey: subjectOf(body),
        body,
      })),
    ),
  )
  wakeAll(destinationId)
}

/** As the notification of a commit does. */
function wakeAll(destinationId: DestinationId): void {
  for (const engine of engines) engine.wake(destinationId)
}

function numbered(count: number, prefix = ''): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

async function statesOf(destinationId: DestinationId): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('delivery')
    .select(['state', (count) => count.fn.countAll<string>().as('count')])
    .where('destination_id', '=', destinationId)
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
}

async function waitForStates(id: DestinationId, expected: Record<string, number>): Promise<void> {
  await vi.waitFor(async () => expect(await statesOf(id)).toEqual(expected), {
    timeout: 15_000,
    interval: 20,
  })
}

describe('delivery', () => {
  test('delivers every queued row once, and records its attempt', async () => {
    const receiver = await startReceiver()
    await startEngine()
    await queue(receiver.id, numbered(300))
    await waitForStates(receiver.id, { delivered: 300 })
    expect(receiver.requests.map(({ body }) => body).sort()).toEqual(numbered(300).sort())
    const attempts = await db.selectFrom(EVERY_ATTEMPT.as('attempt')).selectAll().execute()
    expect(attempts).toHaveLength(300)
    expect(attempts[0]).toMatchObject({ number: 1, outcome: 'accepted', status_code: 202 })
    expect(attempts[0]?.remote_address).toBe('127.0.0.1')
    expect(attempts[0]?.timings.total).toBeGreaterThan(0)
  })

  test('leaves one row of a delivery that is accepted, and shows its attempt all the same', async () => {
    const receiver = await startReceiver((_request, response) => response.writeHead(200).end('ok'))
    await startEngine()
    await queue(receiver.id, ['x'])
    await waitForStates(receiver.id, { delivered: 1 })
    const { id } = await db.selectFrom('delivery').select('id').executeTakeFirstOrThrow()
    expect(await db.selectFrom('delivery_attempt').selectAll().execute()).toEqual([])
    expect(await listLatestAttempts(db, id)).toEqual({
      earlierCount: 0,
      attempts: [
        {
          id: expect.any(String) as string,
          deliveryId: id,
          number: 1,
          startedAt: expect.any(Date) as Date,
          timings: expect.objectContaining({ total: expect.any(Number) as number }) as object,
          outcome: 'accepted',
          statusCode: 200,
          remoteAddress: '127.0.0.1',
          responseBody: 'ok',
          requestHeaders: null,
          responseHeaders: null,
          errorCode: null,
          error: null,
          nextAttemptAt: null,
        },
      ],
    })
  })

  test('keeps every attempt of a delivery that is sent again, in their order', async () => {
    const receiver = await startReceiver()
    await startEngine({ retryDelaysMs: [10] })
    await queue(receiver.id, ['x'])
    const sendAgain = async () => {
      const { id } = await db.selectFrom('delivery').select('id').executeTakeFirstOrThrow()
      expect(await requeueDelivery(db, id, undefined)).toBe(true)
      wakeAll(receiver.id)
    }
    await waitForStates(receiver.id, { delivered: 1 })
    receiver.respond(answerWith(400))
    await sendAgain()
    await waitForStates(receiver.id, { dead: 1 })
    receiver.respond(answerWith(202))
    await sendAgain()
    await waitForStates(receiver.id, { delivered: 1 })
    const { id } = await db.selectFrom('delivery').select('id').executeTakeFirstOrThrow()
    const { attempts } = await listLatestAttempts(db, id)
    expect(attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual([
      ['accepted', 202],
      ['rejected', 400],
      ['accepted', 202],
    ])
  })

  test('takes up what was queued before it started', async () => {
    const receiver = await startReceiver()
    await queue(receiver.id, numbered(5))
    await startEngine()
    await waitForStates(receiver.id, { delivered: 5 })
  })

  test('finds work that no wake-up told of', async () => {
    const receiver = await startReceiver()
    await startEngine()
    const engine = engines.pop()!
    await queue(receiver.id, numbered(3))
    engines.push(engine)
    await waitForStates(receiver.id, { delivered: 3 })
  })

  test('leaves destinations alone that are held or stopped', async () => {
    const receiver = await startReceiver()
    await db.updateTable('delivery_destination').set({ state: 'held' }).execute()
    const engine = await startEngine()
    await queue(receiver.id, ['x'])
    await engine.sweep()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(receiver.requests).toHaveLength(0)
    await db.updateTable('delivery_destination').set({ state: 'active' }).execute()
    engine.wake(receiver.id)
    await waitForStates(receiver.id, { delivered: 1 })
  })

  test('gives back on close what it has not sent, so that another process can send it at once', async () => {
    const receiver = await startReceiver(() => undefined)
    const first = await startEngine({ settings: { concurrency: 2 } })
    await queue(receiver.id, numbered(20))
    await vi.waitFor(() => expect(receiver.requests.length).toBe(2), WAIT_MS)
    await first.close(20)
    expect(
      await db.selectFrom('delivery').select('id').where('claimed_by', 'is not', null).execute(),
    ).toEqual([])
    receiver.respond(answerWith(202))
    await startEngine()
    await waitForStates(receiver.id, { delivered: 20 })
  })
})

describe('order', () => {
  test('keeps the order of a subject, with many in flight and over failures', async () => {
    let count = 0
    const receiver = await startReceiver((_request, response) => {
      count += 1
      const status = count % 7 === 0 ? 503 : 202
      setTimeout(() => response.writeHead(status).end(), count % 5)
    })
    await startEngine({ retryDelaysMs: [10, 10, 10, 10, 10, 10, 10, 10, 10] })
    const bodies = numbered(200).map((number) => `${Number(number) % 10}:${number}`)
    for (let start = 0; start < 200; start += 40) {
      await queue(receiver.id, bodies.slice(start, start + 40), (body) => body.split(':')[0]!)
    }
    await waitForStates(receiver.id, { delivered: 200 })
    const accepted = new Map<string, number>()
    const rows = await db.selectFrom(EVERY_ATTEMPT.as('attempt')).select('outcome').execute()
    expect(rows.some(({ outcome }) => outcome === 'retry')).toBe(true)
    // No number of a subject reaches the receiver after a higher one was accepted.
    for (const { body } of receiver.requests) {
      const [subject = '', number = ''] = body.split(':')
      expect(Number(number)).toBeGreaterThanOrEqual(accepted.get(subject) ?? 0)
      accepted.set(subject, Number(number))
    }
  })

  test('holds back what follows a failed delivery of its subject until that is through', async () => {
    const hasOther = Promise.withResolvers<void>()
    const receiver = await startReceiver(({ body }, response) => {
      const isFirst = receiver.requests.filter((request) => request.body === body).length === 1
      if (body === 'b1') hasOther.resolve()
      const status = body === 'a1' && isFirst ? 503 : 202
      void hasOther.promise.then(() => response.writeHead(status).end())
    })
    await startEngine({ retryDelaysMs: [400] })
    await queue(receiver.id, ['a1', 'a2', 'b1'], (body) => body[0]!)
    await hasOther.promise
    await queue(receiver.id, ['a3'], () => 'a')
    await waitForStates(receiver.id, { delivered: 4 })
    const order = receiver.requests.map(({ body }) => body)
    expect(order.slice(0, 2).sort()).toEqual(['a1', 'b1'])
    expect(order.slice(2)).toEqual(['a1', 'a2', 'a3'])
  })

  test('what waits behind a delivery goes along when that is sent again at once', async () => {
    const receiver = await startReceiver(answerWith(503))
    const engine = await startEngine({ retryDelaysMs: [600_000] })
    await queue(receiver.id, ['a1'], () => 'a')
    await vi.waitFor(async () => {
      expect((await deliveriesOf(receiver.id))[0]?.attempt_count).toBe(1)
    }, WAIT_MS)
    receiver.respond(answerWith(202))
    await queue(receiver.id, ['a2'], () => 'a')
    await vi.waitFor(async () => {
      const [, follower] = await deliveriesOf(receiver.id)
      expect(follower?.next_attempt_at.getTime()).toBeGreaterThan(Date.now() + 30_000)
    }, WAIT_MS)
    const [head] = await deliveriesOf(receiver.id)
    await requeueDelivery(db, head?.id ?? '', undefined)
    engine.wake(receiver.id)
    await waitForStates(receiver.id, { delivered: 2 })
    expect(receiver.requests.map(({ body }) => body)).toEqual(['a1', 'a1', 'a2'])
  })

  test('never lets two workers send deliveries of one subject at the same time', async () => {
    const inFlight = new Map<string, number>()
    const overlaps: string[] = []
    const receiver = await startReceiver(({ body }, response) => {
      const subject = body.split(':')[0]!
      if ((inFlight.get(subject) ?? 0) > 0) overlaps.push(body)
      inFlight.set(subject, (inFlight.get(subject) ?? 0) + 1)
      setTimeout(() => {
        inFlight.set(subject, (inFlight.get(subject) ?? 1) - 1)
        response.writeHead(202).end()
      }, 2)
    })
    const settings = { claimSize: 8, claimedMax: 24 }
    await startEngine({ settings })
    await startEngine({ settings })
    await startEngine({ settings })
    const bodies = numbered(300).map((number) => `${Number(number) % 12}:${number}`)
    for (let start = 0; start < 300; start += 20) {
      await queue(receiver.id, bodies.slice(start, start + 20), (body) => body.split(':')[0]!)
    }
    await waitForStates(receiver.id, { delivered: 300 })
    expect(overlaps).toEqual([])
    expect(receiver.requests).toHaveLength(300)
  })
})

describe('isolation', () => {
  test('delivers to one receiver while another never answers', async () => {
    const silent = await startReceiver(() => undefined)
    const healthy = await startReceiver()
    await startEngine({ settings: { concurrency: 8, inFlightMax: 8, requestTimeoutMs: 60_000 } })
    await queue(silent.id, numbered(100))
    await vi.waitFor(() => expect(silent.requests).toHaveLength(8), WAIT_MS)
    await queue(healthy.id, numbered(100))
    await waitForStates(healthy.id, { delivered: 100 })
    expect(await statesOf(silent.id)).toEqual({ queued: 100 })
  })
})

describe('claims', () => {
  test('repeats a delivery whose worker died, once its lease has ended', async () => {
    const receiver = await startReceiver()
    await queue(receiver.id, ['x'])
    const claimed = { destinationId: receiver.id, claimId: newUuid(), ownClaimIds: [] }
    const lease = { leaseMs: 600_000, limit: 10, kid: null }
    const { deliveries: dead } = await claimDeliveries(db, { ...claimed, ...lease })
    expect(dead).toHaveLength(1)
    const engine = await startEngine()
    engine.wake(receiver.id)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(receiver.requests).toHaveLength(0)
    await database.pool.query('update delivery set claim_expires_at = now()')
    await waitForStates(receiver.id, { delivered: 1 })
  })

  test('what waits behind a long queue that another worker blocks is sent before that queue is gone through', async () => {
    const arrived = Promise.withResolvers<void>()
    const receiver = await startReceiver((...args) => {
      arrived.resolve()
      answerWith(202)(...args)
    })
    await queue(receiver.id, [...numbered(1_000), 'free'], (body) => (body === 'free' ? null : 's'))
    const claimed = { destinationId: receiver.id, claimId: newUuid(), ownClaimIds: [] }
    await claimDeliveries(db, { ...claimed, leaseMs: 60_000, limit: 1, kid: null })
    const engine = await startEngine({ settings: { claimSize: 16 } })
    await arrived.promise
    await engine.close()
    expect(await statesOf(receiver.id)).toEqual({ queued: 1_000, delivered: 1 })
    expect(await countPutOff(db, receiver.id)).toSatisfy((some: number) => some > 0 && some < 999)
  })

  test('records nothing of a delivery whose claim has passed on to somebody else', async () => {
    const other = newUuid()
    const receiver = await startReceiver((_request, response) => {
      void db
        .updateTable('delivery')
        .set({ claimed_by: other, claim_expires_at: new Date(Date.now() + 60_000) })
        .execute()
        .then(() => response.writeHead(202).end())
    })
    const engine = await startEngine()
    await queue(receiver.id, ['x'])
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT_MS)
    await engine.close()
    const row = await db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ state: 'queued', attempt_count: 0, claimed_by: other })
    expect(await db.selectFrom(EVERY_ATTEMPT.as('attempt')).selectAll().execute()).toEqual([])
  })

  test('does not begin a request that its claim might not outlast', async () => {
    const receiver = await startReceiver()
    await startEngine({ settings: { leaseMs: 3_000, requestTimeoutMs: 1_000 } })
    await queue(receiver.id, ['x'])
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(receiver.requests).toHaveLength(0)
  })
})

describe('failures', () => {
  test('dead-letters a delivery when its schedule is used up, and sends it again on demand', async () => {
    const receiver = await startReceiver(answerWith(500))
    await startEngine({ retryDelaysMs: [10, 10] })
    await queue(receiver.id, ['x'])
    await waitForStates(receiver.id, { dead: 1 })
    expect(receiver.requests).toHaveLength(3)
    const dead = await db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
    expect(dead).toMatchObject({ attempt_count: 3, last_error: 'The receiver answered 500' })
    receiver.respond(answerWith(202))
    await change({ actor: SYSTEM_ACTOR }, (open) =>
      redriveDeliveries(open, {
        destinationId: receiver.id,
        target: { type: 'test', id: '1' },
      }),
    )
    wakeAll(receiver.id)
    await waitForStates(receiver.id, { delivered: 1 })
    const after = await db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
    expect(after.event_id).toBe(dead.event_id)
  })

  test('ssf-T121 does not repeat what the receiver calls hopeless, and stores what it said', async () => {
    const receiver = await startReceiver(
      (_request, response) =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"err":"invalid_audience","description":"not for me\\u0000"}'),
    )
    await startEngine()
    await queue(receiver.id, ['x'])
    await waitForStates(receiver.id, { dead: 1 })
    const attempt = await db
      .selectFrom(EVERY_ATTEMPT.as('attempt'))
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(attempt).toMatchObject({
      outcome: 'rejected',
      status_code: 400,
      error_code: 'invalid_audience',
      response_body: '{"err":"invalid_audience","description":"not for me\\u0000"}',
      next_attempt_at: null,
    })
    expect(receiver.requests).toHaveLength(1)
  })

  test('ssf-T122 waits as long as the receiver asks for', async () => {
    const receiver = await startReceiver((_request, response) => {
      const status = receiver.requests.length === 1 ? 503 : 202
      response.writeHead(status, { 'retry-after': '2' }).end()
    })
    await startEngine({ retryDelaysMs: [10] })
    const before = Date.now()
    await queue(receiver.id, ['x'])
    await waitForStates(receiver.id, { delivered: 1 })
    const attempts = db.selectFrom(EVERY_ATTEMPT.as('attempt')).selectAll()
    const first = await attempts.where('number', '=', 1).executeTakeFirstOrThrow()
    expect(first.next_attempt_at!.getTime()).toBeGreaterThanOrEqual(before + 2_000)
    expect(receiver.requests[1]!.atMs - receiver.requests[0]!.atMs).toBeGreaterThan(1_900)
  })

  test('leaves a dead receiver alone but for single probes', async () => {
    const receiver = await startReceiver(answerWith(503))
    await startEngine({ retryDelaysMs: [60_000], settings: { concurrency: 4 } })
    await queue(receiver.id, numbered(500))
    await vi.waitFor(async () => {
      const row = await db.selectFrom('delivery_destination').selectAll().executeTakeFirstOrThrow()
      expect(row.consecutive_failures).toBeGreaterThanOrEqual(8)
      expect(row.retry_not_before!.getTime()).toBeGreaterThan(Date.now() + 2_000)
    }, WAIT_MS)
    await new Promise((resolve) => setTimeout(resolve, 500))
    // What is in flight when the circuit opens, and probes; on a slow machine a few claims more.
    expect(receiver.requests.length).toBeLessThan(100)
    const count = receiver.requests.length
    receiver.respond(answerWith(202))
    await db
      .updateTable('delivery_destination')
      .set({ retry_not_before: new Date(Date.now() + 100) })
      .execute()
    await waitForStates(receiver.id, { delivered: 500 })
    expect(receiver.requests.length).toBe(500 + count)
  })

  test('tells the channel in the same change that a receiver is gone, once per batch', async () => {
    notices.length = 0
    const receiver = await startReceiver(answerWith(410))
    await startEngine()
    await queue(receiver.id, ['x', 'y'])
    await waitForStates(receiver.id, { dead: 2 })
    expect(notices.length).toBeGreaterThan(0)
    expect(notices.length).toBeLessThanOrEqual(2)
    expect(notices[0]).toEqual({ destinationId: receiver.id, kind: 'gone', error: 'no more' })
    const audits = await db
      .selectFrom('audit_entry')
      .select('sequence')
      .where('action', '=', 'test.noticed')
      .execute()
    expect(audits).toHaveLength(notices.length)
    const attempt = await db
      .selectFrom(EVERY_ATTEMPT.as('attempt'))
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(attempt).toMatchObject({ outcome: 'rejected', error_code: 'http_410' })
  })
})
