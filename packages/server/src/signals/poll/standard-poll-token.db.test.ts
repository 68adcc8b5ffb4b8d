import { parseStreamReference } from '../streams/stream-store.ts'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { deleteAccessToken } from '../clients/access-token-store.ts'
import { rotatePollToken } from './rotate-poll-token.ts'

let api: StandardApi

beforeAll(async () => {
  api = await createStandardApi()
})
afterAll(() => api.close())

async function createStream(token?: string): Promise<string> {
  const { status, body } = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload: {},
    ...(token === undefined ? {} : { token }),
  })
  expect(status).toBe(201)
  return body.stream_id
}

async function issue(streamId: string): Promise<string> {
  const rotation = { mode: 'immediate', overlapSeconds: 1 } as const
  const { token } = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    rotatePollToken(change, parseStreamReference(streamId), rotation),
  )
  return token ?? ''
}

const poll = (streamId: string, token: string) =>
  api.call(`/ssf/poll/${streamId}`, {
    method: 'POST',
    token,
    payload: { returnImmediately: true },
  })

it('ssf-T135 a poll token polls its stream on the standard surface, and a bad one is challenged', async () => {
  const mine = await createStream()
  const other = await createStream()
  const token = await issue(mine)
  expect(await poll(mine, token)).toMatchObject({ status: 200, body: { sets: {} } })
  const refused = await poll(other, token)
  expect(refused.status).toBe(401)
  expect(refused.headers['www-authenticate']).toMatch(/^Bearer .*error="invalid_token"/)
  await issue(mine)
  expect(await poll(mine, token)).toMatchObject({ status: 401 })
})

it('a poll token opens nothing else there', async () => {
  const streamId = await createStream()
  const token = await issue(streamId)
  const url = `/ssf/streams?stream_id=${streamId}`
  expect(await api.call(url, { token })).toMatchObject({ status: 401 })
  expect(await api.call(url, { token, method: 'DELETE' })).toMatchObject({ status: 401 })
})

it('a poll token ends with the client of its stream', async () => {
  const client = await api.newClient()
  const streamId = await createStream(await api.newToken(client))
  const token = await issue(streamId)
  expect(await poll(streamId, token)).toMatchObject({ status: 200 })
  await api.db
    .updateTable('ssf_client')
    .set({ revoked_at: api.clock.now() })
    .where('id', '=', client.id)
    .execute()
  expect(await poll(streamId, token)).toMatchObject({ status: 401 })
})

it('a poll that waits is told nothing once its access token is revoked', async () => {
  const client = await api.newClient()
  const streamId = await createStream(await api.newToken(client))
  const token = await api.newToken(client)
  const pending = api.call(`/ssf/poll/${streamId}`, { method: 'POST', token, payload: {} })
  await vi.waitFor(() => expect(api.waiters.count()).toBe(1), { timeout: 5_000 })
  await deleteAccessToken(api.db, token)
  const other = await api.newToken(client)
  const payload = { stream_id: streamId }
  const asked = await api.call('/ssf/verify', { method: 'POST', token: other, payload })
  expect(asked.status).toBe(204)
  expect((await pending).body).toEqual({ sets: {} })
  const { body } = await api.call<{ sets: object }>(`/ssf/poll/${streamId}`, {
    method: 'POST',
    token: other,
    payload: { returnImmediately: true },
  })
  expect(Object.keys(body.sets)).toHaveLength(1)
})
