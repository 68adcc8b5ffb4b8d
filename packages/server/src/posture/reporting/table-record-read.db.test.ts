import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'
import { tableRecordList } from './table-record-read.ts'

const RECORDS = 30_000
/** Of these, so many in the last hour. */
const LATE = 4_000
/** What a list looks at one by one before anything else. */
const LOOKED_AT = 5_000

const table = REPORTING_TABLES.find(({ name }) => name === 'users')
if (table === undefined) throw new Error('there is no table of users')
const list = tableRecordList(table)

const database = await createTestDatabase()
afterAll(() => database.close())

beforeAll(async () => {
  const deviceId = await insertDevice(database.db)
  await database.pool.query(
    `insert into reporting_record (table_name, device_id, columns, collected_at)
    select 'users', $1, jsonb_build_object('username', 'user' || n),
      timestamptz '2026-03-01Z' + n * interval '1 second'
      + case when n > ${RECORDS - LATE} then interval '1 day' else '0' end
    from generate_series(1, ${RECORDS}) n order by n`,
    [deviceId],
  )
  await database.pool.query('vacuum (analyze) reporting_record')
})

it.each([
  ['collected_at>"2026-03-02T00:00:00Z"', false],
  ['collected_at<"2026-03-01T01:06:40Z"', true],
])(
  'records of a time at the other end of a table are found by their time: %s',
  async (search, isDescending) => {
    const window = { afterId: undefined, limit: 101, isDescending }
    const read = await countRowsRead(database, { list, search, window })
    expect(read).toBeLessThanOrEqual(LOOKED_AT + 2 * LATE)
  },
)

it.each([
  ['collected_at>"2026-03-01T01:40:00Z"', false],
  ['collected_at<"2026-03-01T06:48:00Z"', true],
])(
  'records of a time that most are of are not all read for a page: %s',
  async (search, isDescending) => {
    const window = { afterId: undefined, limit: 101, isDescending }
    const read = await countRowsRead(database, { list, search, window })
    expect(read).toBeLessThanOrEqual(RECORDS - 2_000)
  },
)
