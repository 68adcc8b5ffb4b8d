import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { HOUR_MS } from '../../platform/clock.ts'

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
beforeEach(async () => {
  await streams.keyRing.refresh()
})

interface Key {
  readonly kid: string
  readonly state: string
  readonly modulus_bits: number
  readonly active_from: string
  readonly general_from: string | null
}

const list = async () => (await streams.call<{ data: Key[] }>('/ssf_signing_keys')).body.data
const post = <Body>(path: string, payload?: object) =>
  streams.call<Body>(`/ssf_signing_keys/${path}`, {
    method: 'POST',
    ...(payload === undefined ? {} : { payload }),
  })
const lastAudit = () =>
  streams.db
    .selectFrom('audit_entry')
    .select(['action', 'actor_type', 'target_id', 'before', 'after'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()

describe('the operations on signing keys', () => {
  it('show keys without anything private, oldest first, a page at a time', async () => {
    const { body } = await streams.call<{ data: Key[] }>('/ssf_signing_keys?per_page=1')
    expect(body.data).toMatchObject([{ state: 'active', modulus_bits: 2048, algorithm: 'RS256' }])
    expect(JSON.stringify(body)).not.toMatch(/"(?:d|p|q|private\w*)":/)
  })

  it('rotate: the new key is published and signs later, for its canaries first; a second rotation conflicts', async () => {
    const { body: stream } = await streams.call<{ stream_id: string }>('/ssf_streams', {
      method: 'POST',
      payload: { name: 'canary' },
    })
    const { status, body } = await post<Key>('rotate', {
      canary_stream_ids: [stream.stream_id],
      canary_hours: 3,
      modulus_bits: 3072,
    })
    expect(status).toBe(200)
    const nowMs = streams.clock.now().getTime()
    expect(body).toMatchObject({
      state: 'published',
      modulus_bits: 3072,
      active_from: new Date(nowMs + 2 * HOUR_MS).toISOString(),
      general_from: new Date(nowMs + 5 * HOUR_MS).toISOString(),
      receivers: [{ stream_id: stream.stream_id, canary: true, in_use: false }],
    })
    expect(await lastAudit()).toMatchObject({
      action: 'signing_key.created',
      actor_type: 'ApiKey',
      target_id: body.kid,
    })
    const again = await post('rotate')
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await list()).toHaveLength(2)
  })

  it('rollback: the key before goes on, the other is retiring, and there is nothing more to go back to', async () => {
    const { status, body } = await post<{ key: Key; active_key: Key }>('rollback')
    expect(status).toBe(200)
    expect(body).toMatchObject({ key: { state: 'retiring' }, active_key: { state: 'active' } })
    expect(await lastAudit()).toMatchObject({
      action: 'signing_key.rolled_back',
      target_id: body.key.kid,
      before: { rolled_back_at: null },
      after: { active_kid: body.active_key.kid },
    })
    expect(await post('rollback')).toMatchObject({ status: 409 })
  })

  it('revoke: the key is gone at once, a new one signs, and a second time conflicts', async () => {
    const active = (await list()).find(({ state }) => state === 'active')
    const { status, body } = await post<{ key: Key; active_key: Key }>(
      `${active?.kid ?? ''}/revoke`,
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      key: { kid: active?.kid, state: 'retired', revoked_at: streams.clock.now().toISOString() },
      active_key: { state: 'active', active_from: streams.clock.now().toISOString() },
    })
    expect(await lastAudit()).toMatchObject({
      action: 'signing_key.revoked',
      target_id: active?.kid,
      before: { revoked_at: null },
    })
    await streams.keyRing.refresh()
    const { body: jwks } = await streams.api.request<{ keys: { kid: string }[] }>(
      '/ssf/jwks.json',
      { key: null },
    )
    expect(jwks.keys.map(({ kid }) => kid)).not.toContain(active?.kid)
    expect(streams.keyRing.activeKid()).toBe(body.active_key.kid)
    expect(await post(`${active?.kid ?? ''}/revoke`)).toMatchObject({ status: 409 })
  })

  it('a revoked key that was not yet in use leaves the one in use as it is', async () => {
    const active = (await list()).find(({ state }) => state === 'active')
    const { body: pending } = await post<Key>('rotate')
    const { body } = await post<{ active_key: Key }>(`${pending.kid}/revoke`)
    expect(body.active_key).toMatchObject({ kid: active?.kid, retires_at: null })
  })

  it('are refused without a credential or the permission, for unknown keys and streams, and for bodies that are not valid', async () => {
    for (const path of ['rotate', 'rollback', 'x/revoke']) {
      const url = `/ssf_signing_keys/${path}`
      expect(await streams.api.request(url, { method: 'POST', key: null })).toMatchObject({
        status: 401,
      })
      const forbidden = await streams.api.request<{ message: string }>(url, { method: 'POST' })
      expect(forbidden.status).toBe(403)
      expect(forbidden.body.message).toContain('Manage Shared Signals Framework Streams')
    }
    const before = await list()
    expect(await post('x/revoke')).toMatchObject({ status: 404 })
    expect(await post('rotate', { canary_stream_ids: ['4711'] })).toMatchObject({ status: 404 })
    for (const body of [{ modulus_bits: 1024 }, { canary_hours: 0 }, { extra: 1 }]) {
      expect(await post('rotate', body)).toMatchObject({ status: 422 })
    }
    expect(await list()).toEqual(before)
  })
})
