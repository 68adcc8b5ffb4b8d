/*
 * Receivers that misbehave, each beside a healthy one: what is recorded of them, in words, and that the
 * healthy one gets everything meanwhile. Names are resolved by the test and every connection goes to
 * loopback; nothing else is ever contacted.
 */
import { generateKeyPairSync } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { EVERY_ATTEMPT } from '../dispatch/attempt-read.ts'
import { startLoopbackReceiver } from '../../../test/support/loopback-receiver.ts'
import { createWebhooksApi, type WebhooksApi } from '../../../test/support/webhooks-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { DeliveryEngine } from '../dispatch/delivery-engine.ts'
import { systemClock } from '../../platform/clock.ts'
import {
  cleanUp,
  clientWith,
  forbiddenConnector,
  listen,
  policyOf,
  PUBLIC_ADDRESS,
  serve,
  serveRaw,
  spyConnector,
  unusedPort,
} from '../../platform/net/test/loopback.ts'
import type { GuardedClientOptions } from '../../platform/net/guarded-client.ts'
import { publicTargetsOnly } from '../../../test/support/public-targets-only.ts'
import {
  issueAuthorityCertificate,
  issueServerCertificate,
} from '../../platform/tls/issue-certificate.ts'
import { deleteRows } from '../../../test/support/empty-tables.ts'

let webhooks: WebhooksApi
let engine: DeliveryEngine | undefined

beforeAll(async () => {
  webhooks = await createWebhooksApi()
})
afterAll(() => webhooks.close())
beforeEach(async () => {
  webhooks.clock.set(systemClock.now())
  await deleteRows(webhooks.db, 'webhook', 'webhook_event', 'delivery', 'delivery_destination')
})
afterEach(async () => {
  await engine?.close(0)
  engine = undefined
  await cleanUp()
})

/** How a receiver fails, and what an operator reads of it. */
interface Misbehaviour {
  readonly url: string
  readonly client?: Partial<GuardedClientOptions>
  /** No attempt ends before its time is over. */
  readonly isEndless?: true
}

const EVENTS = 12
const NAME = 'https://receiver.example.com/hooks'
const local = (port: number): Misbehaviour => ({ url: `http://127.0.0.1:${port}/hooks` })
const endless = (port: number): Misbehaviour => ({ ...local(port), isEndless: true })

const validity = { notBefore: new Date('2020-01-01'), notAfter: new Date('2070-01-01') }
const authorityKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const authority = await issueAuthorityCertificate('Test', authorityKey, validity)

/** A receiver behind TLS at a loopback port, whose certificate the test's authority issued for a name. */
async function serveTls(name: string, answer: RequestListener): Promise<number> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cert = await issueServerCertificate(
    { key: authorityKey, certificate: authority },
    pair.publicKey,
    [name],
    validity,
  )
  const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return listen(createTlsServer({ key, cert }, answer))
}

it.each<[string, () => Promise<Misbehaviour>, RegExp]>([
  ['hangs', async () => endless(await serve(() => undefined)), /not complete within/],
  [
    'redirects to another address',
    async () =>
      local(
        await serve((_request, response) => {
          response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
        }),
      ),
    /302; redirects are not followed/,
  ],
  [
    'answers too late',
    async () =>
      endless(
        await serve((_request, response) => {
          setTimeout(() => response.end(), 20_000).unref()
        }),
      ),
    /not complete within/,
  ],
  [
    'closes the connection before it answers',
    async () => local(await serveRaw((socket) => socket.once('data', () => socket.destroy()))),
    /closed|reset/i,
  ],
  ['refuses connections', async () => local(await unusedPort()), /refused/i],
  [
    'sends nonsense',
    async () => local(await serveRaw((socket) => socket.end('250 OK, go ahead\r\n'))),
    /HTTP/i,
  ],
  [
    'sends its answer byte by byte, for ever',
    async () =>
      endless(
        await serveRaw((socket) => {
          socket.write('HTTP/1.1 200 OK\r\n')
          const timer = setInterval(() => socket.write('x-a: b\r\n'), 50)
          socket.on('close', () => clearInterval(timer))
        }),
      ),
    /./,
  ],
  [
    'presents a certificate that nobody vouches for',
    async () => {
      const port = await serveTls('receiver.example.com', (_request, response) => response.end())
      return {
        url: NAME,
        client: { resolver: async () => [PUBLIC_ADDRESS], connector: spyConnector(port).connector },
      }
    },
    /certificate/i,
  ],
  [
    'presents a certificate for another name',
    async () => {
      const port = await serveTls('other.example.com', (_request, response) => response.end())
      return {
        url: NAME,
        client: {
          resolver: async () => [PUBLIC_ADDRESS],
          connector: spyConnector(port).connector,
          extraCa: authority,
        },
      }
    },
    /certificate/i,
  ],
  [
    'resolves to a private address',
    async () => ({
      url: NAME,
      client: { resolver: async () => ['10.0.0.7'], connector: forbiddenConnector },
    }),
    /10\.0\.0\.7|private/i,
  ],
  [
    'resolves to a public and a private address',
    async () => ({
      url: NAME,
      client: {
        resolver: async () => [PUBLIC_ADDRESS, '169.254.169.254'],
        connector: forbiddenConnector,
      },
    }),
    /169\.254\.169\.254|link-local/i,
  ],
  [
    'has a name that does not exist',
    async () => ({
      url: NAME,
      client: {
        resolver: async () => {
          throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
        },
        connector: forbiddenConnector,
      },
    }),
    /name|resolve|exist/i,
  ],
])(
  'a receiver that %s is recorded in words and holds nobody else up',
  async (_how, make, words) => {
    const { url, client = {}, isEndless = false } = await make()
    const badClient = clientWith({ policy: policyOf('127.0.0.1'), ...client })
    const healthy = await startLoopbackReceiver()
    const bad = await webhooks.create({ url, events: ['auth_logs.success'] })
    const good = await webhooks.create({ url: healthy.url, events: ['auth_logs.success'] })
    engine = await webhooks.startEngine({
      client: {
        // A good one has all the time that a busy machine takes.
        request: (request) =>
          request.url === url
            ? badClient.request(request)
            : webhooks.client.request({ ...request, timeouts: {} }),
      },
      // One that is to fail otherwise does not fail for a busy machine first.
      settings: { requestTimeoutMs: isEndless ? 2_500 : 60_000, concurrency: 2 },
    })
    await signIn()
    await engine.sweep()
    await vi.waitFor(() => expect(healthy.requests).toHaveLength(EVENTS), { timeout: 8_000 })
    await vi.waitFor(
      async () => {
        const [delivery] = await deliveriesOf(bad.id)
        expect(delivery?.last_error).toMatch(words)
      },
      { timeout: 8_000 },
    )
    await healthy.close()
    const { body } = await webhooks.call<{
      data: { event_id: string; last_error: string | null }[]
    }>(`/webhooks/${bad.id}/deliveries`)
    const failed = body.data.find(({ last_error: error }) => error !== null)
    const shown = await webhooks.call<{ attempt_log: { error: string; outcome: string }[] }>(
      `/webhooks/${bad.id}/deliveries/${failed?.event_id ?? ''}`,
    )
    expect(shown.body.attempt_log[0]).toMatchObject({ outcome: 'retry' })
    expect(shown.body.attempt_log[0]?.error).toMatch(words)
    // What was received is recorded a moment later.
    await vi.waitFor(
      async () => {
        const states = (await deliveriesOf(good.id)).map(({ state }) => state)
        expect(new Set(states)).toEqual(new Set(['delivered']))
      },
      { timeout: 8_000 },
    )
  },
)

