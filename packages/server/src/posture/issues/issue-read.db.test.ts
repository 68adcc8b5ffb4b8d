import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck } from '../../../test/support/factories.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { ISSUE_LIST } from './issue-read.ts'

const DEVICES = 1_000
const RESOLVED = 50_000
/** What makes it quicker to read an index of all rows than the rows. */
const ROW = JSON.stringify({ path: '/Library'.repeat(50) })
/** Far more than a list looks at one by one. */
const OPEN = 20_000
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

/**
 * Until the index of when issues were resolved answers without their rows, as on a database that has run for a while.
 */
async function vacuum(): Promise<void> {
  await database.pool.query('vacuum (analyze) issue, device_round')
  const { rows } = await database.pool.query<{ isVisible: boolean }>(
    `select relallvisible = relpages as "isVisible" from pg_class where relname = 'issue'`,
  )
  expect(rows).toEqual([{ isVisible: true }])
}

const oldest = { afterId: undefined, limit: 101 }
const newest = { ...oldest, isDescending: true }

describe('issues that are resolved', () => {
  it.each([
    'open:false',
    'open:false AND exempted:false',
    'exempted:false AND open:false',
    'open:false AND updated_at<"2026-03-01"',
    'exempted:false AND resolved_at<"2026-02-01"',
    'exempted:false AND detected_at<"2026-02-01"',
    'resolved_at>"2026-01-12"',
    'resolved_at>"2026-01-12" AND exempted:false',
    'resolved_at>"2026-01-12" OR blocks_device_at>"2026-01-12"',
  ])(
    'are found, newest first, by when they were, and not by reading all that are: %s',
    async (search) => {
      const read = await countRowsRead(database, { list: ISSUE_LIST, search, window: newest })
      expect(read).toBeLessThan(LOOKED_AT + OPEN)
    },
  )
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

describe('open issues of devices that are silent since a time', () => {
  beforeAll(async () => {
    await sql`update device_round set ran_at = '2026-02-01Z' where device_id % 10 = 3`.execute(
      database.db,
    )
    await database.pool.query('vacuum (analyze) device_round')
  })

  const cases = ['last_rechecked_at', 'updated_at'].flatMap((field) => [
    // Before which all open ones were written, so that the first are in the order of the list.
    ['oldest', `${field}<"2026-03-01" AND open:true`] as const,
    ['oldest', `open:true AND exempted:false AND ${field}<"2026-03-01"`] as const,
    // Before which all were but more of the last than a list looks at one by one.
    ['newest', `${field}<"2026-02-15" AND open:true`] as const,
  ])

  it.each(cases)(
    'are found, %s first, without reading all open ones: %s',
    async (first, search) => {
      const window = first === 'newest' ? newest : oldest
      const read = await countRowsRead(database, { list: ISSUE_LIST, search, window })
      expect(read).toBeLessThan(LOOKED_AT + OPEN / 4)
    },
  )
})

describe('issues that changed after a time, or were detected after another', () => {
  // So many that PostgreSQL would ask for the round of each issue where it expects few issues.
  beforeAll(async () => {
    await sql`
      insert into device (host_identifier, name, platform, created_at, updated_at)
      select 'other' || n, 'device', 'darwin', now(), now() from generate_series(1, 50000) n`.execute(
      database.db,
    )
    await sql`
      insert into device_round (device_id, ran_at) select id, timestamptz '2026-04-01Z' from device
      where host_identifier like 'other%'`.execute(database.db)
    await database.pool.query('vacuum (analyze) device_round')
  })

  it.each(['updated_at', 'last_rechecked_at'])(
    'are found without reading all that follow earlier rounds: %s',
    async (field) => {
      const search = `detected_at>"2026-02-18T06:00:00Z" OR ${field}>"2026-05-01T00:00:00Z"`
      const read = await countRowsRead(database, { list: ISSUE_LIST, search, window: oldest })
      expect(read).toBeLessThan(LOOKED_AT)
    },
  )
})
