import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet } from 'jose'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
} from '../../../test/support/loopback-receiver.ts'
import { listStoredTokens } from '../../../test/support/stored-tokens.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { DeliveryEngine } from '../dispatch/delivery-engine.ts'
import { createTestEngine } from '../../../test/support/test-engine.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { createTestPushChannel } from '../../../test/support/test-push-channel.ts'
import { createRefusedKeys, type RefusedKeys } from './refused-keys.ts'
import {
  revokeSigningKey,
  rollBackSigningKey,
  rotateSigningKey,
  type RotationPlan,
} from './change-signing-key.ts'
import { runSigningKeyJob } from './signing-key-job.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** At each step of the load; raise it for a long run. */
const EVENTS = Number(process.env['HELIOGRAPH_TEST_EVENTS'] ?? 2)
/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }

let streams: StreamsApi
let engine: DeliveryEngine
let refusedKeys: RefusedKeys
const closers: (() => Promise<void>)[] = []

beforeEach(async () => {
  streams = await createStreamsApi()
  closers.push(() => streams.close())
  const { db, clock, keyRing, client, runChange } = streams
  refusedKeys = createRefusedKeys({
    runChange,
    clock,
    keyRing,
    logError: (error) => {
      throw error
    },
  })
  engine = createTestEngine({
    db,
    clock,
    log,
    client,
    channels: [createTestPushChannel(streams, { refusedKeys })],
    settings: { sweepIntervalMs: 200 },
  })
  await engine.start()
  closers.push(
    () => engine.close(),
    () => refusedKeys.idle(),
  )
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A receiver that keeps the key set for a time and judges every SET by what it has. */
interface CachingReceiver extends LoopbackReceiver {
  readonly streamId: string
  readonly destinationId: DestinationId
  /** The keys of the SETs that were accepted, in order. */
  readonly acceptedKids: string[]
  readonly failures: string[]
}

async function startCachingReceiver(cachedForMs: number): Promise<CachingReceiver> {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined
  let fetchedAtMs = Number.NEGATIVE_INFINITY
  const acceptedKids: string[] = []
  const failures: string[] = []
  async function verify(token: string): Promise<void> {
    const nowMs = streams.clock.now().getTime()
    if (keys === undefined || nowMs - fetchedAtMs >= cachedForMs) {
      const { body } = await streams.api.request<JSONWebKeySet>('/ssf/jwks.json', { key: null })
      keys = createLocalJWKSet(body)
      fetchedAtMs = nowMs
    }
    await compactVerify(token, keys)
  }
  const receiver = await startLoopbackReceiver((request, response) => {
    const { kid = '' } = decodeProtectedHeader(request.body)
    verify(request.body).then(
      () => {
        acceptedKids.push(kid)
        response.writeHead(202).end()
      },
      () => {
        failures.push(kid)
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ err: 'invalid_key', description: `unknown kid ${kid}` }))
      },
    )
  })
  closers.push(() => receiver.close())
  const { id, stream_id: streamId } = await streams.createStream({
    name: `caches for ${cachedForMs} ms`,
    delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: `${receiver.url}/events` },
  })
  const destinationId = await streams.getDestinationId(id)
  return { ...receiver, streamId, destinationId, acceptedKids, failures }
}

let deviceNumber = 0

async function emit(count: number): Promise<void> {
  const events = Array.from({ length: count }, () => {
    deviceNumber += 1
    return {
      type: 'device.status_changed',
      device: { id: String(deviceNumber), name: 'd', platform: 'linux', owner: null },
      previous: { authState: 'Good', compliance: 'compliant' },
      current: { authState: 'Blocked', compliance: 'not-compliant' },
      occurredAt: streams.clock.now(),
      initiatingEntity: 'policy',
      reasons: [],
    } as const
  })
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    events.forEach((event) => change.recordEvent(event)),
  )
}