it('a name that changes its address between look-ups gains nothing', async () => {
  const requests: string[] = []
  const port = await serveTls('receiver.example.com', (request, response) => {
    requests.push(request.url ?? '')
    response.writeHead(500, { connection: 'close' }).end()
  })
  const spy = spyConnector(port)
  const answers = [[PUBLIC_ADDRESS], ['127.0.0.1'], ['10.0.0.7']]
  let lookUps = 0
  const client = clientWith({
    policy: publicTargetsOnly,
    resolver: async () => answers[Math.min(lookUps++, answers.length - 1)] ?? [],
    connector: spy.connector,
    extraCa: authority,
  })
  const { id } = await webhooks.create({ url: NAME, events: ['auth_logs.success'] })
  engine = await webhooks.startEngine({ client, retryDelaysMs: [10, 10, 10] })
  await signIn(1)
  await engine.sweep()
  await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.state).toBe('dead'), {
    timeout: 8_000,
  })
  expect(spy.endpoints).toEqual([`${PUBLIC_ADDRESS} 443 4`])
  expect(requests).toHaveLength(1)
  const errors = await webhooks.db
    .selectFrom(EVERY_ATTEMPT.as('attempt'))
    .select('error')
    .orderBy('id')
    .execute()
  expect(errors.slice(1).every(({ error }) => /loopback|private/.test(error ?? ''))).toBe(true)
})

it('an endless answer of success counts as success and is not read to its end', async () => {
  const port = await serve((_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(65_536)), 1)
    response.on('close', () => clearInterval(timer))
  })
  const { id } = await webhooks.create({ ...local(port), events: ['auth_logs.success'] })
  engine = await webhooks.startEngine({ client: clientWith() })
  await signIn(3)
  await engine.sweep()
  await vi.waitFor(
    async () => {
      const states = (await deliveriesOf(id)).map(({ state }) => state)
      expect(states).toEqual(['delivered', 'delivered', 'delivered'])
    },
    { timeout: 8_000 },
  )
  const bodies = await webhooks.db
    .selectFrom(EVERY_ATTEMPT.as('attempt'))
    .select('response_body')
    .execute()
  expect(Math.max(...bodies.map(({ response_body: text }) => text?.length ?? 0))).toBeLessThan(
    20_000,
  )
})

async function signIn(count = EVENTS): Promise<void> {
  await webhooks.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (let index = 1; index <= count; index += 1) {
      change.recordEvent({
        type: 'auth_logs.success',
        sessionId: String(index),
        personId: null,
        device: null,
        browserName: null,
        browserVersion: null,
        agentVersion: null,
      })
    }
  })
}

function deliveriesOf(id: string) {
  return webhooks.db
    .selectFrom('delivery')
    .innerJoin('webhook', 'webhook.destination_id', 'delivery.destination_id')
    .select(['delivery.state', 'delivery.last_error'])
    .where('webhook.id', '=', id)
    .orderBy('delivery.last_error')
    .execute()
}
