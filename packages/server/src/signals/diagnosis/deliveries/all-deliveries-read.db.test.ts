import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { addDeliveries } from '../../../../test/support/partitioned-deliveries.ts'
import { countRowsRead } from '../../../../test/support/rows-read.ts'
import { DELIVERY_LIST } from '../../dispatch/delivery-read.ts'
import { insertDestination } from '../../dispatch/destination-store.ts'
import { ALL_DELIVERIES } from './all-deliveries-read.ts'

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
