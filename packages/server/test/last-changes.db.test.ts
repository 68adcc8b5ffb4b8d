/*
 * Sign-ins and issues by the time of their last change, which no index is in the order of, newest first: what a page
 * holds, wherever it begins, and that it is found without reading all rows of the list. Rows are counted by PostgreSQL
 * itself.
 */
import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertFleet } from '../bench/fleet-store.ts'
import { insertHistory } from '../bench/history-store.ts'
import { createAuditChainer } from '../src/changes/audit/chain/audit-chainer.ts'
import { hasUnsettledEntries } from '../src/changes/audit/chain/chain-store.ts'
import { AUDIT_LIST } from '../src/changes/audit/audit-read.ts'
import { ISSUE_LIST } from '../src/posture/issues/issue-read.ts'
import type { ListPage } from '../src/platform/search/record-list.ts'
import type { SearchField } from '../src/platform/search/search-field.ts'
import { parseSearch } from '../src/platform/search/parse-search.ts'
import { AUTH_LOG_LIST } from '../src/sign-in/journal/auth-log-read.ts'
import { createTestDatabase } from './support/database.ts'
import { countRowsRead } from './support/rows-read.ts'

const ROWS = 40_000
/**
 * Those at the start of a page, those that are likely to match, and some ranges of pages; a half of the list is more.
 */
const ROWS_READ_MAX = 14_000
const LIMIT = 101
const DEVICES = 3_989
/**
 * Which devices were silent since a time is looked for twice at most, and each row of a page of issues has its round.
 */
const ROUNDS_READ_MAX = 2 * DEVICES + LIMIT

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

beforeAll(async () => {
  const fleet = { devices: DEVICES, people: 500, resultsPerDevice: 4, issues: ROWS, transitions: 1 }
  await insertFleet(db, fleet)
  await insertHistory(db, { ...fleet, authLogs: ROWS, auditEntries: ROWS })
  const chainer = createAuditChainer(db, { logError: () => undefined })
  // Entries are settled, and their descriptions summarised, when every transaction of the server before them has ended.
  do await chainer.flush()
  while (await hasUnsettledEntries(db))
  // Some changed long after, and some before they began, by the clock of another server.
  await sql`update auth_log_session set updated_at = started_at
    + case when id % 2 = 0 then interval '90 days' else interval '-2 days' end
    where id % 10000 in (7, 8)`.execute(db)
  await sql`update issue set updated_at = now() where id % 10000 = 9`.execute(db)
  await sql`vacuum analyze auth_log_session, issue, device_round, audit_entry, audit_description_block`.execute(
    db,
  )
})

/** The time of the last change of each record, as it reads. */
const CHANGES = {
  'sign-ins': sql`select id, updated_at from auth_log_session`,
  issues: sql`select issue.id, case when follows_round and resolved_at is null
      then greatest(updated_at, ran_at) else updated_at end as updated_at
    from issue join device_round on device_round.device_id = issue.device_id`,
}

interface ReadList<Row> {
  readonly fields: readonly SearchField[]
  listPage(of: typeof db, page: ListPage): Promise<Row[]>
  keyOf(row: Row): string
}

function toKeys<Row>(list: ReadList<Row>) {
  return (query: string, window: Window) => async (of: typeof db) => {
    const rows = await list.listPage(of, { search: parseSearch(query, list.fields), window })
    return rows.map((row) => list.keyOf(row))
  }
}

const LISTS = {
  'sign-ins': toKeys(AUTH_LOG_LIST),
  issues: toKeys(ISSUE_LIST),
  'audit entries': toKeys(AUDIT_LIST),
}

interface Window {
  readonly afterId: string | undefined
  readonly limit: number
  readonly isDescending: boolean
}

interface RowsRead {
  readonly rows: number
  /** Those of the rounds of devices, which are few bytes each. */
  readonly rounds: number
}

/** The page, and how many rows were read for it. */
async function countRows(read: (of: typeof db) => Promise<readonly string[]>) {
  return db.transaction().execute(async (tx) => {
    const before = await countRowsSoFar(tx)
    const ids = await read(tx)
    const after = await countRowsSoFar(tx)
    return { ids, rows: after.rows - before.rows, rounds: after.rounds - before.rounds }
  })
}

async function countRowsSoFar(tx: typeof db): Promise<RowsRead> {
  const count = (isRound: boolean) => sql<number>`(
    select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::float8 from pg_stat_xact_user_tables
    where (relname = 'device_round') = ${isRound})`
  const { rows } = await sql<RowsRead>`
    select ${count(false)} as rows, ${count(true)} as rounds`.execute(tx)
  return rows[0] ?? { rows: 0, rounds: 0 }
}

