import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type Kysely, type Transaction } from 'kysely'
import { afterAll, afterEach, describe, expect, it, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { repeatAfterConflict } from '../../platform/db/transient-conflict.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { discardWaitingRecoveries } from '../history/debounce-store.ts'
import { requeueSets } from '../history/replay-store.ts'
import {
  acknowledgeSets,
  rebindSets,
  recordReportedErrors,
  storeTokens,
} from '../poll/poll-store.ts'
import { discardQueuedDeliveries } from '../streams/stream-store.ts'
import { discardUnrequested } from '../streams/unrequested-event-store.ts'
import { giveUpWithoutPayload } from '../webhooks/webhook-retention-store.ts'
import { deleteMarkedDestinations } from './delivery-retention-store.ts'
import { insertDestination, updateDestinationState } from './destination-store.ts'
import { deferFollowers } from './outcome-store.ts'
import { requeueDeliveries, updateToDiscarded } from './redrive-store.ts'
import { newWorkerClaimId, releaseWorker } from './worker-store.ts'

const database = await createTestDatabase()
const { db } = database
const now = new Date()

afterEach(async () => {
  await db.deleteFrom('delivery').execute()
  await db.deleteFrom('delivery_destination').execute()
})
afterAll(() => database.close())

/** Two deliveries, of which the table and every index but that of ids have the later one first. */
interface Crosswise {
  readonly destinationId: DestinationId
  readonly ids: readonly [string, string]
  readonly eventIds: readonly [string, string]
}

interface Given {
  readonly state?: 'queued' | 'dead'
  readonly kind?: 'webhook' | 'ssf_poll'
  readonly claimedBy?: string | null
}

async function insertCrosswise({
  state = 'queued',
  kind,
  claimedBy = null,
}: Given): Promise<Crosswise> {
  const destinationId = await insertDestination(db, { kind: kind ?? 'ssf_poll', state: 'active' })
  const eventIds = [`b-${newUuid()}`, `a-${newUuid()}`] as const
  const finishedAt = state === 'dead' ? now : null
  const { rows } = await sql<{ id: string }>`
    insert into delivery (destination_id, event_id, event_type, subject_key, body, state, next_attempt_at, txn,
      created_at, claimed_by, claim_expires_at, finished_at)
    select ${destinationId}, event_id, ${DEVICE_COMPLIANCE_CHANGE}, subject_key, '{}', ${state}, now() + due_in,
      '-', now() + due_in - interval '2 hours', ${claimedBy}::uuid,
      case when ${claimedBy}::uuid is not null then now() + interval '1 hour' end, ${finishedAt}::timestamptz
    from (values (${eventIds[0]}, 'device:2', interval '2 hours'),
      (${eventIds[1]}, 'device:1', interval '1 hour')) as given (event_id, subject_key, due_in)
    returning id`.execute(db)
  const [first = '', second = ''] = rows.map(({ id }) => id)
  await sql`update delivery set body = body || ' ' where id = ${first}`.execute(db)
  return { destinationId, ids: [first, second], eventIds }
}

const lockAtOnce = (tx: Kysely<Schema>, id: string) =>
  sql`select from delivery where id = ${id} for no key update nowait`.execute(tx)

const inTransaction = <Result>(work: (tx: Transaction<Schema>) => Promise<Result>) =>
  db.transaction().execute(work)

type Statement = (tx: Transaction<Schema>, crosswise: Crosswise) => Promise<unknown>

const STATEMENTS: readonly { title: string; run: Statement; given?: Given }[] = [
  {
    title: 'an acknowledgement',
    run: (tx, { destinationId, eventIds }) =>
      acknowledgeSets(tx, { destinationId, deliveryMethod: 'poll' }, eventIds, now),
  },
  {
    title: 'a report of errors',
    run: (tx, { destinationId, eventIds }) =>
      recordReportedErrors(
        tx,
        destinationId,
        eventIds.map((eventId) => ({ eventId, error: '-', isFinal: true, isExcused: false })),
        { now, attemptsMax: 3 },
      ),
  },
  {
    title: 'another key for what was reported',
    run: (tx, { destinationId, eventIds }) =>
      rebindSets(
        tx,
        destinationId,
        eventIds.map((eventId) => ({ eventId, kid: 'k', error: '-' })),
      ),
  },
  {
    title: 'the tokens of a poll',
    run: (tx, { ids: [first, second] }) =>
      storeTokens(
        tx,
        [second, first].map((id) => ({ id, body: '{}', kid: 'k', token: 'a.b.c' })),
      ),
  },
  {
    title: 'types that are dropped',
    run: (tx, { destinationId }) => discardUnrequested(tx, destinationId, now),
  },
  {
    title: 'a stream that is disabled',
    run: (tx, { destinationId }) => discardQueuedDeliveries(tx, destinationId, now),
  },
  {
    title: 'a relapse of devices',
    run: (tx, { destinationId }) =>
      discardWaitingRecoveries({ tx, txn: '-', at: now }, destinationId, ['1', '2']),
  },
  {
    title: 'a giving up',
    run: (tx, { destinationId }) =>
      updateToDiscarded(tx, { destinationId, states: ['queued'] }, now),
  },
  {
    title: 'a redrive',
    run: (tx, { destinationId }) => requeueDeliveries(tx, { destinationId, states: ['dead'] }, {}),
    given: { state: 'dead' },
  },
  {
    title: 'a replay',
    run: (tx, { destinationId }) => requeueSets(tx, destinationId, { since: new Date(0) }, 10),
    given: { state: 'dead' },
  },
  {
    title: 'the end of what events carried',
    run: (tx, { eventIds }) => giveUpWithoutPayload(tx, eventIds, now),
    given: { kind: 'webhook' },
  },
  {
    title: 'the end of a worker',
    run: () => releaseWorker(db, 77),
    given: { claimedBy: newWorkerClaimId(77) },
  },
  {
    title: 'the end of a destination',
    run: async (_tx, { destinationId }) => {
      await updateDestinationState(db, destinationId, 'deleted')
      await deleteMarkedDestinations(db)
    },
  },
]

describe('whoever waits for several deliveries locks them by id', () => {
  it.each(STATEMENTS)('$title', async ({ run, given = {} }) => {
    const crosswise = await insertCrosswise(given)
    const [first, second] = crosswise.ids
    let running: Promise<unknown> | undefined
    await inTransaction(async (tx) => {
      await lockAtOnce(tx, first)
      running = inTransaction(async (other) => {
        await sql`set local enable_indexscan = off; set local enable_bitmapscan = off`.execute(
          other,
        )
        await run(other, crosswise)
      })
      running.catch(() => undefined)
      await waitForLock(db)
      await lockAtOnce(tx, second)
    })
    await running
  })
})

test('a retry puts off what follows it without waiting for what somebody else has locked', async () => {
  const { destinationId, ids } = await insertCrosswise({})
  const [first, second] = ids
  await sql`update delivery set subject_key = 'device:1', next_attempt_at = now()`.execute(db)
  const head = { id: '0', destinationId, subjectKey: 'device:1' }
  await inTransaction(async (tx) => {
    await lockAtOnce(tx, second)
    await deferFollowers(db, [{ delivery: head, retryDelayMs: 60_000 }] as never)
  })
  const { rows } = await sql<{ id: string }>`
    select id from delivery where next_attempt_at > now()`.execute(db)
  expect(rows).toEqual([{ id: first }])
})

test('what follows one that is given up is due also when a claim puts it off at that moment', async () => {
  const { destinationId, ids, eventIds } = await insertCrosswise({})
  const [, follower] = ids
  await sql`update delivery set subject_key = 'device:1', next_attempt_at = now()`.execute(db)
  let givingUp: Promise<unknown> | undefined
  await inTransaction(async (claim) => {
    await lockAtOnce(claim, follower)
    const filter = { destinationId, states: ['queued'], eventIds: eventIds.slice(0, 1) } as const
    givingUp = updateToDiscarded(db, filter, now)
    await waitForLock(db)
    await sql`update delivery set next_attempt_at = now() + interval '5 minutes' where id = ${follower}`.execute(
      claim,
    )
  })
  await givingUp
  const { rows } = await sql<{ id: string }>`
    select id from delivery where state = 'queued' and next_attempt_at <= now()`.execute(db)
  expect(rows).toEqual([{ id: follower }])
})

test('an acknowledgement that a worker holds up crosswise is taken all the same', async () => {
  const { destinationId, ids, eventIds } = await insertCrosswise({})
  const [first, second] = ids
  let acknowledging: Promise<unknown> | undefined
  const worker = inTransaction(async (tx) => {
    await lockAtOnce(tx, second)
    acknowledging = repeatAfterConflict(() =>
      acknowledgeSets(db, { destinationId, deliveryMethod: 'poll' }, eventIds, now),
    )
    await waitForLock(db)
    await sql`select from delivery where id = ${first} for no key update`.execute(tx)
  })
  await worker.catch(() => undefined)
  await acknowledging
  const { rows } = await sql`select from delivery where state = 'delivered'`.execute(db)
  expect(rows).toHaveLength(2)
})
