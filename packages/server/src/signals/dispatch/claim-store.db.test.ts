import {
  OperationNodeTransformer,
  sql,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type RawNode,
} from 'kysely'
import { afterAll, afterEach, expect, test } from 'vitest'
import { countPutOff } from '../../../test/support/count-put-off.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { FAILURES_TO_OPEN } from './circuit-breaker.ts'
import { claimAtPace } from './claim-at-pace.ts'
import { claimBySchedule, claimDeliveries, findDestinationSchedule } from './claim-store.ts'
import { EVERY_DELIVERY, PARTITION_IDS } from './delivery-range-store.ts'
import { setPace } from '../webhooks/webhook-pace-store.ts'
import { insertDeliveries } from './delivery-store.ts'
import { destinationTable, insertDestination } from './destination-store.ts'
import { requeueDelivery, updateToDiscarded } from './redrive-store.ts'

const database = await createTestDatabase()
const { db } = database
const change = createChangeRunner(db, systemClock, [])

afterEach(() => db.deleteFrom('delivery_destination').execute())
afterAll(() => database.close())

async function queueOf(...subjectKeys: readonly (string | null)[]): Promise<DestinationId> {
  const destinationId = await insertDestination(db, { kind: 'webhook', state: 'active' })
  await change({ actor: SYSTEM_ACTOR }, (open) =>
    insertDeliveries(
      open,
      subjectKeys.map((subjectKey) => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey,
        body: '{}',
      })),
    ),
  )
  return destinationId
}

function toRequest(destinationId: DestinationId, limit: number) {
  const request = { destinationId, claimId: newUuid(), ownClaimIds: [], leaseMs: 60_000 }
  return { ...request, limit, kid: null }
}

async function claim(destinationId: DestinationId, limit: number) {
  const { deliveries, isAll } = await claimDeliveries(db, toRequest(destinationId, limit))
  return { count: deliveries.length, isAll }
}

test('a claim with room for more says that it has all that was due', async () => {
  const destinationId = await queueOf(null, 'device:1', 'device:1')
  expect(await claim(destinationId, 10)).toEqual({ count: 3, isAll: true })
  const schedule = await findDestinationSchedule(db, destinationId)
  expect(schedule?.nextDueInMs).toBeNull()
})

test('a claim that is full does not say that nothing else is due', async () => {
  const destinationId = await queueOf(null, null, null)
  expect(await claim(destinationId, 3)).toEqual({ count: 3, isAll: false })
  expect(await claim(destinationId, 3)).toEqual({ count: 0, isAll: false })
})

test('a claim that put something off for its order does not say that it has all', async () => {
  const destinationId = await queueOf('device:1')
  await claim(destinationId, 1)
  await change({ actor: SYSTEM_ACTOR }, (open) =>
    insertDeliveries(
      open,
      ['device:1', 'device:2'].map((subjectKey) => ({
        destinationId,
        eventId: newUuid(),
        eventType: 'test',
        subjectKey,
        body: '{}',
      })),
    ),
  )
  expect(await claim(destinationId, 10)).toEqual({ count: 1, isAll: false })
})

test('what was due for a while and was never tried is left by the first worker, whenever it was created', async () => {
  const destinationId = await queueOf('new', 'deferred', 'left', 'retried')
  const { deliveries } = await db.transaction().execute(async (tx) => {
    await sql`
      update delivery d
      set created_at = now() - made.age, next_attempt_at = now() - made.due_for, attempt_count = made.tries
      from (values ('new', '0 ms'::interval, '0 ms'::interval, 0), ('deferred', '1 min', '0 ms', 0),
        ('left', '300 ms', '300 ms', 0), ('retried', '1 min', '300 ms', 1)) as made (subject_key, age, due_for, tries)
      where d.subject_key = made.subject_key`.execute(tx)
    return claimDeliveries(tx, toRequest(destinationId, 10))
  })
  expect(deliveries).toHaveLength(4)
  const left = deliveries.filter(({ wasLeft }) => wasLeft)
  expect(left.map(({ subjectKey }) => subjectKey)).toEqual(['left'])
})

