import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { answerWith, startLoopbackReceiver } from './support/loopback-receiver.ts'
import { BASE_URL } from './support/api-app.ts'
import {
  ISSUER,
  startAwkwardService,
  type AwkwardService,
} from './support/awkward/awkward-service.ts'
import {
  GoSsfClient,
  GoSsfPoller,
  goSsfPushAnswer,
  type SinkResult,
} from './support/awkward/go-ssf-client.ts'
import {
  AuthentikClient,
  CaepDevReceiver,
  GoSignalsPoller,
  readInnerSubject,
  readTopSubject,
} from './support/awkward/other-clients.ts'
import { Sgnl2024Receiver } from './support/awkward/sgnl-2024-receiver.ts'
import { SgnlLibrary } from './support/awkward/sgnl-library.ts'
import { SgnlParser } from './support/awkward/sgnl-parser.ts'
import { decodeObject, textOf } from './support/awkward/wire.ts'
import { POLL_WAIT_MAX_MS, toPollWaitMs } from '../src/ssf/poll/poll-sets.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const METADATA = `${BASE_URL}/.well-known/ssf-configuration/ssf`
const METADATA_APPENDED = `${ISSUER}/.well-known/ssf-configuration`
const SUBJECT = { format: 'email', email: 'ada@example.com' }

let service: AwkwardService

beforeAll(async () => {
  service = await startAwkwardService()
})
afterAll(() => service.close())
beforeEach(async () => {
  await service.services.db.deleteFrom('ssf_stream').execute()
  await service.services.db.deleteFrom('delivery_destination').execute()
  service.logged.length = 0
})

const newSgnlToken = () => service.newToken({ profile: 'sgnl' })

function sgnlLibrary(token: string, pushEndpoint: string | null = null): SgnlLibrary {
  return new SgnlLibrary(service.wire, {
    metadataUrl: METADATA,
    token,
    eventTypes: [COMPLIANCE],
    pushEndpoint,
  })
}

async function startSgnlLibrary(): Promise<SgnlLibrary> {
  const library = sgnlLibrary(await newSgnlToken())
  await library.setup()
  return library
}

/** Tells of so many devices, each once. */
async function announce(count: number): Promise<void> {
  for (let id = 1; id <= count; id += 1) {
    await service.announce(String(id), 'compliant', 'not-compliant')
  }
}

/** Makes a poll stream of a new client. */
async function newPollStream(): Promise<{ token: string; id: string; url: string }> {
  const token = await service.newToken()
  const { id, pollUrl: url } = await sgnlLibrary(token).setup()
  return { token, id, url }
}

async function waitingJtis(): Promise<string[]> {
  const rows = await service.services.db
    .selectFrom('delivery')
    .select('event_id')
    .where('state', '=', 'queued')
    .orderBy('id')
    .execute()
  return rows.map(({ event_id }) => event_id)
}

