import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { ALL_DELIVERIES } from '../diagnosis/deliveries/all-deliveries-read.ts'
import { DELIVERY_LIST } from './delivery-read.ts'
import { insertDestination } from './destination-store.ts'

const DELIVERIES = 20_000
/** The first of them; the others are dead. */
const DELIVERED = 6_000
/** What a list looks at one by one before anything else. */
const LOOKED_AT = 5_000
const FIRST_AT = '2026-01-01T00:00:00Z'
/** What is likely to match, newest first. */
const LIKELY = 5_000
/** What a few ranges of pages have that summaries lead to. */
const SUMMARISED = 4_000
/** A page of them is found, and read as it is shown. */
const FOUND = 500

const database = await createTestDatabase()
afterAll(() => database.close())

beforeAll(async () => {
  const id = await insertDestination(database.db, { kind: 'webhook', state: 'active' })
  // Never changed since: where a snapshot of another process holds former versions, summaries hold their times as well.
  await database.pool.query(`
    insert into delivery (destination_id, event_id, event_type, subject_key, body, txn, state, attempt_count,
      created_at, next_attempt_at, finished_at)
    select ${id}, gen_random_uuid(), 'test', 'one', 'one:' || n, 'txn',
      case when n < ${DELIVERED} then 'delivered' else 'dead' end,
      case when n < ${DELIVERED} then 1 else 8 end,
      queued_at, queued_at, queued_at + interval '5 seconds'
    from (
      select n, timestamptz '${FIRST_AT}' + n * interval '1 minute' as queued_at
      from generate_series(0, ${DELIVERIES - 1}) n
    ) as one order by n`)
  await database.pool.query('vacuum (analyze) delivery')
})

describe('deliveries of an event, in a state or after so many attempts', () => {
  it.each([
    'event_type:none',
    'state:discarded',
    'attempts:77',
    'attempts>8',
    'attempts:77 OR attempts:66',
    'event_type:none OR attempts:77',
    'state:discarded OR attempts:77',
    'event_type:none AND state:delivered',
    'attempts:8 AND event_type:none',
  ])('are found without reading the log where none is one of them: %s', async (search) => {
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

describe('deliveries by a time that most of them are behind', () => {
  const minute = (n: number) => new Date(Date.parse(FIRST_AT) + n * 60_000).toISOString()

  it.each([
    ['oldest first', `created_at>"${minute(DELIVERIES * 0.5)}"`, false],
    ['oldest first', `created_at>"${minute(DELIVERIES * 0.5)}" AND attempts:8`, false],
    ['newest first', `created_at<"${minute(DELIVERIES * 0.7)}"`, true],
    ['newest first', `created_at<"${minute(DELIVERIES * 0.7)}" AND attempts:8`, true],
    ['newest first', `created_at<"${minute(DELIVERIES * 0.7)}" OR txn:none`, true],
  ])('are found, %s, without reading all that are: %s', async (_, search, isDescending) => {
    const window = { afterId: undefined, limit: 101, isDescending }
    const read = await countRowsRead(database, { list: DELIVERY_LIST, search, window })
    const likely = isDescending ? LIKELY : 0
    expect(read).toBeLessThan(LOOKED_AT + likely + SUMMARISED + FOUND)
  })
})

it('a search of many times or long lists of values is answered', async () => {
  const times = Array.from({ length: 35 }, () => `created_at<"2026-01-01"`)
  const values = Array.from({ length: 95 }, (_, index) => index).join(',')
  const lists = Array.from({ length: 10 }, () => `person_id:[${values}]`)
  const search = [...times, ...lists].join(' OR ')
  const window = { afterId: undefined, limit: 101, isDescending: true }
  expect(
    await countRowsRead(database, { list: ALL_DELIVERIES, search, window }),
  ).toBeLessThanOrEqual(DELIVERIES + LOOKED_AT + LIKELY)
})