test('what a claim has no room for can be claimed by another worker at the same time', async () => {
  const destinationId = await queueOf(...Array.from({ length: 36 }, () => null))
  await db.transaction().execute(async (tx) => {
    const first = await claimDeliveries(tx, toRequest(destinationId, 16))
    expect(first.deliveries).toHaveLength(16)
    expect(await claim(destinationId, 16)).toEqual({ count: 16, isAll: false })
  })
})

test('a look that claims says what a look and a claim say', async () => {
  const destinationId = await queueOf('device:1', 'device:2', 'device:1', null)
  const first = await claimBySchedule(db, 'webhook', toRequest(destinationId, 3))
  expect(first.claimed.deliveries.map(({ subjectKey }) => subjectKey)).toEqual([
    'device:1',
    'device:2',
    'device:1',
  ])
  expect(first).toMatchObject({ mayClaim: true, claimed: { isAll: false } })
  const second = await claimBySchedule(db, 'webhook', toRequest(destinationId, 3))
  expect(second.claimed).toMatchObject({
    deliveries: [{ subjectKey: null, body: '{}' }],
    isAll: true,
  })
  const last = await claimBySchedule(db, 'webhook', toRequest(destinationId, 3))
  expect(last.claimed.deliveries).toEqual([])
  expect(last.schedule).toEqual(await findDestinationSchedule(db, destinationId))
})

test('a look that claims all that is due says when the next of the rest is, and one that is full does not', async () => {
  const destinationId = await queueOf(null, null, null)
  const { id } = await db
    .selectFrom('delivery')
    .select('id')
    .where('destination_id', '=', destinationId)
    .orderBy('id')
    .executeTakeFirstOrThrow()
  const later = new Date(Date.now() + 60_000)
  await db.updateTable('delivery').set({ next_attempt_at: later }).where('id', '=', id).execute()
  const full = await claimBySchedule(db, 'webhook', toRequest(destinationId, 1))
  expect(full).toMatchObject({ claimed: { isAll: false }, schedule: { nextDueInMs: null } })
  const all = await claimBySchedule(db, 'webhook', toRequest(destinationId, 3))
  expect(all.claimed).toMatchObject({ deliveries: [{}], isAll: true })
  expect(all.schedule?.nextDueInMs).toBeGreaterThan(30_000)
  const none = await claimBySchedule(db, 'webhook', toRequest(await queueOf(null), 3))
  expect(none.schedule?.nextDueInMs).toBeNull()
})

const past = { fromId: PARTITION_IDS, toId: null }

test.each([
  ['is held', { state: 'held' }],
  ['is deleted', { state: 'deleted' }],
  ['is paused', { retryNotBefore: new Date(Date.now() + 60_000) }],
  ['fails', { consecutiveFailures: FAILURES_TO_OPEN }],
  ['is polled now', { kind: 'ssf_poll' }],
] as const)('a look claims nothing of a destination that %s', async (_, changes) => {
  const destinationId = await queueOf(null)
  await destinationTable.updateAll(db, { id: destinationId }, changes)
  const looked = await claimBySchedule(db, 'webhook', toRequest(destinationId, 3))
  expect(looked).toMatchObject({ mayClaim: false, claimed: { deliveries: [] } })
  expect({ ...looked.schedule, pausedForMs: 0, nextDueInMs: 0 }).toEqual({
    ...(await findDestinationSchedule(db, destinationId)),
    pausedForMs: 0,
    nextDueInMs: 0,
  })
})

test('a look claims nothing of a destination with a pace, nor behind what waits before its range', async () => {
  const destinationId = await queueOf(null)
  const outdated = { ...toRequest(destinationId, 3), range: past }
  const behind = await claimBySchedule(db, 'webhook', outdated)
  expect(behind).toMatchObject({ mayClaim: false, schedule: { range: EVERY_DELIVERY } })
  expect(behind.schedule?.nextDueInMs).toBeLessThanOrEqual(0)
  await setPace(db, destinationId, 5)
  const paced = await claimBySchedule(db, 'webhook', toRequest(destinationId, 3))
  expect(paced).toMatchObject({ mayClaim: false, schedule: { isPaced: true } })
  expect(await claim(destinationId, 3)).toEqual({ count: 1, isAll: true })
})