describe('the Go library of SGNL', () => {
  test('B1 gets 200 for verification and removed subjects where its client has the profile, others 204', async () => {
    const library = await startSgnlLibrary()
    await library.verify('state')
    await library.addSubject(SUBJECT)
    await library.removeSubject(SUBJECT)
    await library.setStatus('paused')
    await library.replaceConfiguration()
    await library.verify('after a PUT')
    await library.delete()
    const plain = sgnlLibrary(await service.newToken())
    await plain.setup()
    await expect(plain.verify('state')).rejects.toThrow('request failed with status 204')
    await expect(plain.removeSubject(SUBJECT)).rejects.toThrow('request failed with status 204')
  })

  test('B2 is limited by max_events, and what it threw away when it acknowledged comes again', async () => {
    const library = await startSgnlLibrary()
    await announce(4)
    const waiting = await waitingJtis()
    const first = await library.poll(2)
    expect(Object.keys(first)).toEqual(waiting.slice(0, 2))
    const { status, text } = await library.acknowledge(Object.keys(first))
    const thrownAway = Object.entries(decodeObject(text)['sets'] ?? {})
    expect([status, thrownAway.map(([jti]) => jti)]).toEqual([200, waiting.slice(2)])
    expect(Object.entries(await library.poll(10))).toEqual(thrownAway)
  })

  test('B3 finds nothing but sets in an answer where its client has the profile, however much waits', async () => {
    const library = await startSgnlLibrary()
    const plain = sgnlLibrary(await service.newToken())
    await plain.setup()
    await announce(3)
    expect(Object.keys(await library.poll(1))).toHaveLength(1)
    // The boolean is there for others only while more waits.
    await expect(plain.poll(1)).rejects.toThrow('cannot decode into an object')
    expect(Object.keys(await plain.poll(3))).toHaveLength(3)
  })

  test('B4 takes over its one stream, lists nobody else’s, and is told what is delivered', async () => {
    const token = await newSgnlToken()
    const created = await sgnlLibrary(token).setup()
    expect((await newPollStream()).id).not.toBe(created.id)
    expect(await sgnlLibrary(token).setup()).toEqual(created)
    const { text } = await service.wire({
      method: 'GET',
      url: `${ISSUER}/streams`,
      headers: { authorization: `Bearer ${token}` },
    })
    expect(JSON.parse(text)).toMatchObject([{ events_delivered: [COMPLIANCE] }])
  })

  test('B5 reads every event, with the key set fetched for each, however many there are', async () => {
    const library = await startSgnlLibrary()
    const { issuer, jwksUri } = library.stream
    const parser = new SgnlParser(service.wire, { issuer, jwksUri })
    await library.verify('state')
    await announce(1)
    await service.announce('1', 'not-compliant', 'compliant')
    await service.announce('1', 'compliant', 'compliant')
    const sets = Object.values(await library.poll(10))
    const events = await Promise.all(sets.map((token) => parser.parse(token)))
    expect(
      events.map(({ payload }) => [payload['previous_status'], payload['current_status']]),
    ).toEqual([
      [undefined, undefined],
      ['compliant', 'not-compliant'],
      ['not-compliant', 'compliant'],
    ])
    expect(events.map(({ payload }) => payload['state'])).toEqual(['state', undefined, undefined])
    // More often than any caller may do anything else in a minute.
    for (let count = 0; count < 300; count += 1) await parser.parse(sets[0] ?? '')
    const keys = await service.wire({ method: 'GET', url: jwksUri })
    expect(keys.headers['cache-control']).toMatch(/^public, max-age=\d+$/)
  })

  test('B6 may send its credential to public documents, also a bad one', async () => {
    const urls = [
      METADATA,
      METADATA_APPENDED,
      `${BASE_URL}/.well-known/ssf-configuration`,
      `${BASE_URL}/ssf/jwks.json`,
    ]
    for (const authorization of [
      `Bearer ${await newSgnlToken()}`,
      'Bearer junk',
      'junk',
      'Basic !',
    ]) {
      for (const url of urls) {
        const headers = { authorization }
        expect((await service.wire({ method: 'GET', url, headers })).status).toBe(200)
      }
    }
  })

  test.each([200, 201, 204, 299])(
    'B7 has received a push that it answers with %i',
    async (status) => {
      const receiver = await startLoopbackReceiver(answerWith(status))
      const engine = await service.startPushing()
      await sgnlLibrary(await newSgnlToken(), `${receiver.url}/events`).setup()
      await announce(1)
      await vi.waitFor(
        async () => expect(await stateAndAttempts()).toEqual([['delivered', 1]]),
        WAIT_MS,
      )
      expect(receiver.requests).toHaveLength(1)
      await engine.close()
      await receiver.close()
    },
  )
})

async function stateAndAttempts() {
  const rows = await service.services.db
    .selectFrom('delivery')
    .select(['state', 'attempt_count'])
    .orderBy('id')
    .execute()
  return rows.map(({ state, attempt_count }) => [state, attempt_count])
}

describe('the receiver of SGNL of 2024', () => {
  const receiver = (token: string) =>
    new Sgnl2024Receiver(service.wire, { transmitterUrl: ISSUER, token, eventTypes: [COMPLIANCE] })

  test('B8 is refused when its DELETE has a raw token, with a challenge, and the log says why', async () => {
    const client = receiver(await service.newToken())
    await client.configure()
    const { status, headers } = await client.delete()
    expect([status, headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^Bearer /)])
    const hint = 'an access token came without the word Bearer before it and was refused'
    await vi.waitFor(() => expect(service.logged).toContain(hint), WAIT_MS)
    expect(await service.services.db.selectFrom('ssf_stream').select('id').execute()).toHaveLength(
      1,
    )
  })

  test('B8 loses nothing although it looks at no status: a refusal carries no sets', async () => {
    const client = receiver(await service.newToken())
    await client.configure()
    await announce(2)
    const pollUrl = `${ISSUER}/poll/${client.streamId}`
    const stranger = receiver('junk')
    await stranger.configure()
    expect([stranger.streamId, await stranger.poll(pollUrl)]).toEqual(['', {}])
    expect(Object.keys(await client.poll(pollUrl))).toHaveLength(2)
    expect(await client.poll(pollUrl)).toEqual({})
  })
})

