import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { addDeliveries } from '../../../../test/support/partitioned-deliveries.ts'
import { countRowsRead } from '../../../../test/support/rows-read.ts'
import { parseSearch } from '../../../platform/search/parse-search.ts'
import { DELIVERY_LIST, isToDestination } from '../../dispatch/delivery-read.ts'
import { insertDestination } from '../../dispatch/destination-store.ts'
import type { DestinationId } from '../../../schema/branded-ids.ts'
import { ALL_DELIVERIES, DESTINATION_KINDS, isToKinds } from './all-deliveries-read.ts'

const DELIVERIES = 20_000
/** What a list looks at one by one before anything else. */
const LOOKED_AT = 5_000
/** The last of them. */
const FEW = 2_000
/** A page of them is read as it is shown. */
const SHOWN = 500
const STATES = [
  ['dead', 'delivered'],
  ['delivered', 'dead'],
] as const

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

describe.each(STATES)(
  'few deliveries that are %s, behind very many that are %s',
  (state, other) => {
    let destinationId: string

    beforeAll(async () => {
      await sql`truncate delivery cascade`.execute(db)
      const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
      destinationId = id
      const first = await addDeliveries(db, id, { count: DELIVERIES })
      await sql`update delivery set state = case
      when id >= ${first}::bigint + ${DELIVERIES - FEW} then ${state} else ${other} end`.execute(db)
      await sql`vacuum (full, analyze) delivery`.execute(db)
    })

    it('are found in all lists without reading these', async () => {
      const window = { afterId: undefined, limit: 101 }
      const scope = sql<boolean>`delivery.destination_id = ${destinationId}`
      const of = { search: `state:${state}`, window, scope }
      const mostRows = LOOKED_AT + FEW + SHOWN
      expect(await countRowsRead(database, { list: ALL_DELIVERIES, ...of })).toBeLessThanOrEqual(
        mostRows,
      )
      expect(await countRowsRead(database, { list: DELIVERY_LIST, ...of })).toBeLessThanOrEqual(
        mostRows,
      )
    })
  },
)

describe('of a webhook', () => {
  beforeAll(async () => {
    await sql`truncate delivery cascade`.execute(db)
    const id = await insertDestination(db, { kind: 'webhook', state: 'active' })
    const first = await addDeliveries(db, id, { count: DELIVERIES })
    // None at either end, so that a page is not full with those that are looked at one by one.
    await sql`update delivery set attempt_count = 2
      where id % 5 = 0 and id between ${first}::bigint + ${LOOKED_AT} and ${first}::bigint + ${DELIVERIES - LOOKED_AT}`.execute(
      db,
    )
    await sql`vacuum (full, analyze) delivery`.execute(db)
  })

  it.each([false, true])(
    'that there is not, no deliveries are looked for among those of others (newest first: %s)',
    async (isDescending) => {
      const window = { afterId: undefined, limit: 101, isDescending }
      const of = { list: ALL_DELIVERIES, search: 'webhook_id:4711 AND attempts:2', window }
      expect(await countRowsRead(database, of)).toBeLessThanOrEqual(LOOKED_AT + SHOWN)
    },
  )
})

describe('of a stream', () => {
  const OF_WEBHOOKS = 'event_type:["issues.new","issues.resolved"]'
  let destinationId: DestinationId
  let streamId: string

  beforeAll(async () => {
    await sql`truncate delivery cascade`.execute(db)
    destinationId = await insertDestination(db, { kind: 'ssf_poll', state: 'active' })
    const { rows } = await sql<{ id: string }>`
      insert into ssf_stream (stream_id, destination_id, face, issuer, audience, name, delivery_method,
        events_requested, created_at, updated_at)
      values (gen_random_uuid(), ${destinationId}, 'root', 'https://issuer.example.com',
        'https://receiver.example.com', 'One', 'poll', '{}', now(), now()) returning id`.execute(db)
    streamId = rows[0]?.id ?? ''
    await addDeliveries(db, destinationId, { count: DELIVERIES })
    // As of a webhook, whose events these are.
    await sql`update delivery set event_type = 'issues.new' where id % 2 = 0`.execute(db)
    await sql`vacuum (full, analyze) delivery`.execute(db)
  })

  it.each([OF_WEBHOOKS, `${OF_WEBHOOKS} AND attempts:0`])(
    'none are read for events that only webhooks get: %s',
    async (events) => {
      const window = { afterId: undefined, limit: 101 }
      const search = `stream_id:${streamId} AND ${events}`
      const ofAll = parseSearch(search, ALL_DELIVERIES.fields)
      const scope = isToKinds(DESTINATION_KINDS, ofAll)
      const all = { list: ALL_DELIVERIES, search, window, scope }
      expect(await countRowsRead(database, all)).toBe(0)
      const ofOne = parseSearch(events, DELIVERY_LIST.fields)
      const own = isToDestination({ destinationId, search: ofOne, window })
      const one = { list: DELIVERY_LIST, search: events, window, scope: own }
      expect(await countRowsRead(database, one)).toBe(0)
    },
  )
})
