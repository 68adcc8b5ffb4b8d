import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, type TestRefusal } from '../../../test/support/api-app.ts'
import {
  createWebhooksApi,
  type TestWebhook,
  type WebhooksApi,
} from '../../../test/support/webhooks-api.ts'
import { runRetention } from '../../../test/support/run-retention.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { webhookRetention } from './webhook-retention-store.ts'
import { watchFailingWebhooks } from './watch-failing-webhooks.ts'
import { deleteRows } from '../../../test/support/empty-tables.ts'

interface Page {
  readonly data: readonly {
    readonly id: string
    readonly event: string
    readonly object_id: string
    readonly payload: { readonly id: string } | null
  }[]
  readonly pagination: { readonly next: string }
}

let webhooks: WebhooksApi

beforeAll(async () => {
  webhooks = await createWebhooksApi()
})
afterAll(() => webhooks.close())

const signIn = (...sessionIds: string[]) =>
  webhooks.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (const sessionId of sessionIds) {
      change.recordEvent({
        type: Number(sessionId) % 2 === 0 ? 'auth_logs.success' : 'auth_logs.failure',
        sessionId,
        personId: null,
        device: null,
        browserName: null,
        browserVersion: null,
        agentVersion: null,
      })
    }
  })

const auditActions = async () => {
  const rows = await webhooks.db
    .selectFrom('audit_entry')
    .select(['action', 'target_id'])
    .where('action', 'in', ['webhook.failing', 'webhook.disabled'])
    .orderBy('sequence')
    .execute()
  return rows.map(({ action, target_id }) => `${action} ${target_id ?? ''}`)
}

describe('the events', () => {
  beforeAll(async () => {
    await webhooks.create({ events: ['auth_logs.success', 'auth_logs.failure'] })
    await signIn('1', '2', '3')
    webhooks.clock.advance(60_000)
    await signIn('4', '5')
  })

  const find = async (query: string) => {
    const { status, body } = await webhooks.call<Page>(
      `/webhook_events?per_page=100&query=${encodeURIComponent(query)}`,
    )
    expect(status).toBe(200)
    return body.data.map(({ object_id }) => object_id)
  }

  it('are listed oldest first, with what is sent, over all pages', async () => {
    const seen: string[] = []
    for (let url = '/webhook_events?per_page=2'; url !== '';) {
      const { body } = await webhooks.call<Page>(url)
      for (const { id, object_id, payload } of body.data) {
        expect(payload?.id).toBe(id)
        seen.push(object_id)
      }
      url = body.pagination.next.replace(BASE_URL, '')
    }
    expect(seen).toEqual(['1', '2', '3', '4', '5'])
  })

  it('are found by what they are, what they are about and when they were', async () => {
    expect(await find('event:auth_logs.success')).toEqual(['2', '4'])
    expect(await find('object_type:auth_log AND object_id:3')).toEqual(['3'])
    expect(await find('object_id:["1","5"]')).toEqual(['1', '5'])
    const middle = new Date(webhooks.clock.now().getTime() - 30_000).toISOString()
    expect(await find(`timestamp>"${middle}"`)).toEqual(['4', '5'])
    expect(await find(`timestamp<"${middle}" AND event:auth_logs.failure`)).toEqual(['1', '3'])
    const { body } = await webhooks.call<Page>('/webhook_events?per_page=1')
    expect(await find(`id:${body.data[0]?.id ?? ''}`)).toEqual(['1'])
  })

  it('are not searched by a field that does not exist', async () => {
    const { status, body } = await webhooks.call<TestRefusal>('/webhook_events?query=body:x')
    expect([status, body.code]).toEqual([400, 'invalid_search'])
  })

  it('show what became of them at each webhook', async () => {
    const { body: list } = await webhooks.call<Page>('/webhook_events?per_page=1')
    const id = list.data[0]?.id ?? ''
    const { body } = await webhooks.call(`/webhook_events/${id}`)
    expect(body).toMatchObject({
      id,
      deliveries: [{ state: 'queued', attempts: 0, last_error: null, finished_at: null }],
    })
  })

  it.each(['x', '01ARZ3NDEKTSV4RRFFQ69G5FAV'])('do not include %s', async (id) => {
    expect((await webhooks.call(`/webhook_events/${id}`)).status).toBe(404)
  })

  it('and deliveries are for keys with the permission only', async () => {
    for (const path of ['/webhook_events', '/webhook_events/x', '/webhooks/1/deliveries']) {
      expect((await webhooks.api.request(path)).status).toBe(403)
    }
  })

  it('can be recovered only from a time', async () => {
    const { id } = await webhooks.create()
    const { status, body } = await webhooks.call<TestRefusal>(`/webhooks/${id}/recover`, {
      method: 'POST',
      payload: {},
    })
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    const missing = await webhooks.call(`/webhooks/999999/recover`, {
      method: 'POST',
      payload: { since: '2026-01-01T00:00:00Z' },
    })
    expect(missing.status).toBe(404)
  })
})

