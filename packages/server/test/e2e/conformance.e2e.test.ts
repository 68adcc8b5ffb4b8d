/*
 * The modules of the OpenID conformance suite for SSF transmitters, by their names, against a service
 * with TLS and through its standard surface. Waiting times are shorter than the suite's.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ReceivedSet } from './support/conformance/event-feed.ts'
import { pollOnce } from './support/conformance/event-feed.ts'
import {
  checkKeys,
  checkSet,
  COMPLIANCE_CHANGE,
  VERIFICATION,
} from './support/conformance/set-checks.ts'
import { uniqueValue, type SuiteAnswer } from './support/conformance/suite-client.ts'
import {
  REQUESTED_EVENTS,
  SESSION_REVOKED,
  SuiteEnvironment,
  type DeliveryMode,
  type SuiteStream,
} from './support/conformance/suite-environment.ts'

/** How long nothing must come, where nothing is expected. */
const SILENCE_MS = 1_500
const JUNK_TOKEN = 'junk.token.value'
const BROKEN_JSON = ';{ broken'
/** What the interoperability profile demands of the document. */
const REQUIRED_ENDPOINTS = [
  'jwks_uri',
  'configuration_endpoint',
  'status_endpoint',
  'verification_endpoint',
] as const
/** Without it a client refuses TLS before 1.2 by itself, and nothing is learnt of the server. */
const ANY_VERSION_CIPHERS = 'DEFAULT@SECLEVEL=0'

let suite: SuiteEnvironment

beforeAll(async () => {
  suite = await SuiteEnvironment.start()
})
afterAll(() => suite.stop())

const isVerification =
  (state?: string) =>
  ({ claims }: ReceivedSet): boolean => {
    const event = claims.events?.[VERIFICATION]
    return event !== undefined && (state === undefined || event['state'] === state)
  }

function without(name: string, body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([member]) => member !== name))
}

function expectChallenge({ status, headers }: SuiteAnswer, error?: string): void {
  expect(status).toBe(401)
  expect(headers['www-authenticate']).toMatch(/^Bearer/)
  if (error !== undefined) expect(headers['www-authenticate']).toContain(`error="${error}"`)
}

/** The id of a stream that was there and is no longer. */
async function deadStreamId(mode: DeliveryMode): Promise<string> {
  const { stream_id: id } = await suite.create(mode)
  expect((await suite.delete(id)).status).toBe(204)
  return id
}

async function verifyAndReceive(mode: DeliveryMode, stream: SuiteStream): Promise<ReceivedSet> {
  const state = uniqueValue('state')
  const answer = await suite.verify({ stream_id: stream.stream_id, state })
  expect([answer.status, answer.text]).toEqual([204, ''])
  return suite.waitFor(mode, stream, isVerification(state))
}