async function selectIds(
  changes: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
  { afterId, limit, isDescending }: Window,
): Promise<string[]> {
  const isBehind = isDescending ? sql`id < ${afterId}` : sql`id > ${afterId}`
  const { rows } = await sql<{ id: string }>`
    select id from (${changes}) record
    where ${condition} and ${afterId === undefined ? sql`true` : isBehind}
    order by ${isDescending ? sql`id desc` : sql`id`} limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const names = ['sign-ins', 'issues'] as const

describe('sign-ins after a time', () => {
  it('are found, newest first, without reading those before the page, also on the last page', async () => {
    const afterId = String(ROWS / 10)
    const { rows } = await sql<{ time: Date }>`
      select started_at as time from auth_log_session where id = ${afterId}::bigint - 50`.execute(
      db,
    )
    const search = `timestamp>"${rows[0]?.time.toISOString() ?? ''}"`
    const window = { afterId, limit: LIMIT, isDescending: true }
    const read = await countRowsRead(database, { list: AUTH_LOG_LIST, search, window })
    expect(read).toBeLessThan(ROWS_READ_MAX)
  })
})

describe('what meets one of two conditions, of which one is a time', () => {
  const cases = [
    ['sign-ins', `city:nowhere OR updated_at<"${daysAgo(100)}"`],
    ['sign-ins', `timestamp<"${daysAgo(100)}" OR updated_at<"${daysAgo(100)}"`],
    ['sign-ins', `updated_at<"${daysAgo(2)}" AND timestamp<"${daysAgo(100)}"`],
    ['issues', `issue_value~nothing OR detected_at<"${daysAgo(100)}"`],
    ['issues', `open:false OR issue_value~nothing`],
    ['audit entries', `actor_name:nobody OR timestamp<"${daysAgo(300)}"`],
    ['audit entries', `actor_name:"Ada Lovelace" AND timestamp<"${daysAgo(300)}"`],
    ['audit entries', `description~SN000000 OR timestamp<"${daysAgo(300)}"`],
  ] as const
  const laterCases = [
    ['sign-ins', `city:nowhere OR timestamp>"${daysAgo(150)}"`],
    ['sign-ins', `person_name:nobody OR timestamp>"${daysAgo(150)}"`],
    ['audit entries', `actor_name:nobody OR timestamp>"${daysAgo(300)}"`],
    ['audit entries', `description~nothing OR timestamp>"${daysAgo(300)}"`],
  ] as const

  it.each(cases)(
    'is found, newest first, without reading all that does: %s, %s',
    async (name, query) => {
      const window = { afterId: undefined, limit: LIMIT, isDescending: true }
      const { ids, rows } = await countRows(LISTS[name](query, window))
      expect(ids).toHaveLength(LIMIT)
      expect(rows).toBeLessThan(ROWS_READ_MAX)
    },
  )

  it.each(laterCases)(
    'is found, oldest first, without reading all that does: %s, %s',
    async (name, query) => {
      const window = { afterId: undefined, limit: LIMIT, isDescending: false }
      const { ids, rows } = await countRows(LISTS[name](query, window))
      expect(ids).toHaveLength(LIMIT)
      expect(rows).toBeLessThan(ROWS_READ_MAX)
    },
  )
})

describe.each(names)('%s that changed last', (name) => {
  const starts = [undefined, String(ROWS / 10), String(ROWS / 2), String(ROWS - 1_000)]
  const cases = [300, 90, 2].flatMap((days) => starts.map((start) => [days, start] as const))

  it.each(cases)(
    'before and after %i days ago, from %s on, in both orders',
    async (days, afterId) => {
      for (const isDescending of [true, false]) {
        const window = { afterId, limit: LIMIT, isDescending }
        const [time, later] = [daysAgo(days), daysAgo(days - 1)]
        const searches = [
          [`updated_at<"${time}"`, sql`updated_at < ${time}`],
          [`updated_at>"${time}"`, sql`updated_at > ${time}`],
          [
            `updated_at>"${time}" AND updated_at<"${later}"`,
            sql`updated_at > ${time} and updated_at < ${later}`,
          ],
        ] as const
        for (const [query, condition] of searches) {
          const { ids } = await countRows(LISTS[name](query, window))
          expect(ids, query).toEqual(await selectIds(CHANGES[name], condition, window))
        }
      }
    },
  )

  it('before a time in the middle are found without reading all that did', async () => {
    const window = { afterId: undefined, limit: LIMIT, isDescending: true }
    const { ids, rows, rounds } = await countRows(
      LISTS[name](`updated_at<"${daysAgo(100)}"`, window),
    )
    expect(ids).toHaveLength(LIMIT)
    expect(rows).toBeLessThan(ROWS_READ_MAX)
    expect(rounds).toBeLessThanOrEqual(ROUNDS_READ_MAX)
  })
})