describe('bodies of authentik', () => {
  const newClient = async () => new AuthentikClient(service.wire, ISSUER, await service.newToken())

  test('B9 create a stream, whatever members they have beside those of the standard', async () => {
    const { status, text } = await (await newClient()).create([COMPLIANCE])
    expect(status).toBe(201)
    expect(decodeObject(text)).toMatchObject({ iss: ISSUER, events_delivered: [COMPLIANCE] })
    // The audience stays for the transmitter to set.
    expect(textOf(decodeObject(text), 'aud')).not.toBe('authentik')
  })

  test('B9 delete nothing without naming a stream', async () => {
    const client = await newClient()
    await client.create([COMPLIANCE])
    expect((await client.deleteWithoutId()).status).toBe(400)
    expect(await service.services.db.selectFrom('ssf_stream').select('id').execute()).toHaveLength(
      1,
    )
  })

  test('B9 ask for a verification with a null state and get one without', async () => {
    const token = await service.newToken()
    const client = new AuthentikClient(service.wire, ISSUER, token)
    const streamId = textOf(decodeObject((await client.create([COMPLIANCE])).text), 'stream_id')
    expect((await client.verify(streamId)).status).toBe(204)
    const poller = new GoSignalsPoller(service.wire, `${ISSUER}/poll/${streamId}`, token)
    const [set = ''] = Object.values(await poller.poll(1))
    const claims = decodeObject(Buffer.from(set.split('.')[1] ?? '', 'base64url').toString())
    expect(Object.values(decodeObject(JSON.stringify(claims['events'])))).toEqual([{}])
  })
})

describe('caep.dev', () => {
  test('B13 sees at its transmitter why nothing arrives', async () => {
    const receiver = await startLoopbackReceiver((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page')
    })
    const engine = await service.startPushing()
    const client = new CaepDevReceiver(service.wire, ISSUER, await service.newToken())
    const { text } = await client.create(`${receiver.url}/events`, [COMPLIANCE])
    const streamId = textOf(decodeObject(text), 'stream_id')
    await announce(1)
    await vi.waitFor(async () => expect(await stateAndAttempts()).toEqual([['dead', 1]]), WAIT_MS)
    const deliveries = await client.deliveries(streamId)
    expect(deliveries).toMatchObject([
      {
        state: 'dead',
        event_type: COMPLIANCE,
        last_error: 'The receiver answered 404 (no such page)',
      },
    ])
    const eventId = textOf(deliveries[0] ?? {}, 'event_id')
    expect(await client.delivery(streamId, eventId)).toMatchObject({
      attempt_log: [{ outcome: 'rejected', status_code: 404, response_body: 'no such page' }],
    })
    await engine.close()
    await receiver.close()
  })

  test('B13 creates a stream without event types, and is told that nothing is delivered', async () => {
    const client = new CaepDevReceiver(service.wire, ISSUER, await service.newToken())
    const { status, text } = await client.create('http://127.0.0.1:9/events', null)
    expect(status).toBe(201)
    expect(decodeObject(text)).toMatchObject({ events_requested: [], events_delivered: [] })
  })
})

