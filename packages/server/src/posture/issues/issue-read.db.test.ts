import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck } from '../../../test/support/factories.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { ISSUE_LIST } from './issue-read.ts'

const DEVICES = 1_000
const RESOLVED = 30_000
/** What makes it quicker to read an index of all rows than the rows. */
const ROW = JSON.stringify({ path: '/Library'.repeat(50) })
/** More than a list looks at one by one. */
const OPEN = 5_100
/** What a list looks at one by one, and what it takes for likely to match. */
const LOOKED_AT = 10_000

const database = await createTestDatabase()
afterAll(() => database.close())

beforeAll(async () => {
  const check = await insertCheck(database.db)
  const at = sql`timestamptz '2026-01-01Z' + n * interval '1 minute'`
  const isOpen = sql`n > ${RESOLVED}::int`
  await sql`
    insert into device (host_identifier, name, platform, created_at, updated_at)
    select 'host' || n, 'device', 'darwin', now(), now() from generate_series(1, ${DEVICES}::int) n`.execute(
    database.db,
  )
  await sql`
    insert into device_round (device_id, ran_at) select id, timestamptz '2026-04-01Z' from device`.execute(
    database.db,
  )
  await sql`
    insert into issue (check_id, device_id, title, issue_value, value, detected_at, last_rechecked_at, updated_at,
      resolved_at, follows_round)
    select ${check}::bigint, device.id, 'Issue', n, ${ROW}::jsonb, ${at}, ${at}, ${at},
      case when not (${isOpen}) then ${at} + interval '5 days' end, ${isOpen}
    from generate_series(1, ${RESOLVED + OPEN}::int) n join device on device.host_identifier = 'host' || n % ${DEVICES}::int + 1
    order by n`.execute(database.db)
  await vi.waitFor(vacuum, { timeout: 30_000, interval: 100 })
})

/** Until the index of when issues were resolved answers without their rows, as on a database that has run for a while. */
async function vacuum(): Promise<void> {
  await database.pool.query('vacuum (analyze) issue, device_round')
  const { rows } = await database.pool.query<{ isVisible: boolean }>(
    `select relallvisible = relpages as "isVisible" from pg_class where relname = 'issue'`,
  )
  expect(rows).toEqual([{ isVisible: true }])
}

const newest = { afterId: undefined, limit: 101, isDescending: true }

describe('issues that are resolved', () => {
  it('are found, newest first, by when they were, and not by reading all that are', async () => {
    const search = 'open:false'
    const read = await countRowsRead(database, { list: ISSUE_LIST, search, window: newest })
    expect(read).toBeLessThan(LOOKED_AT + OPEN)
  })
})

describe('issues that changed before a time', () => {
  it.each(['updated_at', 'last_rechecked_at'])(
    'are found, newest first, and not by reading open ones that follow a later round: %s',
    async (field) => {
      const search = `${field}<"2026-03-01T00:00:00Z"`
      const read = await countRowsRead(database, { list: ISSUE_LIST, search, window: newest })
      expect(read).toBeLessThan(LOOKED_AT + OPEN)
    },
  )
})
