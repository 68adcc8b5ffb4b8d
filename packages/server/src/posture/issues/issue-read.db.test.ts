import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck } from '../../../test/support/factories.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { ISSUE_LIST } from './issue-read.ts'

const RESOLVED = 20_000
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
    values ('host', 'device', 'darwin', now(), now())`.execute(database.db)
  await sql`
    insert into issue (check_id, device_id, title, issue_value, value, detected_at, last_rechecked_at, updated_at,
      resolved_at)
    select ${check}::bigint, device.id, 'Issue', n, '{}', ${at}, ${at}, ${at},
      case when not (${isOpen}) then ${at} + interval '5 days' end
    from device, generate_series(1, ${RESOLVED + OPEN}::int) n order by n`.execute(database.db)
  await database.pool.query('vacuum (analyze) issue')
})

describe('issues that are resolved', () => {
  it('are found, newest first, by when they were, and not by reading all that are', async () => {
    const window = { afterId: undefined, limit: 101, isDescending: true }
    const read = await countRowsRead(database, { list: ISSUE_LIST, search: 'open:false', window })
    expect(read).toBeLessThan(LOOKED_AT + OPEN)
  })
})
