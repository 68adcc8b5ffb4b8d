import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { startLoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import {
  createWebhooksApi,
  type TestWebhook,
  type WebhooksApi,
} from '../../../test/support/webhooks-api.ts'
import {
  countAuditEntries,
  describeWriteContract,
  lastAuditEntry,
} from '../../../test/support/write-contract.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createAdmin } from '../../organisation/admins/create-admin.ts'
import { createApiKey } from '../../organisation/api-keys/create-api-key.ts'

let webhooks: WebhooksApi

beforeAll(async () => {
  webhooks = await createWebhooksApi({ webhooksMax: 60 })
})
afterAll(() => webhooks.close())

const post = <Body>(url: string, payload: object = {}) =>
  webhooks.call<Body>(url, { method: 'POST', payload })
const patch = <Body>(id: string, payload: object) =>
  webhooks.call<Body>(`/webhooks/${id}`, { method: 'PATCH', payload })

const VALID = {
  name: 'Tickets',
  url: 'https://receiver.example.com/webhooks',
  events: ['issues.new'],
}

describe('creating a webhook', () => {
  describeWriteContract({
    api: () => webhooks.api,
    method: 'POST',
    path: () => '/webhooks',
    payload: () => VALID,
    permission: 'Manage Webhooks',
  })

  it('answers it with its secret, and leaves an audit entry without that', async () => {
    const { status, body } = await post<TestWebhook>('/webhooks', {
      ...VALID,
      description: 'For the desk.',
      headers: { 'X-Team': 'desk secret' },
      rate_limit_per_second: 5,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...VALID,
      description: 'For the desk.',
      enabled: true,
      signing: 'standard',
      public_key: null,
      header_names: ['X-Team'],
      rate_limit_per_second: 5,
      failing_since: null,
    })
    const secret = body.secret ?? ''
    expect(secret).toMatch(/^whsec_/)
    const keyLength = Buffer.from(secret.slice(6), 'base64').length
    expect(keyLength).toBeGreaterThanOrEqual(24)
    expect(keyLength).toBeLessThanOrEqual(64)
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({
      action: 'webhook.created',
      target_type: 'webhook',
      target_id: body.id,
    })
    const rows = await Promise.all([
      webhooks.db.selectFrom('audit_entry').selectAll().execute(),
      webhooks.db.selectFrom('webhook').selectAll().execute(),
      webhooks.db.selectFrom('webhook_secret').selectAll().execute(),
    ])
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(JSON.stringify(rows)).not.toContain('desk secret')
    const shown = await webhooks.call(`/webhooks/${body.id}`)
    expect(JSON.stringify(shown.body)).not.toMatch(/whsec_|desk secret/)
  })

  it('makes a key pair for Ed25519 and keeps the private key to itself', async () => {
    const { id, secret, public_key: publicKey } = await webhooks.create({ signing: 'ed25519' })
    expect(secret).toBeNull()
    expect(publicKey).toMatch(/^whpk_/)
    expect(Buffer.from((publicKey ?? '').slice(5), 'base64')).toHaveLength(32)
    const revealed = await webhooks.call(`/webhooks/${id}/secret`)
    expect(revealed.body).toEqual({ id, signing: 'ed25519', secret: null, public_key: publicKey })
  })

  it('makes a secret of hex digits for the hex form', async () => {
    expect((await webhooks.create({ signing: 'hex' })).secret).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    ['nothing', {}, 'name'],
    ['an empty name', { ...VALID, name: ' ' }, 'name'],
    ['a name with a line break', { ...VALID, name: 'a\nb' }, 'name'],
    ['an unknown event', { ...VALID, events: ['devices.exploded'] }, 'events.0'],
    ['no event', { ...VALID, events: [] }, 'events'],
    ['an unknown member', { ...VALID, retries: 3 }, 'retries'],
    ['an unknown form of signature', { ...VALID, signing: 'md5' }, 'signing'],
    ['a rate of nothing', { ...VALID, rate_limit_per_second: 0 }, 'rate_limit_per_second'],
    ['a header of its own', { ...VALID, headers: { 'Webhook-Id': '1' } }, 'headers.Webhook-Id'],
    [
      'a framing header',
      { ...VALID, headers: { 'Transfer-Encoding': 'x' } },
      'headers.Transfer-Encoding',
    ],
    ['a host', { ...VALID, headers: { Host: 'other.example.com' } }, 'headers.Host'],
    ['a cookie', { ...VALID, headers: { cookie: 'a=b' } }, 'headers.cookie'],
    ['a line break in a header', { ...VALID, headers: { 'X-A': 'a\r\nb: c' } }, 'headers.X-A'],
    ['a header that is not one', { ...VALID, headers: { 'X A': 'b' } }, 'headers.X A'],
    [
      'an identifier',
      { ...VALID, headers: { 'x-kolide-webhook-identifier': 'b' } },
      'headers.x-kolide-webhook-identifier',
    ],
    ['a header twice', { ...VALID, headers: { 'X-A': 'b', 'x-a': 'c' } }, 'headers'],
    ['a huge header', { ...VALID, headers: { 'X-A': 'b'.repeat(5_000) } }, 'headers.X-A'],
    [
      'an authorization beside the signature',
      { ...VALID, signing: 'hex', headers: { Authorization: 'Bearer x' } },
      'headers.Authorization',
    ],
  ])('refuses %s', async (_name, payload, path) => {
    const before = await countAuditEntries(webhooks.api)
    const { status, body } = await post<TestRefusal & { details: { path: string }[] }>(
      '/webhooks',
      payload,
    )
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details.map((detail) => detail.path)).toContain(path)
    expect(await countAuditEntries(webhooks.api)).toBe(before)
  })

  it.each([
    'http://receiver.example.com/hooks',
    'https://10.0.0.1/hooks',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hooks',
    'https://0x0a000001/hooks',
    'https://167772161/hooks',
    'https://localhost/hooks',
    'https://user:secret@receiver.example.com/hooks',
    'https://receiver.example.com:22/hooks',
    'ftp://receiver.example.com/hooks',
    'not a url',
  ])('refuses the target %s', async (url) => {
    const { status, body } = await post<TestRefusal>('/webhooks', { ...VALID, url })
    expect([status, body.code]).toEqual([422, 'target_refused'])
  })

  it('refuses one more than are allowed, and two at once cannot pass together', async () => {
    const small = await createWebhooksApi({ webhooksMax: 2 })
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        small.call<TestRefusal>('/webhooks', { method: 'POST', payload: VALID }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status === 409)).toHaveLength(2)
    const refusal = answers.find(({ status }) => status === 409)
    expect(refusal?.body.code).toBe('limit_reached')
    await small.close()
  })
})

