/*
 * Requirements on an SSF transmitter that show only on the wire of a whole service with TLS. Those of
 * single parts are tested beside the parts; ssf-requirements.test.ts keeps the account.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkSet, COMPLIANCE_CHANGE } from './support/conformance/set-checks.ts'
import { uniqueValue, type SuiteAnswer } from './support/conformance/suite-client.ts'
import { SuiteEnvironment, type SuiteStream } from './support/conformance/suite-environment.ts'

/** What RFC 3986 section 2.3 lets stand anywhere in a URI. */
const UNRESERVED = /^[A-Za-z0-9\-._~]+$/
/** RFC 7515 section 3.1, with nothing around it. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** A poll that ends earlier was not held back; one that ends later meets time-outs on the way. */
const LONG_POLL_MS = { min: 10_000, max: 50_000 }

let suite: SuiteEnvironment
/** Waits from the beginning, beside everything else: it takes long. */
let idlePoll: Promise<{ readonly answer: SuiteAnswer; readonly waitedMs: number }>

beforeAll(async () => {
  suite = await SuiteEnvironment.start()
  idlePoll = pollForNothing()
  // Whoever awaits it is told of a failure too.
  idlePoll.catch(() => undefined)
})
afterAll(() => suite.stop())
beforeEach(() => suite.cleanUp())

/** A long poll of a stream of another receiver, which the tests leave alone and no event goes to. */
async function pollForNothing() {
  const { otherToken: token } = suite
  const { delivery } = (await suite.send('POST', {}, token)).json as SuiteStream
  const startMs = performance.now()
  const answer = await suite.client.send(delivery.endpoint_url, {
    method: 'POST',
    token,
    body: {},
  })
  return { answer, waitedMs: performance.now() - startMs }
}

const isChange = ({ claims }: { claims: { events?: object } }): boolean =>
  Object.keys(claims.events ?? {})[0] === COMPLIANCE_CHANGE

