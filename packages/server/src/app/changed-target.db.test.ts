/* What a worker has prepared follows its stream or webhook when that changes where, or by what right, it is sent. */
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { jtiOf } from '../../test/support/push-streams.ts'
import { composeTestApi } from '../../test/support/composed-api.ts'
import { createTestKey } from '../../test/support/api-keys.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
} from '../../test/support/loopback-receiver.ts'
import { queueEvents } from '../../test/support/queue-events.ts'
import { verifyStandard } from '../../test/support/webhook-verifiers.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { toDestinationId } from '../signals/dispatch/delivery-store.ts'

const WAIT_MS = 15_000

const api = await composeTestApi({
  environment: {
    HELIOGRAPH_LOG_LEVEL: 'silent',
    HELIOGRAPH_ROLES: 'api,worker',
    HELIOGRAPH_DELIVERY_CONCURRENCY: '1',
  },
  // What a receiver holds is not given up while a busy machine takes its time.
  engineSettings: { sweepIntervalMs: 3_600_000, requestTimeoutMs: 60_000 },
})
const { services, http } = api
const { db } = services
const key = await createTestKey(services, [
  'Manage Shared Signals Framework Streams',
  'Manage Webhooks',
])
const headers = { authorization: `Bearer ${key}` }
const receivers: LoopbackReceiver[] = []

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})
afterAll(() => api.close())

async function startReceiver(): Promise<LoopbackReceiver> {
  const receiver = await startLoopbackReceiver()
  receivers.push(receiver)
  return receiver
}

async function call(method: 'POST' | 'PATCH', url: string, payload: object) {
  const answer = await http.inject({ method, url, headers, payload })
  expect(answer.statusCode).toBeLessThan(300)
  return answer.json<{ readonly id: string; readonly secret?: string | null }>()
}

async function destinationOf(table: 'ssf_stream' | 'webhook', id: string) {
  const { destination_id: destinationId } = await db
    .selectFrom(table)
    .select('destination_id')
    .where('id', '=', id as never)
    .executeTakeFirstOrThrow()
  return toDestinationId(destinationId)
}

/** Has the receiver answer its first request only when what waits behind that has gone back and is claimed anew. */
async function changeMeanwhile(
  receiver: LoopbackReceiver,
  queueAll: () => Promise<unknown>,
  change: () => Promise<unknown>,
): Promise<void> {
  let answer: () => void = () => undefined
  receiver.respond((_request, response) => {
    answer = () => void response.writeHead(202).end()
  })
  await queueAll()
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT_MS)
  const former = await vi.waitFor(listClaims, WAIT_MS)
  await change()
  // What waits behind the one in flight is claimed anew, with what is so now.
  await vi.waitFor(async () => {
    const present = await listClaims()
    expect(present.filter((claim) => former.includes(claim))).toHaveLength(1)
  }, WAIT_MS)
  receiver.respond(answerWith(202))
  answer()
}

/** The claims of what is in flight and of what waits behind it, of each delivery; throws before they are there. */
async function listClaims(): Promise<readonly string[]> {
  const queued = db.selectFrom('delivery').where('state', '=', 'queued')
  const claimed = await queued.select('claimed_by').where('claimed_by', 'is not', null).execute()
  expect(claimed.length).toBeGreaterThanOrEqual(2)
  return claimed.map(({ claimed_by: claimedBy }) => String(claimedBy))
}

/** As when a switchover has broken the connection by which the process hears of changes. */
async function listenAnew(change: () => Promise<unknown>): Promise<void> {
  await change()
  await services.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'heliograph listener'`,
  )
}

async function createStream(receiver: LoopbackReceiver, more: object = {}) {
  const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url: receiver.url, ...more }
  const { id } = await call('POST', '/ssf_streams', { name: 'stream', delivery })
  return { id, destinationId: await destinationOf('ssf_stream', id) }
}

async function createWebhook({ url }: LoopbackReceiver): Promise<string> {
  const input = { name: 'webhook', url, events: ['auth_logs.success'] }
  return (await call('POST', '/webhooks', input)).id
}

/** Lets so many sign-ins happen. */
async function signIn(count: number): Promise<void> {
  await services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
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

const subjects = ['device:1', 'device:1', 'device:2', 'device:1']

test('events that are prepared when their stream gets another endpoint go there, in their order, each once', async () => {
  const former = await startReceiver()
  const present = await startReceiver()
  const stream = await createStream(former)
  let eventIds: string[] = []
  await changeMeanwhile(
    former,
    async () => {
      eventIds = (await queueEvents(services, stream.destinationId, subjects)).eventIds
    },
    () => call('PATCH', `/ssf_streams/${stream.id}`, { delivery: { endpoint_url: present.url } }),
  )
  await vi.waitFor(() => expect(present.requests).toHaveLength(3), WAIT_MS)
  expect(former.requests.map(({ body }) => jtiOf(body))).toEqual(eventIds.slice(0, 1))
  const jtis = present.requests.map(({ body }) => jtiOf(body))
  expect([...jtis].sort()).toEqual(eventIds.slice(1).sort())
  expect(jtis.indexOf(eventIds[1]!)).toBeLessThan(jtis.indexOf(eventIds[3]!))
})

test('no former header goes out once a stream has none, also for what is prepared', async () => {
  const receiver = await startReceiver()
  const stream = await createStream(receiver, { authorization_header: 'Bearer former' })
  await changeMeanwhile(
    receiver,
    () => queueEvents(services, stream.destinationId, subjects),
    () => call('PATCH', `/ssf_streams/${stream.id}`, { delivery: { authorization_header: null } }),
  )
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(4), WAIT_MS)
  const sent = receiver.requests.map((request) => request.headers.authorization)
  expect(sent).toEqual(['Bearer former', undefined, undefined, undefined])
})

test('what is prepared for a webhook goes to its new address', async () => {
  const former = await startReceiver()
  const present = await startReceiver()
  const id = await createWebhook(former)
  await changeMeanwhile(
    former,
    () => signIn(3),
    () => call('PATCH', `/webhooks/${id}`, { url: present.url }),
  )
  await vi.waitFor(() => expect(present.requests).toHaveLength(2), WAIT_MS)
  expect(former.requests).toHaveLength(1)
})

test('a secret that ends at once signs nothing more, also not what is prepared', async () => {
  const receiver = await startReceiver()
  const id = await createWebhook(receiver)
  let secret = ''
  await changeMeanwhile(
    receiver,
    () => signIn(2),
    async () => {
      const answer = await call('POST', `/webhooks/${id}/rotate_secret`, { immediate: true })
      secret = answer.secret ?? ''
    },
  )
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(2), WAIT_MS)
  const [former, present] = receiver.requests
  expect(() => verifyStandard(former!, secret)).toThrow()
  verifyStandard(present!, secret)
})

test('a change that was missed while nobody listened is heard of when listening begins again', async () => {
  const former = await startReceiver()
  const present = await startReceiver()
  const stream = await createStream(former)
  await changeMeanwhile(
    former,
    () => queueEvents(services, stream.destinationId, subjects),
    () =>
      listenAnew(() => db.updateTable('ssf_stream').set({ endpoint_url: present.url }).execute()),
  )
  await vi.waitFor(() => expect(present.requests).toHaveLength(3), WAIT_MS)
  expect(former.requests).toHaveLength(1)
})
