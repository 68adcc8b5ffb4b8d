/* Which issues a search by their words finds: those of checks that say something else by now as well. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck } from '../../../test/support/factories.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { ISSUE_LIST } from './issue-read.ts'

const NOW = new Date('2026-01-10')

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let firewall: string
let disk: string

beforeAll(async () => {
  firewall = await insertCheck(db)
  disk = await insertCheck(db)
  await sql`
    insert into device (host_identifier, name, platform, created_at, updated_at)
    select 'host-' || n, 'device ' || n, 'darwin', ${NOW}, ${NOW} from generate_series(1, 6) n`.execute(
    db,
  )
  await open(firewall, [1, 2], 'The firewall is off', null)
  await open(disk, [1, 2], 'The disk is readable', 'volume')
  await open(firewall, [3], 'The wall is down', null)
  await open(disk, [3], 'The disk is readable', 'mount')
})

async function open(
  checkId: string,
  devices: readonly number[],
  title: string,
  key: string | null,
): Promise<void> {
  await sql`
    insert into issue (check_id, device_id, title, issue_key, issue_value, value, detected_at, last_rechecked_at,
      updated_at)
    select ${checkId}::bigint, id, ${title}::text, ${key}::text, ${key}::text || ' ' || id, '{}'::jsonb,
      ${NOW}::timestamptz, ${NOW}::timestamptz, ${NOW}::timestamptz
    from device where id = any(${devices}::bigint[]) order by id`.execute(db)
}

async function find(query: string): Promise<string[]> {
  const search = parseSearch(query, ISSUE_LIST.fields)
  const rows = await ISSUE_LIST.listPage(db, { search, window: { afterId: '0', limit: 100 } })
  return rows.map(({ title, issueKey, deviceId }) => `${title} ${issueKey} ${deviceId}`)
}

const OFF = ['The firewall is off null 1', 'The firewall is off null 2']
const DOWN = ['The wall is down null 3']
const VOLUME = ['The disk is readable volume 1', 'The disk is readable volume 2']
const MOUNT = ['The disk is readable mount 3']

it.each([
  ['title~"wall is"', [...OFF, ...DOWN]],
  ['title~"firewall"', OFF],
  ['title:"The wall is down"', DOWN],
  ['title~"of"', OFF],
  ['title~"cellar"', []],
  ['issue_key:"volume"', VOLUME],
  ['issue_key~"oun"', MOUNT],
  ['issue_key:"vol"', []],
  ['issue_value~"volume 2"', VOLUME.slice(1)],
  ['issue_key:"mount" OR title~"down"', [...DOWN, ...MOUNT]],
  ['title~"readable" AND issue_key~"mou"', MOUNT],
  ['(title~"cellar" OR issue_value:"volume 1") AND issue_key~"vol"', VOLUME.slice(0, 1)],
])('%s finds the issues with these words', async (query, meant) => {
  expect(await find(query)).toEqual(meant)
})

it('keeps the words of a check once, however many issues have them', async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from issue_wording where check_id in (${firewall}, ${disk})`.execute(
    db,
  )
  expect(rows).toEqual([{ count: 4 }])
})

it('forgets the words of a check that is deleted', async () => {
  const check = await insertCheck(db)
  await open(check, [4], 'Gone soon', null)
  await sql`delete from posture_check where id = ${check}`.execute(db)
  const { rows } = await sql`select from issue_wording where check_id = ${check}`.execute(db)
  expect(rows).toEqual([])
})