describe('discovery', () => {
  it('ssf-T003 the issuer is an https URL without query and fragment, the same in document, stream and SET', async () => {
    const { issuer } = suite.metadata
    expect(issuer).toMatch(/^https:\/\/[^?#]+$/)
    const stream = await suite.create('poll')
    expect(stream.iss).toBe(issuer)
    await suite.verify({ stream_id: stream.stream_id })
    const set = await suite.waitFor('poll', stream, () => true)
    expect(set.claims.iss).toBe(issuer)
  })

  it('ssf-T006 ssf-T007 ssf-T008 ssf-T009 names the methods and endpoints that the interoperability profile demands', () => {
    expect(suite.metadata).toMatchObject({
      delivery_methods_supported: ['urn:ietf:rfc:8935', 'urn:ietf:rfc:8936'],
      configuration_endpoint: expect.stringMatching(/^https:/) as string,
      status_endpoint: expect.stringMatching(/^https:/) as string,
      verification_endpoint: expect.stringMatching(/^https:[^{}]+$/) as string,
    })
  })

  it('ssf-T013 ssf-T016 is open to everybody, and has no empty arrays', async () => {
    const { status, json } = await suite.client.send(
      `${suite.service.baseUrl}/.well-known/ssf-configuration/ssf`,
    )
    expect(status).toBe(200)
    for (const value of Object.values(json as object)) {
      if (Array.isArray(value)) expect(value.length).toBeGreaterThan(0)
    }
  })

  it('ssf-T017 publishes nothing at the location of its predecessor', async () => {
    for (const name of ['risc-configuration', 'sse-configuration']) {
      const { status } = await suite.client.send(`${suite.service.baseUrl}/.well-known/${name}`)
      expect(status).toBe(404)
    }
  })
})

describe('management', () => {
  it('ssf-T014 polls take the same credential as the management of streams', async () => {
    const { delivery } = await suite.create('poll')
    const body = { returnImmediately: true }
    const answer = await suite.client.send(delivery.endpoint_url, {
      method: 'POST',
      token: suite.readToken,
      body,
    })
    // A token of another receiver that the service knows: a stream that is not its own.
    expect(answer.status).toBe(404)
    const own = await suite.client.send(delivery.endpoint_url, {
      method: 'POST',
      token: suite.manageToken,
      body,
    })
    expect([own.status, own.json]).toEqual([200, { sets: {} }])
  })

  it('ssf-T048 nothing that is answered may be cached', async () => {
    const { metadata, manageToken: token } = suite
    const created = await suite.send('POST', suite.createBody('poll'))
    const { stream_id: id, delivery } = created.json as SuiteStream
    const subject = { format: 'email', email: 'example.user@example.com' }
    const post = (url: string, body: object) =>
      suite.client.send(url, { method: 'POST', token, body })
    const answers: Record<string, SuiteAnswer> = {
      create: created,
      list: await suite.read(),
      read: await suite.read(id),
      update: await suite.send('PATCH', { stream_id: id, description: 'x' }),
      replace: await suite.send('PUT', { ...suite.createBody('poll'), stream_id: id }),
      'add subject': await post(metadata.add_subject_endpoint, { stream_id: id, subject }),
      'remove subject': await post(metadata.remove_subject_endpoint, { stream_id: id, subject }),
      'read status': await suite.readStatus(id),
      'set status': await suite.setStatus(id, 'paused'),
      verify: await suite.verify({ stream_id: id }),
      poll: await post(delivery.endpoint_url, { returnImmediately: true }),
      delete: await suite.delete(id),
    }
    for (const [operation, { status, headers }] of Object.entries(answers)) {
      expect([operation, status < 300, headers['cache-control']]).toEqual([
        operation,
        true,
        'no-store',
      ])
    }
  })

  it('ssf-T049 ssf-T050 a stream has an id of unreserved characters and the issuer of its SETs', async () => {
    const streams = [await suite.create('push'), await suite.create('poll')]
    for (const { stream_id: id, iss } of streams) {
      expect(id).toMatch(UNRESERVED)
      expect(iss).toBe(suite.metadata.issuer)
    }
    expect(new Set(streams.map((stream) => stream.stream_id)).size).toBe(2)
  })

  it.each([
    ['events_requested', [COMPLIANCE_CHANGE]],
    ['delivery', { method: 'urn:ietf:rfc:8936' }],
    ['description', 'Alone'],
  ])('ssf-T060 takes %s alone, and nothing at all', async (member, value) => {
    expect((await suite.send('POST', { [member]: value })).status).toBe(201)
    expect((await suite.send('POST', {})).status).toBe(201)
  })

  it('ssf-T076 an empty list of events is taken at its word: nothing but events about the stream', async () => {
    const body = { ...suite.createBody('poll'), events_requested: [] }
    const stream = (await suite.send('POST', body)).json as SuiteStream
    expect(stream.events_delivered).toEqual([])
    await suite.flipDevice()
    const state = uniqueValue('state')
    await suite.verify({ stream_id: stream.stream_id, state })
    await suite.waitFor('poll', stream, () => true)
    expect((await suite.look('poll', stream)).filter(isChange)).toEqual([])
  })

  it('ssf-T085 a status is decided at once: 200, never 202', async () => {
    const { stream_id: id } = await suite.create('poll')
    for (const status of ['paused', 'disabled', 'enabled']) {
      expect((await suite.setStatus(id, status)).status).toBe(200)
    }
  })
})

describe('events', () => {
  it('ssf-T025 ssf-T041 ssf-T082 each enabled stream gets a SET about the device, for its own audience', async () => {
    const first = await suite.create('poll')
    const created = await suite.send('POST', suite.createBody('push'), suite.otherToken)
    const second = created.json as SuiteStream
    onTestFinished(async () => {
      await suite.delete(second.stream_id, suite.otherToken)
    })
    expect(second.aud).not.toBe(first.aud)
    await suite.flipDevice()
    const sets = [
      await suite.waitFor('poll', first, isChange),
      await suite.waitFor('push', second, isChange),
    ]
    const [polled, pushed] = sets
    expect(polled?.claims.jti).not.toBe(pushed?.claims.jti)
    const device = { format: 'iss_sub', iss: suite.metadata.issuer, sub: suite.deviceId }
    expect(sets.map(({ claims }) => claims.sub_id)).toEqual([device, device])
    for (const [index, stream] of [first, second].entries()) {
      const set = sets[index]
      if (set !== undefined) checkSet(set, stream, suite.keys)
    }
  })

  it('ssf-T116 ssf-T117 a push is a POST of the compact token alone, with the media types of RFC 8935', async () => {
    const stream = await suite.create('push')
    await suite.verify({ stream_id: stream.stream_id })
    const { method, headers, token } = await suite.waitFor('push', stream, () => true)
    expect(method).toBe('POST')
    expect(headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      'content-length': String(token.length),
    })
    expect(token).toMatch(COMPACT_JWS)
  })

  it('ssf-T106 a verification arrives at once', async () => {
    const waitForVerification = async () => {
      await suite.cleanUp()
      const stream = await suite.create('push')
      const startMs = performance.now()
      await suite.verify({ stream_id: stream.stream_id, state: uniqueValue('state') })
      await suite.waitFor('push', stream, () => true)
      return performance.now() - startMs
    }
    // Far below the 5 seconds that the suite of tests for transmitters waits; a busy machine may need more at times.
    await expect.poll(waitForVerification).toBeLessThan(5_000)
  })

  it('ssf-T129 a long poll ends by itself before a minute, with no event', async () => {
    const { answer, waitedMs } = await idlePoll
    expect([answer.status, answer.json]).toEqual([200, { sets: {} }])
    expect(waitedMs).toBeGreaterThan(LONG_POLL_MS.min)
    expect(waitedMs).toBeLessThan(LONG_POLL_MS.max)
  })
})