test('what another worker blocks keeps a claim from nothing else that is due, and is written no more often', async () => {
  const limit = 16
  const blocked = Array.from({ length: 400 }, () => 'device:1')
  const destinationId = await queueOf('device:1', ...blocked, 'device:2', 'device:2', null)
  await claim(destinationId, 1)
  const channel = { claimKid: () => null }
  const request = toRequest(destinationId, limit)
  const { deliveries, isAll } = await claimAtPace(db, channel, { ...request, isPaced: false })
  expect(deliveries.map(({ subjectKey }) => subjectKey)).toEqual(['device:2', null])
  expect(isAll).toBe(false)
  expect(await countPutOff(db, destinationId)).toBe(limit + 1)
  const next = await claimDeliveries(db, {
    ...toRequest(destinationId, limit),
    ownClaimIds: [request.claimId],
    isPastBlocked: true,
  })
  expect(next.deliveries.map(({ subjectKey }) => subjectKey)).toEqual(['device:2'])
})

test('a look past what is blocked does not go past an earlier delivery of the subject', async () => {
  const destinationId = await queueOf('device:1', 'device:1', 'device:2', 'device:2')
  const past = { ...toRequest(destinationId, 1), isPastBlocked: true }
  const first = await claimDeliveries(db, past)
  const second = await claimDeliveries(db, { ...past, claimId: newUuid() })
  const third = await claimDeliveries(db, { ...past, claimId: newUuid() })
  expect([first, second, third].map(({ deliveries }) => deliveries[0]?.subjectKey)).toEqual([
    'device:1',
    'device:2',
    undefined,
  ])
  const ids = [...first.deliveries, ...second.deliveries].map(({ id }) => Number(id))
  expect(ids[1]).toBe(Number(ids[0]) + 2)
})

/** Has claims begin to read, and then wait until nobody holds the advisory lock. */
class WaitingClaims extends OperationNodeTransformer implements KyselyPlugin {
  transformQuery({ node, queryId }: PluginTransformQueryArgs) {
    return this.transformNode(node, queryId)
  }

  transformResult({ result }: PluginTransformResultArgs) {
    return Promise.resolve(result)
  }

  protected override transformRaw(node: RawNode, queryId: QueryId): RawNode {
    const transformed = super.transformRaw(node, queryId)
    const sqlFragments = transformed.sqlFragments.map((fragment) =>
      fragment.replace(
        /from delivery\s+where $/u,
        '$&(select pg_advisory_xact_lock(4711)) is not null and ',
      ),
    )
    return { ...transformed, sqlFragments }
  }
}

test.each([
  ['given up', 'discard'],
  ['sent again', 'resend'],
])(
  'what follows a delivery that is %s while a claim looks waits for no retry',
  async (_what, how) => {
    const destinationId = await queueOf('device:1', 'device:1', 'device:1')
    const { id, event_id: eventId } = await db
      .selectFrom('delivery')
      .select(['id', 'event_id'])
      .orderBy('id')
      .executeTakeFirstOrThrow()
    await sql`update delivery set next_attempt_at = now() + interval '1 hour', attempt_count = 1
    where id = ${id}`.execute(db)
    const lock = await database.pool.connect()
    await lock.query('select pg_advisory_lock(4711)')
    const claiming = claimDeliveries(
      db.withPlugin(new WaitingClaims()),
      toRequest(destinationId, 10),
    )
    await waitForLock(db)
    const filter = { destinationId, states: ['queued'], eventIds: [eventId] } as const
    if (how === 'discard') await updateToDiscarded(db, filter, new Date())
    else await requeueDelivery(db, id, undefined)
    await lock.query('select pg_advisory_unlock(4711)')
    lock.release()
    expect(await claiming).toMatchObject({ deliveries: [], hasParked: true })
    const { rows } = await sql<{ isSoon: boolean }>`
    select next_attempt_at <= now() + interval '1 second' as "isSoon" from delivery
    where state = 'queued' and id > ${id}`.execute(db)
    expect(rows).toEqual([{ isSoon: true }, { isSoon: true }])
  },
)
