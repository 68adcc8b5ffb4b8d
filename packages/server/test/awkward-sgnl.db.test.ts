import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BASE_URL } from './support/api-app.ts'
import { answerWith, startLoopbackReceiver } from './support/loopback-receiver.ts'
import {
  COMPLIANCE,
  ISSUER,
  startAwkwardService,
  type AwkwardService,
} from './support/awkward/awkward-service.ts'
import { Sgnl2024Receiver } from './support/awkward/sgnl-2024-receiver.ts'
import type { SgnlLibrary } from './support/awkward/sgnl-library.ts'
import { SgnlParser } from './support/awkward/sgnl-parser.ts'
import { decodeObject } from './support/awkward/wire.ts'

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

const newSgnlToken = () => service.newToken({ profile: 'sgnl' })

/** What an admin chooses for the stream of a receiver. */
async function choose({ stream }: SgnlLibrary, choices: object): Promise<void> {
  const { status, text } = await service.wire({
    method: 'PATCH',
    url: `${BASE_URL}/ssf_streams/${stream.id}`,
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(choices),
  })
  expect([status, text]).toEqual([200, text])
}

/** The subjects of all that waits, as the library reads it. */
async function readSubjects(library: SgnlLibrary): Promise<unknown[]> {
  const { issuer, jwksUri } = library.stream
  const parser = new SgnlParser(service.wire, { issuer, jwksUri })
  const sets = Object.entries(await library.poll(10))
  const events = []
  for (const [, token] of sets) events.push(await parser.parse(token))
  await library.acknowledge(sets.map(([jti]) => jti))
  return events.map(({ claims }) => claims['sub_id'])
}

async function startSgnlLibrary(): Promise<SgnlLibrary> {
  const library = service.createSgnlLibrary(await newSgnlToken())
  await library.setup()
  return library
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
    const plain = service.createSgnlLibrary(await service.newToken())
    await plain.setup()
    await expect(plain.verify('state')).rejects.toThrow('request failed with status 204')
    await expect(plain.removeSubject(SUBJECT)).rejects.toThrow('request failed with status 204')
  })

  test('B2 is limited by max_events, and what it threw away when it acknowledged comes again', async () => {
    const library = await startSgnlLibrary()
    await service.announceDevices(4)
    const waiting = await service.listWaiting()
    const first = await library.poll(2)
    expect(Object.keys(first)).toEqual(waiting.slice(0, 2))
    const { status, text } = await library.acknowledge(Object.keys(first))
    const thrownAway = Object.entries(decodeObject(text)['sets'] ?? {})
    expect([status, thrownAway.map(([jti]) => jti)]).toEqual([200, waiting.slice(2)])
    expect(Object.entries(await library.poll(10))).toEqual(thrownAway)
  })

  test('B3 finds nothing but sets in an answer where its client has the profile, however much waits', async () => {
    const library = await startSgnlLibrary()
    const plain = service.createSgnlLibrary(await service.newToken())
    await plain.setup()
    await service.announceDevices(3)
    expect(Object.keys(await library.poll(1))).toHaveLength(1)
    // The boolean is there for others only while more waits.
    await expect(plain.poll(1)).rejects.toThrow('cannot decode into an object')
    expect(Object.keys(await plain.poll(3))).toHaveLength(3)
  })

  test('B4 takes over its one stream, lists nobody else’s, and is told what is delivered', async () => {
    const token = await newSgnlToken()
    const created = await service.createSgnlLibrary(token).setup()
    expect((await service.newPollStream()).id).not.toBe(created.id)
    expect(await service.createSgnlLibrary(token).setup()).toEqual(created)
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
    await service.announceDevices(1)
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

  test('B9 finds device, person and tenant where its client has the profile', async () => {
    const library = await startSgnlLibrary()
    await service.announceDevices(2)
    expect(await readSubjects(library)).toEqual([
      {
        format: 'complex',
        device: { format: 'opaque', id: '1' },
        user: { format: 'email', email: 'ada@example.com' },
        tenant: { format: 'opaque', id: new URL(BASE_URL).host },
      },
      {
        format: 'complex',
        device: { format: 'opaque', id: '2' },
        tenant: { format: 'opaque', id: new URL(BASE_URL).host },
      },
    ])
  })

  test('B9 reads pairwise identifiers too, also of devices alone', async () => {
    const library = await startSgnlLibrary()
    for (const subject_form of ['complex', 'iss_sub']) {
      await choose(library, { pairwise_identifiers: true, subject_form })
      await service.announceDevices(1)
      const [subject] = await readSubjects(library)
      expect(JSON.stringify(subject)).not.toMatch(/iss|ada@example/)
    }
  })

  test.each(['strict', 'caep_interop'] as const)(
    'B9 cannot read the issuer of a device in events of the profile %s, unless it is left out',
    async (profile) => {
      const library = service.createSgnlLibrary(await service.newToken({ profile }))
      await library.setup()
      await service.announceDevices(1)
      await expect(readSubjects(library)).rejects.toThrow('issuer is required')
      await library.acknowledge(await service.listWaiting())
      await choose(library, { opaque_identifiers: true })
      await service.announceDevices(1)
      expect(await readSubjects(library)).toEqual([{ format: 'opaque', id: '1' }])
    },
  )

  test('B9 is told of the devices that it adds by the identifiers of its events', async () => {
    const library = service.createSgnlLibrary(
      await service.newToken({ profile: 'sgnl', defaultSubjects: 'NONE' }),
    )
    await library.setup()
    await library.addSubject({ format: 'opaque', id: '2' })
    await service.announceDevices(3)
    expect(await readSubjects(library)).toMatchObject([{ device: { format: 'opaque', id: '2' } }])
  })

  test.each([200, 201, 204, 299])(
    'B7 has received a push that it answers with %i',
    async (status) => {
      const receiver = await startLoopbackReceiver(answerWith(status))
      const engine = await service.startPushing()
      await service.createSgnlLibrary(await newSgnlToken(), `${receiver.url}/events`).setup()
      await service.announceDevices(1)
      await vi.waitFor(
        async () => expect(await service.listOutcomes()).toEqual([['delivered', 1]]),
        WAIT_MS,
      )
      expect(receiver.requests).toHaveLength(1)
      await engine.close()
      await receiver.close()
    },
  )
})

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
    await service.announceDevices(2)
    const pollUrl = `${ISSUER}/poll/${client.streamId}`
    const stranger = receiver('junk')
    await stranger.configure()
    expect([stranger.streamId, await stranger.poll(pollUrl)]).toEqual(['', {}])
    expect(Object.keys(await client.poll(pollUrl))).toHaveLength(2)
    expect(await client.poll(pollUrl)).toEqual({})
  })
})