describe('listing and showing', () => {
  it('is refused without the permission', async () => {
    for (const path of ['/webhooks', '/webhooks/1', '/webhooks/1/secret']) {
      expect((await webhooks.api.request(path)).status).toBe(403)
    }
  })

  it('leads through all pages', async () => {
    await webhooks.create()
    await webhooks.create()
    const first = await webhooks.call<{ data: TestWebhook[]; pagination: { next_cursor: string } }>(
      '/webhooks?per_page=1',
    )
    const cursor = first.body.pagination.next_cursor
    const second = await webhooks.call<{ data: TestWebhook[] }>(`/webhooks?cursor=${cursor}`)
    expect(Number(second.body.data[0]?.id)).toBeGreaterThan(Number(first.body.data[0]?.id))
  })

  it.each(['0', '999999', 'x', '-1'])('knows no webhook %s', async (id) => {
    expect((await webhooks.call(`/webhooks/${id}`)).status).toBe(404)
  })
})

describe('changing a webhook', () => {
  let webhook: TestWebhook

  beforeAll(async () => {
    webhook = await webhooks.create({ headers: { 'X-A': 'b' } })
  })

  describeWriteContract({
    api: () => webhooks.api,
    method: 'PATCH',
    path: () => `/webhooks/${webhook.id}`,
    payload: () => ({ name: 'Other' }),
    permission: 'Manage Webhooks',
    missingPaths: () => ['/webhooks/999999', '/webhooks/x'],
  })

  it('changes what is given and records before and after', async () => {
    const { status, body } = await patch<TestWebhook>(webhook.id, {
      name: 'Desk',
      events: ['issues.new', 'issues.resolved', 'issues.new'],
      rate_limit_per_second: 3,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'Desk',
      events: ['issues.new', 'issues.resolved'],
      rate_limit_per_second: 3,
      header_names: ['X-A'],
    })
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({
      action: 'webhook.updated',
      before: { events: ['issues.new'], rate_limit_per_second: null },
      after: { name: 'Desk', rate_limit_per_second: 3 },
    })
    const cleared = await patch<TestWebhook>(webhook.id, { rate_limit_per_second: null })
    expect(cleared.body).toMatchObject({ rate_limit_per_second: null })
  })

  it('sends headers to no other host than the one that they were given for', async () => {
    const { url } = VALID
    const { id } = await webhooks.create({ url, headers: { 'X-A': 'b' } })
    const elsewhere = 'https://elsewhere.example.com/hook'
    expect(await patch(id, { url: elsewhere })).toMatchObject({
      status: 422,
      body: { details: [{ path: 'headers' }] },
    })
    for (const sameHost of ['/other', '//receiver.example.com:8443/hooks']) {
      expect((await patch(id, { url: new URL(sameHost, url).href })).status).toBe(200)
    }
    expect((await patch(id, { url: elsewhere, headers: { 'X-A': 'c' } })).status).toBe(200)
    expect((await patch(id, { url, headers: {} })).status).toBe(200)
    expect((await patch(id, { url: elsewhere })).status).toBe(200)
  })

  it('leaves no trace when nothing changes', async () => {
    const { body: before } = await webhooks.call<TestWebhook>(`/webhooks/${webhook.id}`)
    const entries = await countAuditEntries(webhooks.api)
    webhooks.clock.advance(1_000)
    const { body } = await patch<TestWebhook>(webhook.id, { enabled: true, description: null })
    expect(body.updated_at).toBe(before.updated_at)
    expect(await countAuditEntries(webhooks.api)).toBe(entries)
  })

  it('is switched off and on, which holds and frees its deliveries', async () => {
    const stateOf = async () => {
      const row = await webhooks.db
        .selectFrom('webhook')
        .innerJoin('delivery_destination as d', 'd.id', 'webhook.destination_id')
        .select('d.state')
        .where('webhook.id', '=', webhook.id)
        .executeTakeFirstOrThrow()
      return row.state
    }
    const off = await patch<TestWebhook>(webhook.id, { enabled: false })
    expect(off.body).toMatchObject({ enabled: false, disabled_reason: 'admin' })
    expect(await stateOf()).toBe('held')
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({ action: 'webhook.disabled' })
    const on = await patch<TestWebhook>(webhook.id, { enabled: true })
    expect(on.body).toMatchObject({ enabled: true, disabled_reason: null, disabled_at: null })
    expect(await stateOf()).toBe('active')
    await vi.waitFor(() => expect(webhooks.wake).toHaveBeenCalled())
  })

  it('answers PUT as PATCH', async () => {
    const { status } = await webhooks.call(`/webhooks/${webhook.id}`, {
      method: 'PUT',
      payload: { name: 'Put' },
    })
    expect(status).toBe(200)
  })

  it.each([
    ['another form of signature', { signing: 'hex' }, 'invalid_body'],
    ['a private target', { url: 'https://192.168.0.1/' }, 'target_refused'],
    ['a reserved header', { headers: { 'content-type': 'text/plain' } }, 'invalid_body'],
  ])('refuses %s', async (_name, payload, code) => {
    const before = await countAuditEntries(webhooks.api)
    const { status, body } = await patch<TestRefusal>(webhook.id, payload)
    expect([status, body.code]).toEqual([422, code])
    expect(await countAuditEntries(webhooks.api)).toBe(before)
  })
})