async function countByState(): Promise<Record<string, number>> {
  const rows = await streams.db
    .selectFrom('delivery')
    .select(['state', (select) => select.fn.countAll<string>().as('count')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
}

async function drain(): Promise<void> {
  await engine.sweep()
  await vi.waitFor(
    async () => {
      const queued = streams.db.selectFrom('delivery').select('id').where('state', '=', 'queued')
      expect(await queued.executeTakeFirst()).toBeUndefined()
    },
    { timeout: 10_000, interval: 10 },
  )
}

function rotate(plan: RotationPlan = {}, publicationLeadMs = 2 * HOUR_MS): Promise<string> {
  const { sealer, runChange, keyRing } = streams
  return runChange({ actor: SYSTEM_ACTOR }, (change) =>
    rotateSigningKey(change, { sealer, modulusBits: 2048, publicationLeadMs }, plan),
  ).then(async ({ kid }) => {
    await keyRing.refresh()
    return kid
  })
}

function listActions(): Promise<{ action: string }[]> {
  return streams.db
    .selectFrom('audit_entry')
    .select('action')
    .where('action', 'like', 'signing_key.%')
    .orderBy('sequence')
    .execute()
}

describe('scheduled rotation under load, at receivers that cache the key set for exactly an hour', () => {
  const STEP_MINUTES = 30

  async function runDays(days: number, publicationLeadMs: number): Promise<CachingReceiver[]> {
    const { clock, keyRing } = streams
    const receivers: CachingReceiver[] = []
    for (let index = 0; index < 3; index += 1) {
      receivers.push(await startCachingReceiver(HOUR_MS))
      // They fetch at different times of the hour.
      await emit(1)
      await drain()
      clock.advance(20 * MINUTE_MS)
    }
    for (let minutes = 0; minutes < days * 24 * 60; minutes += STEP_MINUTES) {
      const due = await runSigningKeyJob({
        ...streams,
        publicationLeadMs,
        modulusBits: 2048,
        rotationDays: 1,
      })
      expect(due?.getTime()).toBeGreaterThan(clock.now().getTime())
      await keyRing.refresh()
      await emit(EVENTS)
      await drain()
      clock.advance(STEP_MINUTES * MINUTE_MS)
    }
    return receivers
  }

  it('not one of hundreds of SETs over several rotations fails to verify', async () => {
    const receivers = await runDays(3, 2 * HOUR_MS)
    expect(receivers.map(({ failures }) => failures)).toEqual([[], [], []])
    for (const { acceptedKids } of receivers) {
      expect(acceptedKids.length).toBeGreaterThan(140 * EVENTS)
      expect(new Set(acceptedKids).size).toBeGreaterThanOrEqual(3)
    }
    expect(await countByState()).toEqual({ delivered: expect.any(Number) as number })
  })

  it('without publication ahead the same receivers refuse, and the rollback still loses nothing', async () => {
    const receivers = await runDays(1.2, 0)
    expect(receivers.flatMap(({ failures }) => failures).length).toBeGreaterThan(0)
    expect(await countByState()).toEqual({ delivered: expect.any(Number) as number })
  })
})

describe('a receiver that refuses the new key', () => {
  it('goes back to the old key by itself, loses nothing, and the others move on', async () => {
    const { clock, keyRing, db } = streams
    const stubborn = await startCachingReceiver(365 * DAY_MS)
    const good = await startCachingReceiver(HOUR_MS)
    await emit(5)
    await drain()
    const oldKid = keyRing.activeKid()
    const newKid = await rotate()
    clock.advance(2 * HOUR_MS)
    await emit(40)
    await drain()
    await refusedKeys.idle()
    expect(await countByState()).toEqual({ delivered: 90 })
    expect(new Set(stubborn.acceptedKids)).toEqual(new Set([oldKid]))
    expect(stubborn.acceptedKids).toHaveLength(45)
    expect(good.acceptedKids.slice(5)).toEqual(Array.from({ length: 40 }, () => newKid))
    expect(good.failures).toEqual([])
    await keyRing.refresh()
    expect(keyRing.activeKid(stubborn.destinationId)).toBe(oldKid)
    expect(keyRing.activeKid(good.destinationId)).toBe(newKid)
    expect(await listActions()).toContainEqual({ action: 'signing_key.stream_rolled_back' })
    // The circuit of the receiver stays closed: it is well.
    const destination = await db
      .selectFrom('delivery_destination')
      .selectAll()
      .where('id', '=', stubborn.destinationId)
      .executeTakeFirstOrThrow()
    expect(destination).toMatchObject({ consecutive_failures: 0, failing_since: null })
    expect(destination.last_failure).toContain(newKid)
    const failuresBefore = stubborn.failures.length
    await emit(10)
    await drain()
    expect(stubborn.failures).toHaveLength(failuresBefore)
    // A day later the new key is tried again.
    clock.advance(DAY_MS)
    expect(keyRing.activeKid(stubborn.destinationId)).toBe(newKid)
  })

  it('proofs and refusals are shown per receiver', async () => {
    const { clock, keyRing } = streams
    const stubborn = await startCachingReceiver(365 * DAY_MS)
    const good = await startCachingReceiver(HOUR_MS)
    await emit(1)
    await drain()
    const newKid = await rotate()
    clock.advance(2 * HOUR_MS)
    await emit(1)
    await drain()
    await refusedKeys.idle()
    await keyRing.proofs.flush()
    await keyRing.refresh()
    const { body } = await streams.call<{ data: { kid: string; receivers: object[] }[] }>(
      '/ssf_signing_keys',
    )
    const key = body.data.find(({ kid }) => kid === newKid)
    expect(key).toMatchObject({ state: 'active', modulus_bits: 2048 })
    expect(key?.receivers).toEqual([
      expect.objectContaining({
        stream_id: stubborn.streamId,
        in_use: false,
        rolled_back: true,
        first_accepted_at: null,
        refusal: expect.stringContaining('invalid_key') as string,
      }),
      expect.objectContaining({
        stream_id: good.streamId,
        in_use: true,
        rolled_back: false,
        refusal: null,
        first_accepted_at: clock.now().toISOString(),
        jwks_fetched_at: clock.now().toISOString(),
      }),
    ])
  })
})

describe('a canary', () => {
  it('uses the new key before the others, is asked to prove it, and then all follow', async () => {
    const { clock, keyRing } = streams
    const canary = await startCachingReceiver(HOUR_MS)
    const other = await startCachingReceiver(HOUR_MS)
    const oldKid = keyRing.activeKid()
    const newKid = await rotate({
      canaryDestinationIds: [canary.destinationId],
      canaryMs: 6 * HOUR_MS,
    })
    const job = { ...streams, modulusBits: 2048 as const, rotationDays: 90 }
    expect(await runSigningKeyJob(job)).toEqual(new Date(clock.now().getTime() + 2 * HOUR_MS))
    expect(keyRing.activeKid(canary.destinationId)).toBe(oldKid)
    clock.advance(2 * HOUR_MS)
    await runSigningKeyJob(job)
    await runSigningKeyJob(job)
    await drain()
    expect(canary.acceptedKids).toEqual([newKid])
    expect(other.acceptedKids).toEqual([])
    await emit(1)
    await drain()
    expect(canary.acceptedKids).toEqual([newKid, newKid])
    expect(other.acceptedKids).toEqual([oldKid])
    clock.advance(6 * HOUR_MS)
    await emit(1)
    await drain()
    expect(other.acceptedKids).toEqual([oldKid, newKid])
    expect(keyRing.activeKid(canary.destinationId)).toBe(newKid)
  })

  it('that refuses the key keeps it from the others, until a rollback ends the rotation', async () => {
    const { clock, keyRing, runChange } = streams
    const canary = await startCachingReceiver(365 * DAY_MS)
    const other = await startCachingReceiver(HOUR_MS)
    await emit(1)
    await drain()
    const oldKid = keyRing.activeKid()
    await rotate({ canaryDestinationIds: [canary.destinationId] })
    clock.advance(2 * HOUR_MS)
    // A claim that had begun before may still bind the first one to the old key.
    await expect
      .poll(async () => {
        await emit(1)
        await drain()
        return canary.failures.length
      })
      .toBeGreaterThan(0)
    await refusedKeys.idle()
    clock.advance(40 * DAY_MS)
    await keyRing.refresh()
    await emit(1)
    await drain()
    expect(new Set([...canary.acceptedKids, ...other.acceptedKids])).toEqual(new Set([oldKid]))
    await expect(rotate()).rejects.toThrow('A rotation')
    await runChange({ actor: SYSTEM_ACTOR }, rollBackSigningKey)
    await keyRing.refresh()
    await expect(rotate()).resolves.toEqual(expect.any(String))
  })
})

describe('rollback and revocation', () => {
  it('a rollback brings the key before back at once, also for what waits under the new one', async () => {
    const { clock, keyRing, db, runChange } = streams
    const receiver = await startCachingReceiver(HOUR_MS)
    const oldKid = keyRing.activeKid()
    const newKid = await rotate()
    clock.advance(3 * HOUR_MS)
    await engine.close()
    await emit(3)
    await db.updateTable('delivery').set({ signing_kid: newKid }).execute()
    await runChange({ actor: SYSTEM_ACTOR }, rollBackSigningKey)
    await keyRing.refresh()
    expect(keyRing.activeKid()).toBe(oldKid)
    expect(keyRing.isPublished(newKid)).toBe(true)
    const kids = await db.selectFrom('delivery').select('signing_kid').execute()
    expect(kids).toEqual(Array.from({ length: 3 }, () => ({ signing_kid: oldKid })))
    await expect(runChange({ actor: SYSTEM_ACTOR }, rollBackSigningKey)).rejects.toThrow(
      'no earlier signing key',
    )
    clock.advance(31 * DAY_MS)
    expect(keyRing.publishedKeys().map(({ kid }) => kid)).toEqual([oldKid])
    expect(receiver.failures).toEqual([])
  })

  it('a revoked key vanishes at once, and what waits under it is signed by a new one', async () => {
    const { keyRing, db, sealer, runChange } = streams
    const receiver = await startCachingReceiver(0)
    const oldKid = keyRing.activeKid()
    // Not sent again while the key is revoked, however long making another one takes.
    receiver.respond(answerWith(503, { 'retry-after': String(HOUR_MS / SECOND_MS) }))
    await emit(1)
    await vi.waitFor(
      async () => expect(await listStoredTokens(db)).toEqual([expect.any(String)]),
      WAIT_MS,
    )
    const { active } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeSigningKey(change, oldKid, { sealer, modulusBits: 3072 }),
    )
    await keyRing.refresh()
    expect(keyRing.publishedKeys().map(({ kid }) => kid)).toEqual([active.kid])
    const bodies: string[] = []
    receiver.respond((request, response) => {
      bodies.push(request.body)
      response.writeHead(202).end()
    })
    await db
      .updateTable('delivery')
      .set({ next_attempt_at: sql`now()` })
      .execute()
    await db.updateTable('delivery_destination').set({ retry_not_before: null }).execute()
    await drain()
    const { body: jwks } = await streams.api.request<JSONWebKeySet>('/ssf/jwks.json', { key: null })
    await compactVerify(bodies[0] ?? '', createLocalJWKSet(jwks))
    const [row] = await db.selectFrom('delivery').select('state').execute()
    expect(row).toEqual({ state: 'delivered' })
    expect(await listStoredTokens(db)).toEqual([bodies[0]])
    await expect(
      runChange({ actor: SYSTEM_ACTOR }, (change) =>
        revokeSigningKey(change, oldKid, { sealer, modulusBits: 2048 }),
      ),
    ).rejects.toThrow('revoked already')
  })

  it('the key of a rotation that is under way takes over at once when the one in use is revoked', async () => {
    const { keyRing, sealer, runChange } = streams
    const oldKid = keyRing.activeKid()
    const newKid = await rotate()
    expect(keyRing.activeKid()).toBe(oldKid)
    const { active } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeSigningKey(change, oldKid, { sealer, modulusBits: 2048 }),
    )
    await keyRing.refresh()
    expect([active.kid, keyRing.activeKid()]).toEqual([newKid, newKid])
  })

  it('after a revocation a refusal by an old copy of the key set is tried again, not given up', async () => {
    const { keyRing, sealer, runChange, clock } = streams
    const receiver = await startCachingReceiver(HOUR_MS)
    await emit(1)
    await drain()
    await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeSigningKey(change, keyRing.activeKid(), { sealer, modulusBits: 2048 }),
    )
    await keyRing.refresh()
    await emit(1)
    await vi.waitFor(() => expect(receiver.failures.length).toBeGreaterThan(0), WAIT_MS)
    clock.advance(HOUR_MS)
    await drain()
    expect(await countByState()).toEqual({ delivered: 2 })
  })
})