describe('a webhook that accepts nothing', () => {
  const watch = () => watchFailingWebhooks(webhooks)

  /** As the delivery engine leaves it after failures from `since` until `days` later. */
  async function fail(webhook: TestWebhook, days: number): Promise<void> {
    const now = webhooks.clock.now().getTime()
    await webhooks.db
      .updateTable('delivery_destination')
      .set({
        failing_since: new Date(now - days * DAY_MS),
        last_failure_at: new Date(now),
        last_failure: 'The receiver answered 500',
        consecutive_failures: 9,
      })
      .where('id', '=', (eb) =>
        eb.selectFrom('webhook').select('destination_id').where('webhook.id', '=', webhook.id),
      )
      .execute()
  }

  it('is told of after one day and three, and switched off after five, each once', async () => {
    const watcher = await webhooks.create({ events: ['webhook.failing', 'webhook.disabled'] })
    const webhook = await webhooks.create()
    const days = [0.9, 1, 1.1, 2.9, 3.1, 4.9, 5.01, 6]
    const said: number[] = []
    for (const day of days) {
      await fail(webhook, day)
      const before = (await auditActions()).length
      await Promise.all([watch(), watch()])
      if ((await auditActions()).length > before) said.push(day)
    }
    expect(said).toEqual([1, 3.1, 5.01])
    expect(await auditActions()).toEqual([
      `webhook.failing ${webhook.id}`,
      `webhook.failing ${webhook.id}`,
      `webhook.disabled ${webhook.id}`,
    ])
    const { body } = await webhooks.call(`/webhooks/${webhook.id}`)
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'failing' })
    const told = await webhooks.call<{ data: { event_type: string }[] }>(
      `/webhooks/${watcher.id}/deliveries`,
    )
    expect(told.body.data.map(({ event_type }) => event_type)).toEqual([
      'webhook.failing',
      'webhook.failing',
      'webhook.disabled',
    ])
    await webhooks.call(`/webhooks/${webhook.id}`, { method: 'DELETE' })
  })

  it('is left alone when its last failure was long ago: nothing was sent since', async () => {
    const webhook = await webhooks.create()
    await fail(webhook, 0.5)
    webhooks.clock.advance(10 * DAY_MS)
    const before = await auditActions()
    expect(await watch()).toBe(0)
    expect(await auditActions()).toEqual(before)
  })

  it('is warned of again when it fails anew after a success', async () => {
    const webhook = await webhooks.create()
    const count = async () =>
      (await auditActions()).filter((line) => line.endsWith(` ${webhook.id}`)).length
    await fail(webhook, 1.5)
    await watch()
    expect(await count()).toBe(1)
    await sql`update delivery_destination set failing_since = null
      where id = (select destination_id from webhook where id = ${webhook.id})`.execute(webhooks.db)
    await watch()
    await fail(webhook, 1.2)
    await watch()
    expect(await count()).toBe(2)
  })
})

describe('retention', () => {
  it('takes the contents first and the records with their deliveries, nothing earlier', async () => {
    await deleteRows(webhooks.db, 'webhook', 'webhook_event', 'delivery', 'delivery_destination')
    await webhooks.create({ events: ['auth_logs.success'], enabled: false })
    await webhooks.create({ events: ['auth_logs.success'] })
    await signIn('10')
    const [ofPayloads, ofRecords] = webhookRetention({
      webhookPayloadRetentionDays: 30,
      deliveryRetentionDays: 180,
    })
    if (ofPayloads === undefined || ofRecords === undefined) throw new Error('no policy')
    const expire = async (days: number) => {
      const now = new Date(webhooks.clock.now().getTime() + days * DAY_MS)
      const { count: payloads } = await runRetention(webhooks.db, ofPayloads, now)
      const { count: records } = await runRetention(webhooks.db, ofRecords, now)
      return { payloads, records }
    }
    expect(await expire(29)).toEqual({ payloads: 0, records: 0 })
    expect(await expire(31)).toEqual({ payloads: 1, records: 0 })
    expect(await expire(31)).toEqual({ payloads: 0, records: 0 })
    const deliveries = await webhooks.db
      .selectFrom('delivery')
      .select(['state', 'last_error'])
      .execute()
    expect(deliveries).toEqual([
      { state: 'dead', last_error: 'What the event carried was deleted after its retention' },
    ])
    // The delivery goes by the retention of deliveries; until then the event stays for it.
    expect(await expire(181)).toEqual({ payloads: 0, records: 0 })
    await webhooks.db.deleteFrom('delivery').execute()
    expect(await expire(181)).toEqual({ payloads: 0, records: 1 })
  })
})
