import { compactVerify, createLocalJWKSet } from 'jose'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createPushStreams, type PushStreams } from '../../../test/support/push-streams.ts'
import { listStoredTokens } from '../../../test/support/stored-tokens.ts'
import { runRetention } from '../../../test/support/run-retention.ts'
import type { StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { ClaimReleases } from '../dispatch/claim-releases.ts'
import {
  deleteMarkedDestinations,
  deliveryRetention,
} from '../dispatch/delivery-retention-store.ts'
import { systemClock } from '../../platform/clock.ts'
import { KeyRing } from '../signing/key-ring.ts'
import { rotateSigningKey } from '../signing/change-signing-key.ts'
import { SigningPool } from '../signing/signing-pool.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

let push: PushStreams
let streams: StreamsApi

beforeAll(async () => {
  push = await createPushStreams()
  streams = push.streams
  streams.clock.set(new Date())
})
afterAll(() => push.close())
afterEach(() => push.reset())

async function emit(deviceId: string): Promise<void> {
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    change.recordEvent({
      type: 'device.status_changed',
      device: { id: deviceId, name: 'd', platform: 'linux', owner: null },
      previous: { authState: 'Good', compliance: 'compliant' },
      current: { authState: 'Blocked', compliance: 'not-compliant' },
      occurredAt: streams.clock.now(),
      initiatingEntity: 'policy',
      reasons: [],
    }),
  )
}

test('a status change reaches the receiver as a SET that verifies, and every retry has the same bytes', async () => {
  let count = 0
  const receiver = await push.startReceiver((_request, response) => {
    count += 1
    response.writeHead(count < 3 ? 503 : 202).end()
  })
  const stream = await push.createStream(receiver, { authorization_header: 'Bearer of tidings' })
  const engine = await push.startEngine()
  await emit('17')
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(3), { timeout: 5_000 })
  await engine.close()
  const tokens = new Set(receiver.requests.map(({ body }) => body))
  expect(tokens.size).toBe(1)
  const [token = ''] = tokens
  const { body: jwks } = await streams.api.request<{ keys: [] }>('/ssf/jwks.json', { key: null })
  await compactVerify(token, createLocalJWKSet(jwks))
  expect(receiver.requests[0]?.headers).toMatchObject({
    'content-type': 'application/secevent+jwt',
    accept: 'application/json',
    authorization: 'Bearer of tidings',
    'user-agent': 'Heliograph test',
  })
  const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
  expect(row).toMatchObject({ state: 'delivered', attempt_count: 3 })
  expect(await listStoredTokens(streams.db)).toEqual([token])
  expect(push.log.debug).toHaveBeenCalledWith(
    expect.objectContaining({ event_id: row.event_id, attempt: 3, status: 202 }),
    'set.delivery_attempted',
  )
  expect(JSON.stringify([push.log.debug.mock.calls, push.log.info.mock.calls])).not.toContain(
    'tidings',
  )
  await streams.call(`/ssf_streams/${stream.id}`, { method: 'DELETE' })
  await deleteMarkedDestinations(streams.db)
  expect(await streams.db.selectFrom('delivery_destination').selectAll().execute()).toEqual([])
})

test('the bytes of a SET do not change when its worker dies before they are stored', async () => {
  const receiver = await push.startReceiver()
  await push.createStream(receiver)
  await emit('18')
  const engine = await push.startEngine()
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT_MS)
  await engine.close()
  // As if the outcome had never been recorded.
  await streams.db
    .updateTable('delivery')
    .set({ state: 'queued', detached_token: null, finished_at: null, attempt_count: 0 })
    .execute()
  const second = await push.startEngine()
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(2), WAIT_MS)
  await second.close()
  expect(receiver.requests[0]?.body).toBe(receiver.requests[1]?.body)
})

test('a stream that is switched off in the middle of a backlog gets nothing more', async () => {
  const isSwitchedOff = Promise.withResolvers<void>()
  const receiver = await push.startReceiver((_request, response) => {
    const answer = () => void response.writeHead(202).end()
    if (receiver.requests.length < 3) answer()
    else void isSwitchedOff.promise.then(answer)
  })
  const stream = await push.createStream(receiver)
  // All of one device: they go out one after another.
  for (let index = 0; index < 30; index += 1) await emit('19')
  const engine = await push.startEngine()
  await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(2), WAIT_MS)
  const release = vi.spyOn(ClaimReleases.prototype, 'release')
  onTestFinished(() => release.mockRestore())
  await streams.call(`/ssf_streams/${stream.id}`, { method: 'PATCH', payload: { enabled: false } })
  engine.wake(stream.destinationId)
  // The worker knows of it as soon as it gives back what it has not sent; what is under way ends.
  await vi.waitFor(
    () => expect(release).toHaveBeenCalledWith(stream.destinationId, expect.anything(), 0),
    WAIT_MS,
  )
  isSwitchedOff.resolve()
  await engine.close()
  expect(receiver.requests.length).toBeLessThan(30)
})

test('a rotated key is published before it signs, and the old one long after', async () => {
  const { db, clock, sealer, runChange } = streams
  const pool = new SigningPool({ threadCount: 1 })
  const keyRing = new KeyRing({ db, clock, sealer, pool })
  await keyRing.refresh()
  const oldKid = keyRing.activeKid()
  const { kid: newKid } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    rotateSigningKey(change, { sealer, modulusBits: 2048 }),
  )
  await keyRing.refresh()
  expect(keyRing.publishedKeys().map(({ kid }) => kid)).toEqual([newKid, oldKid])
  expect(keyRing.activeKid()).toBe(oldKid)
  clock.advance(119 * 60_000)
  expect(keyRing.activeKid()).toBe(oldKid)
  clock.advance(60_000)
  expect(keyRing.activeKid()).toBe(newKid)
  await expect(keyRing.sign(oldKid, ['{}'])).resolves.toHaveLength(1)
  clock.advance(31 * 86_400_000)
  expect(keyRing.publishedKeys().map(({ kid }) => kid)).toEqual([newKid])
  await pool.close()
})

test('finished deliveries are kept for their time and then deleted, queued ones never', async () => {
  const { db } = streams
  await streams.createStream({ name: 'poll' })
  await emit('20')
  await emit('21')
  const [first] = await db.selectFrom('delivery').select('id').orderBy('id').execute()
  const finishedAt = new Date(systemClock.now().getTime() - 10 * 86_400_000)
  await db
    .updateTable('delivery')
    .set({ state: 'delivered', finished_at: finishedAt })
    .where('id', '=', first?.id ?? '')
    .execute()
  const now = systemClock.now()
  const endOlderThan = async (days: number) => {
    const settings = { deliveryRetentionDays: days, deliveryPayloadRetentionDays: days }
    const [deliveries] = deliveryRetention(settings)
    if (deliveries === undefined) throw new Error('no policy')
    return (await runRetention(db, deliveries, now)).count
  }
  expect(await endOlderThan(11)).toBe(0)
  expect(await endOlderThan(9)).toBe(1)
  expect(await db.selectFrom('delivery').select('state').execute()).toEqual([{ state: 'queued' }])
})
