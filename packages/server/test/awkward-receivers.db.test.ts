import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { EVERY_ATTEMPT } from '../src/signals/dispatch/attempt-read.ts'
import { BASE_URL } from './support/api-app.ts'
import { startLoopbackReceiver } from './support/loopback-receiver.ts'
import {
  COMPLIANCE,
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
import { decodeObject, textOf } from './support/awkward/wire.ts'
import { POLL_WAIT_MAX_MS, toPollWaitMs } from '../src/signals/poll/poll-sets.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000
const METADATA = `${BASE_URL}/.well-known/ssf-configuration/ssf`
const METADATA_APPENDED = `${ISSUER}/.well-known/ssf-configuration`
const SUBJECT = { format: 'email', email: 'ada@example.com' }

let service: AwkwardService

beforeAll(async () => {
  service = await startAwkwardService()
})
afterAll(() => service.close())
beforeEach(() => service.clear())

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
    await service.announceDevices(1)
    await vi.waitFor(
      async () => expect(await service.listOutcomes()).toEqual([['dead', 1]]),
      WAIT_MS,
    )
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
    await service.announceDevices(1)
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
    const { token, url } = await service.newPollStream()
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
    const { token, id, url } = await service.newPollStream()
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
    const { token, url } = await service.newPollStream()
    const poller = new GoSsfPoller(service.wire, url, token)
    await service.announceDevices(1)
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
      const { token, url } = await service.newPollStream()
      const poller = new GoSsfPoller(service.wire, url, token)
      await service.announceDevices(1)
      const [jti] = await service.listWaiting()
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
      await service.createSgnlLibrary(await service.newToken(), `${receiver.url}/events`).setup()
      await service.announceDevices(1)
      await vi.waitFor(
        async () => expect((await service.listOutcomes())[0]?.[0]).toBe(state),
        WAIT_MS,
      )
      const [first, second] = receiver.requests
      expect(second?.body).toBe(state === 'delivered' ? first?.body : undefined)
      const attempt = await service.services.db
        .selectFrom(EVERY_ATTEMPT.as('attempt'))
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
      const { pollUrl } = await service.createSgnlLibrary(token).setup()
      return new GoSignalsPoller(service.wire, pollUrl, token)
    }
    const pollers = { okta: await newReceiver('okta'), strict: await newReceiver('strict') }
    await service.announceDevices(1)
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