describe('the header of pushes', () => {
  test.each([
    ['token-without-a-scheme-0123456789', true],
    ['Bearer abc', false],
    ['Token  two  blanks', false],
  ])('B18 goes out as it was given: %s', async (header, isWarned) => {
    const receiver = await startLoopbackReceiver()
    const engine = await service.startPushing()
    const token = await service.newToken()
    const body = {
      events_requested: [COMPLIANCE],
      delivery: {
        method: 'urn:ietf:rfc:8935',
        endpoint_url: `${receiver.url}/events`,
        authorization_header: header,
      },
    }
    const { status, text } = await service.wire({
      method: 'POST',
      url: `${ISSUER}/streams`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([status, text.includes(header)]).toEqual([201, false])
    await announce(1)
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT_MS)
    expect(receiver.requests[0]?.headers.authorization).toBe(header)
    const warning = 'the authorization header of a stream begins with no scheme such as Bearer'
    expect(service.logged.includes(warning)).toBe(isWarned)
    await engine.close()
    await receiver.close()
  })
})

describe('the poller of goSignals', () => {
  test('B19 waits as long as it says, and no longer than any poll may', async () => {
    const { token, url } = await newPollStream()
    const poller = new GoSignalsPoller(service.wire, url, token)
    const before = performance.now()
    expect(await poller.poll(1)).toEqual({})
    const waitedMs = performance.now() - before
    expect([waitedMs > 900, waitedMs < POLL_WAIT_MAX_MS / 2]).toEqual([true, true])
    const wish = { ack: [], setErrs: new Map(), timeoutSecs: 3_600 }
    expect(toPollWaitMs(wish, { isLong: true })).toBe(POLL_WAIT_MAX_MS)
  })
})

describe('go-ssf', () => {
  async function newGoSsfClient() {
    const { token, id, url } = await newPollStream()
    const client = new GoSsfClient(service.wire, token, {
      config: `${ISSUER}/streams`,
      status: `${ISSUER}/status`,
      addSubject: `${ISSUER}/subjects:add`,
      removeSubject: `${ISSUER}/subjects:remove`,
      verify: `${ISSUER}/verify`,
      poll: url,
    })
    return { client, id }
  }

  test('B21 names its stream in the query alone, at every operation', async () => {
    const { client, id } = await newGoSsfClient()
    expect(await client.setStatus(id, 'paused')).toEqual({ stream_id: id, status: 'paused' })
    expect(await client.setStatus(id, 'enabled')).toEqual({ stream_id: id, status: 'enabled' })
    await client.addSubject(id, SUBJECT)
    await client.removeSubject(id, SUBJECT)
    expect(await client.describe(id, 'Gateway')).toMatchObject({ description: 'Gateway' })
    await client.verify(id, 'state')
    expect(Object.keys(await client.poll(id, { maxEvents: 100 }))).toHaveLength(1)
    expect(
      await service.services.db.selectFrom('ssf_stream_subject').selectAll().execute(),
    ).toMatchObject([{ subject: SUBJECT, is_included: false }])
  })

  test('B21 does not understand the list, which stays the array of the standard', async () => {
    const { client, id } = await newGoSsfClient()
    await expect(client.listConfig()).rejects.toThrow('cannot decode into an object')
    const { text } = await client.send('GET', `${ISSUER}/streams`)
    expect(JSON.parse(text)).toMatchObject([{ stream_id: id }])
  })

  test('B22 gets again, with the same bytes, what it could not take for the moment', async () => {
    const { token, url } = await newPollStream()
    const poller = new GoSsfPoller(service.wire, url, token)
    await announce(1)
    const first = await poller.pollOnce(() => 'transient')
    expect(Object.keys(first)).toHaveLength(1)
    expect(await poller.pollOnce(() => 'transient')).toEqual(first)
    expect(await poller.pollOnce(() => 'taken')).toEqual(first)
    await service.announce('2', 'compliant', 'not-compliant')
    expect(Object.keys(await poller.pollOnce(() => 'taken'))).not.toEqual(Object.keys(first))
  })

  test.each([
    ['permanent', 1],
    ['transient', 10],
    ['invalid', 10],
  ] as const)(
    'B22 is not told for ever what fails: %s, %i times',
    async (result: SinkResult, times) => {
      const { token, url } = await newPollStream()
      const poller = new GoSsfPoller(service.wire, url, token)
      await announce(1)
      const [jti] = await waitingJtis()
      for (let count = 0; count < times; count += 1) {
        expect(Object.keys(await poller.pollOnce(() => result))).toEqual([jti])
      }
      await service.announce('2', 'compliant', 'not-compliant')
      expect(Object.keys(await poller.pollOnce(() => 'taken'))).not.toContain(jti)
      const row = await service.services.db
        .selectFrom('delivery')
        .select(['state', 'last_error'])
        .where('event_id', '=', jti ?? '')
        .executeTakeFirstOrThrow()
      const err = result === 'invalid' ? 'invalid_set' : 'delivery_failed'
      expect(row).toEqual({ state: 'dead', last_error: `${err}: the sink says: ${result}` })
    },
  )

  test.each([
    [503, 'retry', 'delivered'],
    [400, 'rejected', 'dead'],
    [413, 'rejected', 'dead'],
    [415, 'rejected', 'dead'],
  ] as const)(
    'B22 refuses a push with %i and a problem document: %s',
    async (status, outcome, state) => {
      const receiver = await startLoopbackReceiver((request, response) => {
        const isFirst = receiver.requests.length === 1
        goSsfPushAnswer(isFirst ? status : 202)(request, response)
      })
      const engine = await service.startPushing()
      await sgnlLibrary(await service.newToken(), `${receiver.url}/events`).setup()
      await announce(1)
      await vi.waitFor(async () => expect((await stateAndAttempts())[0]?.[0]).toBe(state), WAIT_MS)
      const [first, second] = receiver.requests
      expect(second?.body).toBe(state === 'delivered' ? first?.body : undefined)
      const attempt = await service.services.db
        .selectFrom('delivery_attempt')
        .select(['outcome', 'status_code', 'error_code', 'response_body'])
        .where('number', '=', 1)
        .executeTakeFirstOrThrow()
      expect(attempt).toMatchObject({ outcome, status_code: status, error_code: `http_${status}` })
      expect(decodeObject(attempt.response_body ?? '')).toMatchObject({
        detail: 'as the receiver says',
      })
      await engine.close()
      await receiver.close()
    },
  )
})

describe('where the subject is', () => {
  test('B23 is inside the event for streams that chose so, and for no others', async () => {
    const newReceiver = async (profile: 'strict' | 'sgnl' | 'okta') => {
      const token = await service.newToken({ profile })
      const { pollUrl } = await sgnlLibrary(token).setup()
      return new GoSignalsPoller(service.wire, pollUrl, token)
    }
    const pollers = { okta: await newReceiver('okta'), strict: await newReceiver('strict') }
    await announce(1)
    const [forOkta = ''] = Object.values(await pollers.okta.poll(1))
    const [forApple = ''] = Object.values(await pollers.strict.poll(1))
    expect(readInnerSubject(forOkta)).toMatchObject({ device: { format: 'iss_sub' } })
    expect(readTopSubject(forApple)).toMatchObject({ format: 'iss_sub', sub: '1' })
    expect(() => readInnerSubject(forApple)).toThrow('the event has no subject')
    expect(() => readTopSubject(forOkta)).toThrow('the event has an extra member')
  })
})

describe('discovery', () => {
  test('B24 is where the well-known part is inserted and where it is appended, the same in both', async () => {
    const [inserted, appended] = await Promise.all(
      [METADATA, METADATA_APPENDED].map((url) => service.wire({ method: 'GET', url })),
    )
    expect([inserted?.status, appended?.status]).toEqual([200, 200])
    expect(appended?.text).toBe(inserted?.text)
    expect(decodeObject(appended?.text ?? '')).toMatchObject({ issuer: ISSUER })
  })
})

describe('the address of polls', () => {
  test.each([
    ['empty', { endpoint_url: '' }],
    ['null', { endpoint_url: null }],
    ['absent', {}],
  ])(
    'B25 is the transmitter’s when it is %s, at create and PUT and PATCH',
    async (_title, address) => {
      const token = await service.newToken()
      const delivery = { method: 'urn:ietf:rfc:8936', ...address }
      const call = async (method: 'POST' | 'PUT' | 'PATCH', body: object) => {
        const { text } = await service.wire({
          method,
          url: `${ISSUER}/streams`,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, delivery, events_requested: [COMPLIANCE] }),
        })
        return decodeObject(text)
      }
      const created = await call('POST', {})
      const stream_id = textOf(created, 'stream_id')
      const expected = { method: 'urn:ietf:rfc:8936', endpoint_url: `${ISSUER}/poll/${stream_id}` }
      expect(created).toMatchObject({ delivery: expected })
      expect(await call('PUT', { stream_id })).toMatchObject({ delivery: expected })
      expect(await call('PATCH', { stream_id })).toMatchObject({ delivery: expected })
    },
  )
})