describe('poll receivers', () => {
  interface Sets {
    readonly sets: Readonly<Record<string, string>>
  }
  const kidsOf = ({ sets }: Sets) =>
    Object.values(sets).map((token) => decodeProtectedHeader(token).kid)

  it('prove keys by acknowledging, and are given the SET under the old key when they refuse the new', async () => {
    const { clock, keyRing } = streams
    const stream = await streams.createStream({ name: 'poll' })
    const url = `/ssf_streams/${stream.id}/events`
    const poll = (payload: object) => streams.call<Sets>(url, { method: 'POST', payload })
    const oldKid = keyRing.activeKid()
    const newKid = await rotate()
    clock.advance(2 * HOUR_MS)
    await emit(1)
    const { body: first } = await poll({})
    expect(kidsOf(first)).toEqual([newKid])
    const [jti = ''] = Object.keys(first.sets)
    const { body: second } = await poll({
      setErrs: { [jti]: { err: 'authentication_failed', description: 'no key for the signature' } },
    })
    expect(Object.keys(second.sets)).toEqual([jti])
    expect(kidsOf(second)).toEqual([oldKid])
    await poll({ ack: [jti] })
    await emit(1)
    expect(kidsOf((await poll({})).body)).toEqual([oldKid])
    await keyRing.proofs.flush()
    const { body } = await streams.call<{ data: object[] }>('/ssf_signing_keys')
    expect(body.data).toMatchObject([
      {
        kid: oldKid,
        state: 'retiring',
        receivers: [{ stream_id: stream.stream_id, in_use: true, refusal: null }],
      },
      { kid: newKid, state: 'active', receivers: [{ in_use: false, rolled_back: true }] },
    ])
  })

  it('that refuse a key because they hold an old copy of the key set lose nothing, however often they poll', async () => {
    const { clock, keyRing, runChange, sealer } = streams
    const stream = await streams.createStream({ name: 'poll' })
    const url = `/ssf_streams/${stream.id}/events`
    const poll = (payload: object) => streams.call<Sets>(url, { method: 'POST', payload })
    await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeSigningKey(change, keyRing.activeKid(), { sealer, modulusBits: 2048 }),
    )
    await keyRing.refresh()
    await emit(1)
    const [jti = ''] = Object.keys((await poll({})).body.sets)
    const refusal = { setErrs: { [jti]: { err: 'invalid_key', description: 'unknown kid' } } }
    for (let count = 0; count < 12; count += 1) {
      expect(Object.keys((await poll(refusal)).body.sets)).toEqual([jti])
    }
    clock.advance(25 * HOUR_MS)
    expect((await poll(refusal)).body.sets).toEqual({})
    const row = await streams.db.selectFrom('delivery').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ state: 'dead', last_error: 'invalid_key: unknown kid' })
  })
})
