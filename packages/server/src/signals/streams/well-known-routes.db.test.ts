import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const PUSH = 'urn:ietf:rfc:8935'
const POLL = 'urn:ietf:rfc:8936'

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())

describe('discovery', () => {
  it('shows the configuration to anyone', async () => {
    const { status, body } = await streams.api.request('/.well-known/ssf-configuration', {
      key: null,
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      spec_version: '1_0',
      issuer: 'https://trust.example.com',
      jwks_uri: 'https://trust.example.com/ssf/jwks.json',
      delivery_methods_supported: [PUSH, POLL],
      events_supported: [COMPLIANCE],
      configuration_endpoint: 'https://trust.example.com/ssf_streams',
      status_endpoint: 'https://trust.example.com/ssf_streams/status',
      verification_endpoint: 'https://trust.example.com/ssf_streams/{stream_id}/test',
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6750' }],
      default_subjects: 'ALL',
    })
  })

  it('shows the public keys only, and lets caches keep them', async () => {
    const { headers, body } = await streams.api.request<{ keys: Record<string, string>[] }>(
      '/ssf/jwks.json',
      { key: null },
    )
    expect(body.keys.map((key) => Object.keys(key).sort())).toEqual([
      ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ])
    expect(headers['cache-control']).toContain('public')
  })

  it('is all that is open when the organisation has switched the feature off', async () => {
    const closed = await createStreamsApi()
    await closed.db.updateTable('organisation').set({ ssf_enabled: false }).execute()
    for (const url of ['/ssf_streams', '/ssf_streams/1', '/ssf_streams/1/events']) {
      const { status, body } = await closed.call<TestRefusal>(url)
      expect({ status, error: body.error }).toEqual({
        status: 401,
        error: 'This feature has been disabled by your organization',
      })
    }
    expect(await closed.call('/.well-known/ssf-configuration')).toMatchObject({ status: 200 })
    await closed.close()
  })
})
