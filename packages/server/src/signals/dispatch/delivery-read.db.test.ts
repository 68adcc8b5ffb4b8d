import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { addDeliveries } from '../../../test/support/partitioned-deliveries.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { DELIVERY_LIST } from './delivery-read.ts'
import { insertDestination } from './destination-store.ts'

const DELIVERIES = 20_000
/** The first of them; the others are dead. */
const DELIVERED = 6_000
/** What a list looks at one by one before anything else. */
const LOOKED_AT = 5_000
/** A page of them is found, and read as it is shown. */
const FOUND = 500

const database = await createTestDatabase()
afterAll(() => database.close())

beforeAll(async () => {
  const id = await insertDestination(database.db, { kind: 'webhook', state: 'active' })
  await addDeliveries(database.db, id, { count: DELIVERIES })
  await database.pool.query(`
    update delivery set state = 'dead', attempt_count = 8
    where id >= (select min(id) + ${DELIVERED} from delivery)`)
  await database.pool.query('vacuum (full, analyze) delivery')
})

describe('deliveries by one of several conditions that no index answers', () => {
  it.each([
    'attempts:5 OR attempts:6',
    'event_type:one OR attempts:5',
    'state:discarded OR attempts:5',
  ])('are read once: %s', async (search) => {
    for (const isDescending of [false, true]) {
      const window = { afterId: undefined, limit: 101, isDescending }
      const read = await countRowsRead(database, { list: DELIVERY_LIST, search, window })
      expect(read).toBeGreaterThanOrEqual(DELIVERIES)
      expect(read).toBeLessThanOrEqual(DELIVERIES + LOOKED_AT)
    }
  })
})

describe('deliveries of an event', () => {
  it.each([
    'event_type:none',
    'event_type:none AND state:delivered',
    'attempts:8 AND event_type:none',
  ])('are found without reading the log where none is of it: %s', async (search) => {
    for (const isDescending of [false, true]) {
      const window = { afterId: undefined, limit: 101, isDescending }
      const read = await countRowsRead(database, { list: DELIVERY_LIST, search, window })
      expect(read).toBeLessThanOrEqual(LOOKED_AT + FOUND)
    }
  })
})

describe('deliveries of which many are far from the start', () => {
  it.each(['state:dead', 'attempts:8', 'attempts>5', 'state:dead AND event_type:test'])(
    'are looked for no further than for a page: %s',
    async (search) => {
      const window = { afterId: undefined, limit: 101 }
      const read = await countRowsRead(database, { list: DELIVERY_LIST, search, window })
      expect(read).toBeLessThanOrEqual(LOOKED_AT + DELIVERED + FOUND)
    },
  )
})
