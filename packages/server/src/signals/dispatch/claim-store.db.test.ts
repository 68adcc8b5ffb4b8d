import { afterAll, afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { systemClock } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { claimDeliveries, findDestinationSchedule } from './claim-store.ts'
import { insertDeliveries } from './delivery-store.ts'
import { insertDestination } from './destination-store.ts'

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

async function claim(destinationId: DestinationId, limit: number) {
  const { deliveries, isAll } = await claimDeliveries(db, {
    destinationId,
    claimId: newUuid(),
    ownClaimIds: [],
    leaseMs: 60_000,
    limit,
    kid: null,
  })
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