describe('deleting a webhook', () => {
  describeWriteContract({
    api: () => webhooks.api,
    method: 'DELETE',
    path: () => '/webhooks/1',
    permission: 'Manage Webhooks',
    missingPaths: () => ['/webhooks/999999'],
  })

  it('answers it, takes its secrets along and marks its deliveries for deletion', async () => {
    const { id } = await webhooks.create()
    const { status, body } = await webhooks.call<TestWebhook>(`/webhooks/${id}`, {
      method: 'DELETE',
    })
    expect([status, body.id]).toEqual([200, id])
    expect((await webhooks.call(`/webhooks/${id}`)).status).toBe(404)
    const secrets = await webhooks.db
      .selectFrom('webhook_secret')
      .select('id')
      .where('webhook_id', '=', id)
      .execute()
    expect(secrets).toEqual([])
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({
      action: 'webhook.deleted',
      target_id: id,
    })
  })
})

describe('the secret', () => {
  it('is shown to keys of admins with Full Access, which the audit log records', async () => {
    const { id, secret } = await webhooks.create()
    const { status, headers, body } = await webhooks.call(`/webhooks/${id}/secret`)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toEqual({ id, signing: 'standard', secret, public_key: null })
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({
      action: 'webhook.secret_revealed',
      target_id: id,
    })
  })

  it('is not what HEAD is answered with: nobody sees it, and the audit log says nothing', async () => {
    const { id } = await webhooks.create()
    const key = await webhooks.api.createKey(['Manage Webhooks'])
    const before = await countAuditEntries(webhooks.api)
    const url = `/webhooks/${id}/secret`
    const headers = { authorization: `Bearer ${key}` }
    const head = await webhooks.api.app.inject({ method: 'HEAD', url, headers })
    expect([head.statusCode, head.headers['allow'], head.body]).toEqual([405, 'GET', ''])
    expect(await countAuditEntries(webhooks.api)).toBe(before)
    expect((await webhooks.api.app.inject({ method: 'GET', url, headers })).statusCode).toBe(200)
  })

  it('is refused to the key of an admin who has lost Full Access', async () => {
    const { id } = await webhooks.create()
    const { db, runChange, sealer } = webhooks
    const email = 'limited@example.com'
    const { key } = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      await createAdmin(change, { email, firstName: 'L', lastName: 'M', access: 'full' })
      return createApiKey(change, sealer, {
        name: 'limited',
        responsibleEmail: email,
        permissions: [{ permission: 'Manage Webhooks', rationale: 'A test.' }],
        expiresAt: null,
      })
    })
    await db
      .updateTable('admin_user')
      .set({ access: 'limited' })
      .where('email', '=', email)
      .execute()
    const before = await countAuditEntries(webhooks.api)
    const { status, body } = await webhooks.api.request<TestRefusal>(`/webhooks/${id}/secret`, {
      key,
    })
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
    expect(await countAuditEntries(webhooks.api)).toBe(before)
  })

  it('is replaced, and the old one ends a day later unless something else is asked for', async () => {
    const { id, secret } = await webhooks.create()
    const now = webhooks.clock.now().getTime()
    const { status, body } = await post<TestWebhook>(`/webhooks/${id}/rotate_secret`)
    expect(status).toBe(200)
    expect(body.secret).not.toBe(secret)
    expect(body.old_secrets_end_at).toBe(new Date(now + 86_400_000).toISOString())
    const at = new Date(now + 3_600_000).toISOString()
    const sooner = await post<TestWebhook>(`/webhooks/${id}/rotate_secret`, {
      old_secret_ends_at: at,
    })
    expect(sooner.body.old_secrets_end_at).toBe(at)
    const immediate = await post<TestWebhook>(`/webhooks/${id}/rotate_secret`, { immediate: true })
    expect(immediate.body.old_secrets_end_at).toBeNull()
    const secrets = await webhooks.db
      .selectFrom('webhook_secret')
      .select('ends_at')
      .where('webhook_id', '=', id)
      .execute()
    expect(secrets).toEqual([{ ends_at: null }])
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({
      action: 'webhook.secret_rotated',
      after: { old_secrets_end_at: null },
    })
  })

  it.each([
    ['an end in the past', { old_secret_ends_at: '2020-01-01T00:00:00Z' }],
    ['an end years away', { old_secret_ends_at: '2036-01-01T00:00:00Z' }],
    ['an end that is no time', { old_secret_ends_at: 'tomorrow' }],
    ['two ends', { immediate: true, old_secret_ends_at: '2026-01-03T00:00:00Z' }],
  ])('is not replaced with %s', async (_name, payload) => {
    const { id, secret } = await webhooks.create()
    const { status, body } = await post<TestRefusal>(`/webhooks/${id}/rotate_secret`, payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    const { body: revealed } = await webhooks.call<{ secret: string }>(`/webhooks/${id}/secret`)
    expect(revealed.secret).toBe(secret)
  })

  it('is not replaced more often than signatures fit a header', async () => {
    const { id } = await webhooks.create()
    const statuses: number[] = []
    for (let count = 0; count < 11; count += 1) {
      webhooks.clock.advance(1_000)
      statuses.push((await post(`/webhooks/${id}/rotate_secret`)).status)
    }
    expect(statuses.at(0)).toBe(200)
    expect(statuses.at(-1)).toBe(409)
  })
})

