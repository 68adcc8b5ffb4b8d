import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { EVENT_LIST } from './webhook-event-read.ts'

/** One a minute. */
const EVENTS = 40_000
/** What a list looks at one by one, in the order of its key, before anything else. */
const LOOKED_AT = 5_000
/** What summaries of pages let be read beside a page. */
const SUMMARISED = 10_000

const database = await createTestDatabase()
afterAll(() => database.close())

beforeAll(async () => {
  const at = sql`timestamptz '2026-01-01Z' + n * interval '1 minute'`
  await sql`
    insert into webhook_event (event_id, event_type, occurred_at, txn, created_at)
    select n, 'device.updated', ${at}, n, ${at} from generate_series(1, ${EVENTS}::int) n`.execute(
    database.db,
  )
  await database.pool.query('vacuum (analyze) webhook_event')
})

describe('events that webhooks are sent', () => {
  it('are found, oldest first, by when they were, and not by reading all that were later', async () => {
    const search = 'timestamp>"2026-01-06T00:00:00Z"'
    const window = { afterId: undefined, limit: 101 }
    const read = await countRowsRead(database, { list: EVENT_LIST, search, window })
    expect(read).toBeGreaterThan(LOOKED_AT)
    expect(read).toBeLessThan(LOOKED_AT + SUMMARISED)
  })
})