describe('the transmitter as a whole', () => {
  it('cs/openid-ssf-transmitter-metadata', async () => {
    const { metadata } = suite
    expect(metadata.issuer).toBe(`${suite.service.baseUrl}/ssf`)
    expect(metadata['spec_version']).toBe('1_0')
    for (const member of REQUIRED_ENDPOINTS) expect(metadata).toHaveProperty(member)
    for (const [member, value] of Object.entries(metadata)) {
      if (/_(uri|endpoint)$/.test(member)) expect(value, member).toMatch(/^https:\/\/[^?#{}]+$/)
      if (Array.isArray(value)) expect(value.length, member).toBeGreaterThan(0)
    }
    expect(metadata['authorization_schemes']).toContainEqual({ spec_urn: 'urn:ietf:rfc:6749' })
    expect(metadata['delivery_methods_supported']).toEqual([
      'urn:ietf:rfc:8935',
      'urn:ietf:rfc:8936',
    ])
    checkKeys(suite.keys)
  })

  it.each([
    ['TLSv1.3', 'served'],
    ['TLSv1.2', 'served'],
    ['TLSv1.1', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
    ['TLSv1', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ] as const)(
    'cs/openid-ssf-transmitter-metadata: a client of %s is answered: %s',
    async (version, expected) => {
      const { port, hostname: host } = new URL(suite.service.baseUrl)
      const outcome = await new Promise<string | undefined>((resolve) => {
        const socket = connect({
          host,
          port: Number(port),
          rejectUnauthorized: false,
          minVersion: version,
          maxVersion: version,
          ciphers: ANY_VERSION_CIPHERS,
        })
        socket.once('secureConnect', () => {
          socket.end()
          resolve('served')
        })
        socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      })
      expect(outcome).toBe(expected)
    },
  )
})

describe.each(['push', 'poll'] as const)('%s delivery', (mode) => {
  beforeEach(() => suite.cleanUp())

  it('cs/openid-ssf-stream-control-happy-path', async () => {
    const stream = await suite.create(mode)
    expect(stream.iss).toBe(suite.metadata.issuer)
    expect(stream.aud).toEqual(expect.stringMatching(/./))
    expect(stream.events_delivered).toEqual([COMPLIANCE_CHANGE, SESSION_REVOKED])
    expect(stream.events_requested).toEqual(REQUESTED_EVENTS)
    const id = stream.stream_id
    expect((await suite.read(id)).json).toEqual(stream)
    expect((await suite.read()).json).toEqual([stream])

    const patched = await suite.send('PATCH', { stream_id: id, description: 'Patched' })
    expect([patched.status, patched.json]).toEqual([200, { ...stream, description: 'Patched' }])
    const replaced = await suite.send('PUT', {
      ...without('description', suite.createBody(mode)),
      stream_id: id,
    })
    expect(replaced.status).toBe(200)
    expect(replaced.json).not.toHaveProperty('description')
    expect((await suite.read(id)).json).toEqual(replaced.json)

    expect((await suite.readStatus(id)).json).toEqual({ stream_id: id, status: 'enabled' })
    for (const status of ['paused', 'disabled', 'enabled']) {
      const set = await suite.setStatus(id, status)
      expect([set.status, set.json]).toEqual([200, { stream_id: id, status }])
      expect((await suite.readStatus(id)).json).toEqual({ stream_id: id, status })
    }
    const deleted = await suite.delete(id)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    expect((await suite.read(id)).status).toBe(404)
  })

  it('cs/openid-ssf-stream-control-error-create-stream-with-broken-input', async () => {
    expect((await suite.send('POST', BROKEN_JSON)).status).toBe(400)
    expect((await suite.read()).json).toEqual([])
  })

  it('cs/openid-ssf-stream-control-error-create-stream-with-invalid-token', async () => {
    expectChallenge(await suite.send('POST', suite.createBody(mode), JUNK_TOKEN), 'invalid_token')
  })

  it('cs/openid-ssf-stream-control-error-create-stream-with-duplicate-config', async () => {
    const first = await suite.create(mode)
    const second = await suite.send('POST', suite.createBody(mode))
    expect([201, 409]).toContain(second.status)
    if (second.status === 201) {
      expect((second.json as SuiteStream).stream_id).not.toBe(first.stream_id)
    }
  })

  it('cs/openid-ssf-stream-control-create-stream-with-read-only-token', async () => {
    const refused = await suite.send('POST', suite.createBody(mode), suite.readToken)
    expect(refused.status).toBe(403)
    expect(refused.headers['www-authenticate']).toContain('error="insufficient_scope"')
  })

  it('cs/openid-ssf-stream-control-error-read-stream-with-invalid-token', async () => {
    const { stream_id: id } = await suite.create(mode)
    expectChallenge(await suite.read(id, JUNK_TOKEN), 'invalid_token')
    const url = `${suite.metadata.configuration_endpoint}?stream_id=${id}`
    expectChallenge(await suite.client.send(url))
  })

  it('cs/openid-ssf-stream-control-error-read-unknown-stream', async () => {
    expect((await suite.read(await deadStreamId(mode))).status).toBe(404)
  })

  it('cs/openid-ssf-stream-control-error-read-stream-of-another-receiver', async () => {
    const { stream_id: id } = await suite.create(mode)
    expect((await suite.read(id, suite.otherToken)).status).toBe(404)
    expect((await suite.read(undefined, suite.otherToken)).json).toEqual([])
  })

  it('cs/openid-ssf-stream-control-error-update-stream-with-invalid-token', async () => {
    const { stream_id: id } = await suite.create(mode)
    expectChallenge(await suite.send('PATCH', { stream_id: id }, JUNK_TOKEN), 'invalid_token')
  })

  it('cs/openid-ssf-stream-control-error-update-stream-with-invalid-body', async () => {
    const stream = await suite.create(mode)
    expect((await suite.send('PATCH', BROKEN_JSON)).status).toBe(400)
    expect((await suite.read(stream.stream_id)).json).toEqual(stream)
  })

  it('cs/openid-ssf-stream-control-error-update-unknown-stream', async () => {
    const id = await deadStreamId(mode)
    expect((await suite.send('PATCH', { stream_id: id, description: 'x' })).status).toBe(404)
  })

  it('cs/openid-ssf-stream-control-error-replace-stream-with-invalid-body', async () => {
    const stream = await suite.create(mode)
    expect((await suite.send('PUT', BROKEN_JSON)).status).toBe(400)
    expect((await suite.read(stream.stream_id)).json).toEqual(stream)
  })

  it('cs/openid-ssf-stream-control-error-replace-stream-with-invalid-token', async () => {
    const { stream_id: id } = await suite.create(mode)
    const body = { ...suite.createBody(mode), stream_id: id }
    expectChallenge(await suite.send('PUT', body, JUNK_TOKEN), 'invalid_token')
  })

  it('cs/openid-ssf-stream-control-error-replace-unknown-stream', async () => {
    const body = { ...suite.createBody(mode), stream_id: await deadStreamId(mode) }
    expect((await suite.send('PUT', body)).status).toBe(404)
  })

  it('cs/openid-ssf-stream-control-error-delete-stream-with-invalid-token', async () => {
    const { stream_id: id } = await suite.create(mode)
    expectChallenge(await suite.delete(id, JUNK_TOKEN), 'invalid_token')
    expect((await suite.read(id)).status).toBe(200)
  })

  it('cs/openid-ssf-stream-control-error-delete-unknown-stream', async () => {
    expect((await suite.delete(await deadStreamId(mode))).status).toBe(404)
  })

  it('cs/openid-ssf-stream-control-error-read-status', async () => {
    const { stream_id: id } = await suite.create(mode)
    expectChallenge(await suite.readStatus(id, JUNK_TOKEN), 'invalid_token')
    expect((await suite.readStatus(await deadStreamId(mode))).status).toBe(404)
  })

  it('cs/openid-ssf-stream-control-token-in-uri-query', async () => {
    const url = `${suite.metadata.configuration_endpoint}?access_token=${suite.manageToken}`
    expect([400, 401]).toContain((await suite.client.send(url)).status)
  })

  it('cs/openid-ssf-stream-subject-control', async () => {
    const { stream_id: id } = await suite.create(mode)
    const subject = { format: 'email', email: 'example.user@example.com' }
    const post = (url: string) =>
      suite.client.send(url, {
        method: 'POST',
        token: suite.manageToken,
        body: { stream_id: id, subject },
      })
    const added = await post(suite.metadata.add_subject_endpoint)
    expect([added.status, added.text]).toEqual([200, ''])
    const removed = await post(suite.metadata.remove_subject_endpoint)
    expect([removed.status, removed.text]).toEqual([204, ''])
  })

  it(`cs/openid-ssf-transmitter-stream-verification-${mode}`, async () => {
    const header = `Bearer ${uniqueValue('push_token')}`
    const stream = await suite.create(mode, header)
    const set = await verifyAndReceive(mode, stream)
    const [type] = checkSet(set, stream, suite.keys)
    expect(type).toBe(VERIFICATION)
    expect(set.claims.sub_id).toEqual({ format: 'opaque', id: stream.stream_id })
    if (mode === 'poll') return
    expect(set.method).toBe('POST')
    expect(set.headers).toMatchObject({
      authorization: header,
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
    })
  })

  it('cs/openid-ssf-transmitter-stream-verification-error', async () => {
    const { stream_id: id } = await suite.create(mode)
    expect((await suite.verify(BROKEN_JSON)).status).toBe(400)
    expectChallenge(await suite.verify({ stream_id: id }, JUNK_TOKEN), 'invalid_token')
    expect((await suite.verify({ stream_id: await deadStreamId(mode) })).status).toBe(404)
  })

  it('cs/openid-ssf-transmitter-paused-stream-holds-events', async () => {
    const stream = await suite.create(mode)
    const { stream_id: id } = stream
    await suite.setStatus(id, 'paused')
    const state = uniqueValue('state')
    expect((await suite.verify({ stream_id: id, state })).status).toBe(204)
    await sleep(SILENCE_MS)
    expect((await suite.look(mode, stream)).filter(isVerification(state))).toEqual([])
    await suite.setStatus(id, 'enabled')
    await suite.waitFor(mode, stream, isVerification(state))
  })

  it('cs/openid-ssf-transmitter-disabled-stream-drops-events', async () => {
    const stream = await suite.create(mode)
    const { stream_id: id } = stream
    await suite.setStatus(id, 'disabled')
    const state = uniqueValue('state')
    expect((await suite.verify({ stream_id: id, state })).status).toBe(204)
    await suite.setStatus(id, 'enabled')
    await suite.respectInterval(stream)
    await verifyAndReceive(mode, stream)
    expect((await suite.look(mode, stream)).filter(isVerification(state))).toEqual([])
  })

  it('cs/openid-ssf-transmitter-stream-caep-interop', async () => {
    const stream = await suite.create(mode)
    await verifyAndReceive(mode, stream)
    for (let change = 0; change < 2; change += 1) {
      const wanted = await suite.flipDevice()
      const set = await suite.waitFor(
        mode,
        stream,
        ({ claims }) => claims.events?.[COMPLIANCE_CHANGE]?.['current_status'] === wanted,
      )
      const [, event] = checkSet(set, stream, suite.keys)
      expect(event['previous_status']).toBe(wanted === 'compliant' ? 'not-compliant' : 'compliant')
      expect(event['event_timestamp']).toBeLessThan(1e11)
      expect(['admin', 'user', 'policy', 'system']).toContain(event['initiating_entity'])
      expect(Object.values(event['reason_admin'] as object)[0]).toEqual(expect.stringMatching(/./))
      expect(['iss_sub', 'email']).toContain(set.claims.sub_id?.format)
    }
  })
})

describe('push delivery alone', () => {
  beforeEach(() => suite.cleanUp())

  it('cs/openid-ssf-transmitter-stream-verification-error-push-no-auth', async () => {
    const answer = await suite.send('POST', suite.createBody('push'))
    const stream = answer.json as SuiteStream
    expect(await verifyAndReceive('push', stream)).not.toHaveProperty('headers.authorization')
  })
})

describe('poll delivery alone', () => {
  beforeEach(() => suite.cleanUp())

  const poll = (stream: SuiteStream, body: object, token: string | undefined = suite.manageToken) =>
    suite.client.send(stream.delivery.endpoint_url, { method: 'POST', token, body })

  it('cs/openid-ssf-stream-control-create-stream-without-delivery', async () => {
    const body = without('delivery', suite.createBody('poll'))
    const { delivery } = (await suite.send('POST', body)).json as SuiteStream
    expect(delivery.method).toBe('urn:ietf:rfc:8936')
    expect(delivery.endpoint_url).toMatch(/^https:/)
  })

  it('cs/openid-ssf-transmitter-stream-verification-poll-only', async () => {
    const stream = await suite.create('poll')
    const { claims } = await verifyAndReceive('poll', stream)
    const again = await pollOnce(suite.client, stream.delivery.endpoint_url, suite.manageToken)
    expect(again.map((set) => set.claims.jti)).toEqual([claims.jti])
  })

  it('cs/openid-ssf-transmitter-stream-verification-poll-and-ack', async () => {
    const stream = await suite.create('poll')
    const { claims } = await verifyAndReceive('poll', stream)
    const answer = await poll(stream, { ack: [claims.jti], returnImmediately: true })
    expect([answer.status, answer.json]).toEqual([200, { sets: {} }])
  })

  it('cs/openid-ssf-transmitter-stream-verification-ack-only', async () => {
    const stream = await suite.create('poll')
    const acknowledged = await verifyAndReceive('poll', stream)
    await suite.respectInterval(stream)
    const waiting = await verifyAndReceive('poll', stream)
    const body = { ack: [acknowledged.claims.jti], maxEvents: 0, returnImmediately: true }
    const answer = await poll(stream, body)
    expect([answer.status, answer.json]).toEqual([200, { sets: {} }])
    const left = await suite.look('poll', stream)
    expect(left.map(({ claims }) => claims.jti)).toEqual([waiting.claims.jti])
  })

  it('cs/openid-ssf-transmitter-stream-verification-set-errs', async () => {
    const stream = await suite.create('poll')
    const { claims } = await verifyAndReceive('poll', stream)
    const setErrs = { [claims.jti ?? '']: { err: 'invalid_state', description: 'not mine' } }
    const answer = await poll(stream, { setErrs, returnImmediately: true })
    expect([answer.status, answer.json]).toEqual([200, { sets: {} }])
  })

  it('cs/openid-ssf-transmitter-stream-verification-long-poll', async () => {
    const stream = await suite.create('poll')
    const waiting = poll(stream, { returnImmediately: false })
    await sleep(300)
    const state = uniqueValue('state')
    await suite.verify({ stream_id: stream.stream_id, state })
    const { sets } = (await waiting).json as { sets: Record<string, string> }
    expect(Object.keys(sets)).toHaveLength(1)
  })

  it('cs/openid-ssf-transmitter-poll-max-events', async () => {
    const stream = await suite.create('poll')
    await verifyAndReceive('poll', stream)
    await suite.respectInterval(stream)
    await verifyAndReceive('poll', stream)
    const { json } = await poll(stream, { maxEvents: 1, returnImmediately: true })
    expect(json).toMatchObject({ moreAvailable: true })
    expect(Object.keys((json as { sets: object }).sets)).toHaveLength(1)
  })

  it('cs/openid-ssf-transmitter-poll-endpoint-authorization', async () => {
    const stream = await suite.create('poll')
    expectChallenge(
      await suite.client.send(stream.delivery.endpoint_url, { method: 'POST', body: {} }),
    )
    expectChallenge(await poll(stream, {}, JUNK_TOKEN), 'invalid_token')
    const body = { returnImmediately: true }
    expect((await poll(stream, body, suite.otherToken)).status).toBe(404)
  })

  it('cs/openid-ssf-transmitter-poll-endpoint-unique-per-stream', async () => {
    const urls = [await suite.create('poll'), await suite.create('poll')].map(
      ({ delivery }) => delivery.endpoint_url,
    )
    expect(new Set(urls).size).toBe(2)
  })
})
