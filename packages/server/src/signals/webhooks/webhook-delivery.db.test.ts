import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { sql } from 'kysely'
import { EVERY_ATTEMPT } from '../dispatch/attempt-read.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
} from '../../../test/support/loopback-receiver.ts'
import {
  answerHex,
  verifyEd25519,
  verifyStandard,
} from '../../../test/support/webhook-verifiers.ts'
import {
  createWebhooksApi,
  type TestWebhook,
  type WebhooksApi,
} from '../../../test/support/webhooks-api.ts'
import { countAuditEntries } from '../../../test/support/write-contract.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { takeTokens } from './webhook-pace-store.ts'
import type { DeliveryEngine } from '../dispatch/delivery-engine.ts'
import { systemClock, toEpochSeconds } from '../../platform/clock.ts'
import { deleteRows } from '../../../test/support/empty-tables.ts'

let webhooks: WebhooksApi
let engine: DeliveryEngine | undefined
const receivers: LoopbackReceiver[] = []

beforeAll(async () => {
  webhooks = await createWebhooksApi()
  webhooks.clock.set(systemClock.now())
})
afterAll(() => webhooks.close())
beforeEach(async () => {
  webhooks.clock.set(systemClock.now())
  await deleteRows(webhooks.db, 'webhook', 'webhook_event', 'delivery', 'delivery_destination')
})
afterEach(async () => {
  await engine?.close()
  engine = undefined
  for (const receiver of receivers.splice(0)) await receiver.close()
})

async function listen(...input: Parameters<typeof startLoopbackReceiver>) {
  const receiver = await startLoopbackReceiver(...input)
  receivers.push(receiver)
  return receiver
}

/** Tokens of a full bucket at 20 a second, and how far two clocks may differ in the time of the test. */
const [BUCKET, CLOCKS_MS] = [2, 20]

const start = async (...options: Parameters<WebhooksApi['startEngine']>) => {
  engine = await webhooks.startEngine(...options)
  return engine
}

const create = (url: string, input: object = {}) =>
  webhooks.create({ url, events: ['auth_logs.success'], ...input })

/** Lets `count` sign-ins happen, each in a change of its own. */
async function signIn(count = 1): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await webhooks.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      change.recordEvent({
        type: 'auth_logs.success',
        sessionId: String(index + 1),
        personId: null,
        device: null,
        browserName: null,
        browserVersion: null,
        agentVersion: null,
      })
    })
  }
  await engine?.sweep()
}

const listDeliveries = (id: string) =>
  webhooks.db
    .selectFrom('delivery')
    .innerJoin('webhook', 'webhook.destination_id', 'delivery.destination_id')
    .selectAll('delivery')
    .where('webhook.id', '=', id)
    .orderBy('delivery.id')
    .execute()

const attemptsOf = (deliveryId: string) =>
  webhooks.db
    .selectFrom(EVERY_ATTEMPT.as('attempt'))
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('id')
    .execute()

const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 10_000 })

