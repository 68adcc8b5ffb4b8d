import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerWith, startLoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'

let api: StandardApi

beforeAll(async () => {
  api = await createStandardApi()
})
afterAll(() => api.close())

it('a receiver reads the health of its own stream and tests itself, and nobody else can', async () => {
  const receiver = await startLoopbackReceiver(answerWith(202))
  const { body: stream } = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload: {
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: `${receiver.url}/events` },
    },
  })
  const health = `/ssf/health?stream_id=${stream.stream_id}`
  const selfTest = `/ssf/self_test?stream_id=${stream.stream_id}`
  expect(await api.call(health)).toMatchObject({
    status: 200,
    body: { stream_id: stream.stream_id, state: 'healthy' },
  })
  expect(await api.call(selfTest)).toMatchObject({ status: 404 })
  expect(await api.call(selfTest, { method: 'POST' })).toMatchObject({
    status: 200,
    body: { stream_id: stream.stream_id, passed: false },
  })
  expect(await api.call(selfTest)).toMatchObject({ status: 200 })
  expect(await api.call(selfTest, { method: 'POST' })).toMatchObject({ status: 429 })

  const stranger = await api.newToken(await api.newClient())
  const reader = await api.newToken(api.client, 'ssf.read')
  for (const path of [health, selfTest]) {
    expect(await api.call(path, { token: stranger })).toMatchObject({ status: 404 })
    expect(await api.call(path, { token: null })).toMatchObject({ status: 401 })
    expect(await api.call(path, { token: reader })).toMatchObject({ status: 200 })
  }
  expect(await api.call(selfTest, { method: 'POST', token: stranger })).toMatchObject({
    status: 404,
  })
  expect(await api.call(selfTest, { method: 'POST', token: reader })).toMatchObject({ status: 403 })
  expect(await api.call('/ssf/health')).toMatchObject({ status: 400 })
  await receiver.close()
})
