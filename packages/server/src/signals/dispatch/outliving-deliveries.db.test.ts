import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import {
  answerWith,
  startLoopbackReceiver,
  type LoopbackReceiver,
} from '../../../test/support/loopback-receiver.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import { createGuardedClient } from '../../platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { classifyPush } from '../push/push-channel.ts'
import { listWaitingDestinations } from './claim-store.ts'
import type { DeliveryEngine } from './delivery-engine.ts'
import { createTestEngine } from '../../../test/support/test-engine.ts'
import { insertDestination, updateDestination } from './destination-store.ts'
import { insertDeliveries } from './delivery-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

const database = await createTestDatabase()
const { db } = database
const runChange = createChangeRunner(db, systemClock, [])
const policy = parseAllowedTargets('127.0.0.1')
if (!policy.ok) throw new Error(policy.reason)
const client = createGuardedClient({ policy: policy.policy, userAgent: 'test' })
const receiver: LoopbackReceiver = await startLoopbackReceiver()
let engine: DeliveryEngine | undefined

afterEach(async () => {
  await engine?.close(50)
  receiver.requests.splice(0)
  receiver.respond(answerWith(202))
})
afterAll(async () => {
  await client.close()
  await receiver.close()
  await database.close()
})

async function startEngine(): Promise<void> {
  engine = createTestEngine({
    db,
    clock: systemClock,
    log: { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    client,
    channels: [
      {
        kind: 'webhook',
        logEvent: 'test.delivery_attempted',
        retryDelaysMs: [30, 30, 30],
        claimKid: () => null,
        prepare: (_id, deliveries) =>
          Promise.resolve(
            deliveries.map(({ body }) => ({
              token: null,
              request: { url: receiver.url, method: 'POST' as const, body },
            })),
          ),
        classify: classifyPush,
      },
    ],
    settings: { sweepIntervalMs: 100, requestTimeoutMs: 60_000 },
  })
  await engine.start()
}

async function queue(
  destinationId: DestinationId,
  body: string,
  options: { readonly outlivesStop?: boolean; readonly subjectKey?: string } = {},
): Promise<void> {
  const delivery = {
    destinationId,
    eventId: newUuid(),
    eventType: 'test',
    subjectKey: options.subjectKey ?? null,
    body,
    outlivesStop: options.outlivesStop ?? false,
  }
  await runChange({ actor: SYSTEM_ACTOR }, (change) => insertDeliveries(change, [delivery]))
  engine?.wake(destinationId)
}

const received = () => receiver.requests.map(({ body }) => body)

describe('a destination that is stopped', () => {
  it.each(['held', 'stopped'] as const)(
    'ssf-T112 gets what tells of it while %s, and nothing else',
    async (state) => {
      const id = await insertDestination(db, { kind: 'webhook', state })
      for (let index = 0; index < 50; index += 1) await queue(id, 'waiting', { subjectKey: 'a' })
      await queue(id, 'last word', { outlivesStop: true })
      await startEngine()
      await vi.waitFor(() => expect(received()).toEqual(['last word']), { timeout: 10_000 })
      await engine?.close(500)
      expect(received()).toEqual(['last word'])
      const left = await db
        .selectFrom('delivery')
        .select(['state', 'claimed_by'])
        .where('destination_id', '=', id)
        .where('body', '=', 'waiting')
        .execute()
      expect(left).toHaveLength(50)
      expect(left.every((row) => row.state === 'queued' && row.claimed_by === null)).toBe(true)
    },
  )

  it('gets the last word again when it fails', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'held' })
    receiver.respond(answerWith(503))
    await startEngine()
    await queue(id, 'last word', { outlivesStop: true })
    await vi.waitFor(() => expect(received().length).toBeGreaterThan(1), { timeout: 10_000 })
    receiver.respond(answerWith(202))
    await vi.waitFor(
      async () => {
        const row = await db
          .selectFrom('delivery')
          .select('state')
          .where('destination_id', '=', id)
          .executeTakeFirstOrThrow()
        expect(row.state).toBe('delivered')
      },
      { timeout: 10_000 },
    )
  })

  it('gets what was held when it is active again', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'held' })
    await startEngine()
    await queue(id, 'held')
    await queue(id, 'last word', { outlivesStop: true })
    await vi.waitFor(() => expect(received()).toEqual(['last word']), { timeout: 10_000 })
    await updateDestination(db, id, { kind: 'webhook', state: 'active' })
    engine?.wake(id)
    await vi.waitFor(() => expect(received()).toEqual(['last word', 'held']), { timeout: 10_000 })
  })

  it('is not waited for when it has nothing to be told', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'held' })
    await queue(id, 'held')
    const waiting = await listWaitingDestinations(db, ['webhook'])
    expect(waiting.map((destination) => destination.id)).not.toContain(id)
  })

  it('gets nothing once it is deleted', async () => {
    const id = await insertDestination(db, { kind: 'webhook', state: 'deleted' })
    await queue(id, 'last word', { outlivesStop: true })
    const waiting = await listWaitingDestinations(db, ['webhook'])
    expect(waiting.map((destination) => destination.id)).not.toContain(id)
  })
})