describe('a delivery', () => {
  it.each(['standard', 'ed25519', 'hex'] as const)(
    'in the form %s reaches a receiver that verifies it',
    async (signing) => {
      const receiver = await listen()
      const webhook = await create(receiver.url, { signing, headers: { 'X-Team': 'desk' } })
      await start()
      await signIn()
      await until(() => expect(receiver.requests).toHaveLength(1))
      const [request] = receiver.requests
      const received = { headers: request?.headers ?? {}, body: request?.body ?? '' }
      expect(received.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'Heliograph test',
        'x-team': 'desk',
        'x-service-webhook-identifier': webhook.identifier,
        'x-kolide-webhook-identifier': webhook.identifier,
      })
      if (signing === 'standard') verifyStandard(received, webhook.secret ?? '')
      if (signing === 'hex') expect(answerHex(received, webhook.secret ?? '')).toBe(200)
      if (signing === 'ed25519') {
        const now = toEpochSeconds(systemClock.now())
        expect(verifyEd25519(received, webhook.public_key ?? '', now)).toBe(true)
      }
    },
  )

  it.each(['standard', 'ed25519', 'hex'] as const)(
    'in the form %s to a receiver that repeats everything is recorded without a secret',
    async (signing) => {
      let secret = ''
      const receiver = await listen(({ headers }, response) => {
        response.writeHead(500, { 'x-echo': String(headers['x-api-key']) })
        response.end(JSON.stringify({ headers, expected: secret }))
      })
      const headers = { 'X-Api-Key': 'k-0123456789abcdef' }
      const webhook = await create(receiver.url, { signing, headers })
      // Nobody but the service knows the private key of a pair.
      secret = webhook.secret ?? headers['X-Api-Key']
      await start({ retryDelaysMs: [60_000] })
      await signIn()
      await until(async () => expect((await listDeliveries(webhook.id))[0]?.attempt_count).toBe(1))
      const [delivery] = await listDeliveries(webhook.id)
      const attempts = await attemptsOf(delivery?.id ?? '')
      const stored = JSON.stringify([delivery, attempts])
      expect(attempts[0]?.response_body).toContain('"x-api-key":"[masked]"')
      expect(attempts[0]?.response_body).toContain(delivery?.event_id)
      expect(attempts[0]?.response_headers).toMatchObject({ 'x-echo': '[masked]' })
      expect(stored).not.toContain('k-0123456789abcdef')
      expect(stored).not.toContain(secret)
      const signature = receiver.requests[0]?.headers.authorization
      if (signing === 'hex') expect(stored).not.toContain(signature)
    },
  )

  it('has the same id and bytes on every attempt, and a timestamp of its own', async () => {
    let count = 0
    const receiver = await listen((_request, response) => {
      count += 1
      response.writeHead(count < 3 ? 500 : 204).end()
    })
    const webhook = await create(receiver.url)
    // A fifth less is more than a second still, and so another timestamp.
    await start({ retryDelaysMs: [1_300, 20] })
    await signIn()
    await until(() => expect(receiver.requests).toHaveLength(3))
    const bodies = new Set(receiver.requests.map(({ body }) => body))
    const ids = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']))
    expect([bodies.size, ids.size]).toEqual([1, 1])
    const times = receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect(times[1]).toBeGreaterThan(times[0] ?? 0)
    for (const { headers, body } of receiver.requests) {
      verifyStandard({ headers, body }, webhook.secret ?? '')
    }
    await until(async () => {
      const [delivery] = await listDeliveries(webhook.id)
      expect(delivery).toMatchObject({ state: 'delivered', attempt_count: 3 })
    })
    const [delivery] = await listDeliveries(webhook.id)
    const attempts = await attemptsOf(delivery?.id ?? '')
    expect(attempts.map(({ status_code, error }) => [status_code, error])).toEqual([
      [500, 'The receiver answered 500'],
      [500, 'The receiver answered 500'],
      [204, null],
    ])
    expect(JSON.stringify(attempts)).not.toContain(webhook.secret)
  })

  it('is signed with both secrets until the old one ends, and then with the new one alone', async () => {
    const receiver = await listen()
    const webhook = await create(receiver.url)
    const at = webhooks.clock.now().getTime()
    const rotated = await webhooks.call<TestWebhook>(`/webhooks/${webhook.id}/rotate_secret`, {
      method: 'POST',
      payload: { old_secret_ends_at: new Date(at + 2_000).toISOString() },
    })
    await start({ clock: webhooks.clock })
    await signIn()
    await until(() => expect(receiver.requests).toHaveLength(1))
    const received = receiver.requests[0]
    if (received === undefined) throw new Error('nothing received')
    verifyStandard(received, webhook.secret ?? '')
    verifyStandard(received, rotated.body.secret ?? '')
    webhooks.clock.advance(2_100)
    await signIn()
    await until(() => expect(receiver.requests).toHaveLength(2))
    const later = receiver.requests[1]
    if (later === undefined) throw new Error('nothing received')
    verifyStandard(later, rotated.body.secret ?? '')
    expect(() => verifyStandard(later, webhook.secret ?? '')).toThrow('No matching signature')
  })

  it('is given up after its last attempt, and can be recovered', async () => {
    const receiver = await listen(answerWith(400))
    const { id } = await create(receiver.url)
    const since = webhooks.clock.now().toISOString()
    await start({ retryDelaysMs: [10] })
    await signIn()
    await until(async () => expect((await listDeliveries(id))[0]?.state).toBe('dead'))
    expect(receiver.requests).toHaveLength(2)
    receiver.respond(answerWith(200))
    webhooks.clock.set(systemClock.now())
    const preview = await webhooks.call(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: { since, dry_run: true },
    })
    expect(preview.body).toMatchObject({ count: 1, failed_count: 1, dry_run: true })
    expect((await listDeliveries(id))[0]?.state).toBe('dead')
    const recovered = await webhooks.call(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: { since },
    })
    const counts = { count: 1, failed_count: 1, missed_count: 0, has_more: false }
    expect(recovered.body).toEqual({ ...counts, since, dry_run: false })
    await until(async () => expect((await listDeliveries(id))[0]?.state).toBe('delivered'))
    const again = await webhooks.call(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: { since },
    })
    expect(again.body).toMatchObject({ count: 0 })
  })
})

