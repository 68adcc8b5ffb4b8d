import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { AUTH_LOG_LIST } from './auth-log-read.ts'

const SIGN_INS = 20_000
/** What a list looks at one by one before anything else. */
const LOOKED_AT = 5_000
/** In a few ranges of pages: the last one, which has no summary yet, and those that have a text, or may have it. */
const IN_RANGES = 4_000

const database = await createTestDatabase()
afterAll(() => database.close())

beforeAll(async () => {
  // None at either end, so that a page is not full with those that are looked at one by one.
  await database.pool.query(`
    insert into auth_log_session (started_at, person_name, person_email, result, agent_version, city,
      country, browser_name, browser_version, browser_user_agent, issues_displayed, events, txn, updated_at)
    select at, case when n between 10000 and 10009 then 'Robin' else 'Robin ' || n % 400 end,
      'robin@example.com', 'Success', '5.1.' || n % 7, 'Graz', 'Austria', 'Chrome', '140.0', '', '[]', '[]', 'txn', at
    from (
      select n, timestamptz '2026-01-01Z' + n * interval '1 minute' as at
      from generate_series(1, ${SIGN_INS}) n
    ) as one order by n`)
  await database.pool.query('vacuum (analyze) auth_log_session')
})

describe('sign-ins by a text whose words all of them have', () => {
  it.each([
    'person_name:robin',
    'person_name:Robin',
    'agent_version:"5.1"',
    'city:graz',
    'country:austria',
    'browser_name:chrome',
  ])('are found without reading those that have another text: %s', async (search) => {
    for (const isDescending of [false, true]) {
      const window = { afterId: undefined, limit: 101, isDescending }
      const read = await countRowsRead(database, { list: AUTH_LOG_LIST, search, window })
      expect(read).toBeLessThanOrEqual(LOOKED_AT + IN_RANGES)
    }
  })
})

describe('sign-ins by a whole text that none has, beside something else', () => {
  it.each([
    'person_name:robin AND city:Graz',
    'city:graz AND (result:Success OR country~"zz")',
    'person_name:"" OR agent_version:"5.1"',
    '(country:austria AND city~"x") OR browser_name:chrome',
  ])('are none at once: %s', async (search) => {
    for (const isDescending of [false, true]) {
      const window = { afterId: undefined, limit: 101, isDescending }
      const read = await countRowsRead(database, { list: AUTH_LOG_LIST, search, window })
      expect(read).toBeLessThanOrEqual(LOOKED_AT + IN_RANGES)
    }
  })

  it('are those that meet the other side of an OR', async () => {
    const { fields } = AUTH_LOG_LIST
    const search = parseSearch('person_name:robin OR (person_name:Robin AND city:Graz)', fields)
    const window = { afterId: undefined, limit: 101 }
    const found = await AUTH_LOG_LIST.listPage(database.db, { search, window })
    expect(found.map(({ personName }) => personName)).toEqual(Array(10).fill('Robin'))
  })
})