describe('testing a webhook', () => {
  describeWriteContract({
    api: () => webhooks.api,
    method: 'POST',
    path: () => '/webhooks/1/test',
    permission: 'Manage Webhooks',
    missingPaths: () => ['/webhooks/999999/test'],
  })

  it('sends one event at once and tells what the receiver answered', async () => {
    const receiver = await startLoopbackReceiver()
    const { id, identifier } = await webhooks.create({
      url: `${receiver.url}/hooks`,
      enabled: false,
    })
    const { body } = await post<{ event_id: string }>(`/webhooks/${id}/test`)
    expect(body).toMatchObject({ success: true, response_code: '202', reason: null })
    const [request] = receiver.requests
    expect(JSON.parse(request?.body ?? '')).toEqual({
      event: 'webhook.test',
      id: body.event_id,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
      data: { message: expect.any(String) as string },
    })
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': body.event_id,
      'x-service-webhook-identifier': identifier,
      'x-kolide-webhook-identifier': identifier,
    })
    receiver.respond((_request, response) => void response.writeHead(500).end('no'))
    const failed = await post(`/webhooks/${id}/test`)
    expect(failed.body).toMatchObject({
      success: false,
      response_code: '500',
      reason: 'The receiver answered 500',
    })
    await receiver.close()
    const unreachable = await post<{ reason: string }>(`/webhooks/${id}/test`)
    expect(unreachable.body).toMatchObject({ success: false, response_code: '0' })
    expect(unreachable.body.reason).not.toBe('')
    expect(await lastAuditEntry(webhooks.api)).toMatchObject({ action: 'webhook.tested' })
  })
})