describe('a webhook', () => {
  it('that answers 410 is switched off with an audit entry and an event, and keeps what waits', async () => {
    const watcher = await listen()
    await create(watcher.url, { events: ['webhook.disabled'] })
    const receiver = await listen(answerWith(410))
    const { id } = await create(receiver.url)
    await start({ settings: { concurrency: 1 } })
    await signIn(3)
    await until(async () => {
      const { body } = await webhooks.call(`/webhooks/${id}`)
      expect(body).toMatchObject({ enabled: false, disabled_reason: 'gone' })
    })
    await engine?.sweep()
    await until(() => expect(watcher.requests).toHaveLength(1))
    expect(JSON.parse(watcher.requests[0]?.body ?? '')).toMatchObject({
      event: 'webhook.disabled',
      data: { webhook_id: Number(id), reason: expect.stringContaining('410') as string },
    })
    const entry = await webhooks.db
      .selectFrom('audit_entry')
      .selectAll()
      .where('action', '=', 'webhook.disabled')
      .where('target_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(entry).toMatchObject({ actor_type: 'System' })
    const states = (await listDeliveries(id)).map(({ state }) => state)
    expect(states.filter((state) => state !== 'queued' && state !== 'dead')).toEqual([])
    expect(receiver.requests.length).toBeLessThanOrEqual(3)
  })

  it('that is switched off gets what waited when it is switched on, and the rest by recovery', async () => {
    const receiver = await listen()
    const { id } = await create(receiver.url)
    await signIn()
    const patch = (enabled: boolean) =>
      webhooks.call(`/webhooks/${id}`, { method: 'PATCH', payload: { enabled } })
    await patch(false)
    const since = webhooks.clock.now().toISOString()
    await signIn(2)
    await start()
    const refused = await webhooks.call(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: { since },
    })
    expect(refused.status).toBe(409)
    const entries = await countAuditEntries(webhooks.api)
    const preview = await webhooks.call(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: { since, dry_run: true },
    })
    expect(preview.body).toMatchObject({ missed_count: 2, failed_count: 0, dry_run: true })
    expect(await countAuditEntries(webhooks.api)).toBe(entries)
    expect(receiver.requests).toHaveLength(0)
    await patch(true)
    await until(() => expect(receiver.requests).toHaveLength(1))
    const recovered = await webhooks.call(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: { since },
    })
    expect(recovered.body).toMatchObject({ missed_count: 2, failed_count: 0 })
    await until(() => expect(receiver.requests).toHaveLength(3))
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(3)
  })

  it('gets nothing by recovery that happened before it was made', async () => {
    const receiver = await listen()
    await create('http://127.0.0.1:9/', { enabled: false })
    const since = webhooks.clock.now().toISOString()
    await signIn(2)
    webhooks.clock.advance(1_000)
    const { id } = await create(receiver.url, { enabled: false })
    const createdAt = webhooks.clock.now().toISOString()
    webhooks.clock.advance(1_000)
    await signIn()
    await webhooks.call(`/webhooks/${id}`, { method: 'PATCH', payload: { enabled: true } })
    for (const dry_run of [true, false]) {
      const { body } = await webhooks.call(`/webhooks/${id}/recover`, {
        method: 'POST',
        payload: { since, dry_run },
      })
      expect(body).toMatchObject({ missed_count: 1, since: createdAt, dry_run })
    }
    expect(await listDeliveries(id)).toHaveLength(1)
  })

  it('that is switched on leaves an event, for others and for itself', async () => {
    const watcher = await listen()
    await create(watcher.url, { events: ['webhook.enabled'] })
    const url = 'http://127.0.0.1:9/'
    const { id } = await create(url, { events: ['webhook.enabled'], enabled: false })
    const disabled_at = webhooks.clock.now().toISOString()
    await start()
    webhooks.clock.advance(1_000)
    for (const enabled of [true, true]) {
      await webhooks.call(`/webhooks/${id}`, { method: 'PATCH', payload: { enabled } })
    }
    await until(() => expect(watcher.requests).toHaveLength(1))
    expect(JSON.parse(watcher.requests[0]?.body ?? '')).toMatchObject({
      event: 'webhook.enabled',
      data: { webhook_id: Number(id), url, disabled_reason: 'admin', disabled_at },
    })
    expect(await listDeliveries(id)).toHaveLength(1)
  })

  it('with a pace gets no more than that many deliveries a second, however long it got none', async () => {
    const receiver = await listen()
    const { id } = await create(receiver.url, { rate_limit_per_second: 20 })
    await signIn(50)
    const { rows } = await sql<{ id: DestinationId }>`
      update webhook_pace set filled_at = filled_at - interval '1 hour'
      returning destination_id as id`.execute(webhooks.db)
    const [pace] = rows
    expect((await takeTokens(webhooks.db, pace!.id, 50)).granted).toBe(BUCKET)
    const begunMs = performance.now()
    await start()
    await until(() => expect(receiver.requests).toHaveLength(50))
    const times = receiver.requests.map(({ atMs }) => atMs).sort((a, b) => a - b)
    for (const [index, time] of times.entries()) {
      // A busy machine may be late, but never early.
      const earliestMs = begunMs + ((index + 1 - BUCKET) / 20) * 1_000
      expect(time).toBeGreaterThan(earliestMs - CLOCKS_MS)
    }
    expect((await listDeliveries(id)).every(({ attempt_count: count }) => count <= 1)).toBe(true)
  })

  it('is not held up by another one whose receiver never answers', async () => {
    const isOver = Promise.withResolvers<void>()
    const hanging = await listen((_request, response) => {
      void isOver.promise.then(() => response.destroy())
    })
    const healthy = await listen()
    const dead = await create(hanging.url)
    await create(healthy.url)
    await start()
    await signIn(20)
    await until(() => expect(healthy.requests).toHaveLength(20))
    isOver.resolve()
    await until(async () => {
      const [delivery] = await listDeliveries(dead.id)
      expect(delivery?.last_error).toMatch(/./)
    })
  })
})

describe('payloads', () => {
  it('are deleted after their retention, with the deliveries that still wait; records stay', async () => {
    const receiver = await listen()
    const { id } = await create(receiver.url)
    await signIn()
    const [event] = await webhooks.db.selectFrom('webhook_event').selectAll().execute()
    // As if the retention had just run: nothing was claimed yet.
    await webhooks.db.updateTable('webhook_event').set({ body: null }).execute()
    await start()
    await until(async () => expect((await listDeliveries(id))[0]?.state).toBe('dead'))
    expect(receiver.requests).toHaveLength(0)
    const eventId = event?.event_id ?? ''
    const shown = await webhooks.call(`/webhook_events/${eventId}`)
    expect(shown.body).toMatchObject({ id: eventId, payload: null })
    const details = await webhooks.call(`/webhooks/${id}/deliveries/${eventId}`)
    expect(details.body).toMatchObject({
      content: null,
      last_error: 'What the event carried was deleted after its retention',
    })
    const resent = await webhooks.call(`/webhooks/${id}/deliveries/${eventId}/resend`, {
      method: 'POST',
    })
    expect(resent.status).toBe(409)
  })
})
