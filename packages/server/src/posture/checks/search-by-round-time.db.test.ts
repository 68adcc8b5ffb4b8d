/*
 * Which results and issues a search by a time finds, behind more rows than a list looks at one by one: those
 * whose time, as it reads, is before or after. It reads as the later of the row's own and that of the round it follows.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck } from '../../../test/support/factories.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import type { RecordList } from '../../platform/search/record-list.ts'
import type { Schema } from '../../schema/schema.ts'
import { ISSUE_LIST } from '../issues/issue-read.ts'
import { checkResultList, isResultOf } from './check-result-read.ts'

/** More than either list looks at one by one. */
const NEAR_ROWS = 5_100
const DAYS = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04'] as const
const [, SECOND, THIRD] = DAYS
const NOW = new Date('2026-01-10')
const PAGE = 7
/** Results that are looked at one by one, and those that have a time of their own. */
const RESULTS_READ_MAX = 1_500
/** More pages than the combinations fill. */
const PAGES_MAX = 20

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let check: string
let external: string

beforeAll(async () => {
  check = await insertCheck(db)
  external = await insertCheck(db, { type: 'external' })
  await insertRows()
  await sql`analyze`.execute(db)
})

/** Each combination of a time of its own, a time of the round, and whether the row follows it, after many others. */
async function insertRows(): Promise<void> {
  await sql`
    insert into device (host_identifier, name, platform, created_at, updated_at)
    select 'host-' || n, 'device ' || n, 'darwin', ${NOW}, ${NOW}
    from generate_series(1, ${NEAR_ROWS + 400}::int) n order by n`.execute(db)
  await sql`
    create table combination as
    select row_number() over (order by seed) + ${NEAR_ROWS}::int as device_id, combination.*
    from (
      select md5(own || follows::text || status || round) as seed, *
      from unnest(${[...DAYS]}::timestamptz[]) own, unnest(${[...DAYS]}::timestamptz[]) round,
        unnest(array[true, false]) follows,
        unnest(array['passing', 'failing', 'pending', 'out_of_scope']) status
    ) combination`.execute(db)
  await sql`
    insert into device_round (device_id, ran_at)
    select id, ${SECOND}::timestamptz - interval '5 days' from device where id <= ${NEAR_ROWS}
    union all select device_id, round from combination`.execute(db)
  await sql`
    insert into check_result (device_id, check_id, status, revision, ran_at, status_changed_at,
      updated_at, follows_round)
    select id, checks.check_id, 'passing', 1, '2025-12-01'::timestamptz,
      '2025-12-01'::timestamptz, '2025-12-01'::timestamptz, true
    from device cross join unnest(array[${check}, ${external}]::bigint[]) checks(check_id)
    where id <= ${NEAR_ROWS}
    union all
    select device_id, checks.check_id, status, 1, own, own, own, follows
    from combination cross join unnest(array[${check}, ${external}]::bigint[]) checks(check_id)
    where (own <= round or not follows) and (checks.check_id = ${check}::bigint or not follows)
    order by 1, 2`.execute(db)
  await sql`
    insert into issue (check_id, device_id, title, value, detected_at, last_rechecked_at, updated_at,
      resolved_at, follows_round)
    select ${check}::bigint, id, 'Old', '{}'::jsonb, '2025-12-01'::timestamptz, '2025-12-01'::timestamptz,
      '2025-12-01'::timestamptz, '2025-12-01'::timestamptz, false
    from device where id <= ${NEAR_ROWS}
    union all
    select ${check}::bigint, device_id, 'New', '{}'::jsonb, own, own, own,
      case when status = 'passing' then '2026-01-20'::timestamptz end, follows
    from combination
    order by 2`.execute(db)
}

/** Moves the times of the rows before the combinations, so that searches find them or not. */
async function moveOthers(day: string): Promise<void> {
  await sql`update device_round set ran_at = ${day} where device_id <= ${NEAR_ROWS}`.execute(db)
  await sql`update issue set last_rechecked_at = ${day}, updated_at = ${day}
    where device_id <= ${NEAR_ROWS}`.execute(db)
}

/** The ids that the first pages of a search hold, in their order. */
async function findIds<Row extends object>(
  list: RecordList<Schema, Row>,
  query: string,
  scope?: ReturnType<typeof isResultOf>,
  isDescending = false,
): Promise<string[]> {
  const ids: string[] = []
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const window = { afterId: ids.at(-1), limit: PAGE, isDescending }
    const search = parseSearch(query, list.fields)
    const rows = await list.listPage(db, { search, window, scope })
    ids.push(...rows.map((row) => list.keyOf(row)))
    if (rows.length < PAGE) break
  }
  return ids
}

async function selectIds(rows: ReturnType<typeof sql>, isDescending = false): Promise<string[]> {
  const order = sql.raw(isDescending ? 'desc' : 'asc')
  const found = await sql<{ id: string }>`
    ${rows} order by id ${order} limit ${PAGES_MAX * PAGE}`.execute(db)
  return found.rows.map(({ id }) => id)
}

const comparisons = [SECOND, THIRD, '2025-12-30', '2026-02-01'].flatMap((day) => [
  [':', day] as const,
  ['<', day] as const,
  ['>', day] as const,
])

describe.each(['2025-12-01', '2026-01-05'])('behind others of %s', (day) => {
  beforeAll(() => moveOthers(day))

  describe('results of a check', () => {
    const resultsOf = (checkId: string) => sql`
    select result.id, result.status, posture_check.type,
      greatest(result.ran_at, case when follows_round then round.ran_at end) as ran_at,
      greatest(result.updated_at, case when follows_round then round.ran_at end) as updated_at
    from check_result result
    join posture_check on posture_check.id = result.check_id
    join device_round round on round.device_id = result.device_id
    where check_id = ${checkId}`
    const cases = ['ran_at', 'updated_at'].flatMap((field) =>
      comparisons.map(([operator, day]) => [field, operator, day] as const),
    )

    it.each(cases)('by %s%s%s', async (field, operator, day) => {
      const list = checkResultList(NOW, NOW)
      const expected = await selectIds(sql`
      select id from (${resultsOf(check)}) result
      where ${sql.ref(field)} ${sql.raw(operator === ':' ? '=' : operator)} ${day}::timestamptz`)
      expect(await findIds(list, `${field}${operator}"${day}"`, isResultOf(check))).toEqual(
        expected,
      )
    })

    it.each([
      ['stale', 'check'],
      ['passing', 'check'],
      ['pending', 'check'],
      ['stale', 'external'],
      ['failing', 'external'],
    ])('by the status %s of a check that is %s', async (status, which) => {
      const checkId = which === 'check' ? check : external
      const before = new Date(THIRD)
      const expected = await selectIds(sql`
      select id from (${resultsOf(checkId)}) result
      where ${status} = case when ran_at < ${before} and type <> 'external'
        and status not in ('pending', 'out_of_scope') then 'stale' else status end`)
      const list = checkResultList(NOW, before)
      const found = await findIds(list, `status:${status}`, isResultOf(checkId))
      expect(found).toEqual(expected)
    })
  })

  describe('results by a time and whether they are stale', () => {
    const before = new Date(THIRD)
    const list = checkResultList(NOW, before)
    const cases = ['ran_at', 'updated_at'].flatMap((field) =>
      (['AND', 'OR'] as const).flatMap((join) =>
        comparisons.map(([operator, time]) => [field, operator, time, join] as const),
      ),
    )

    it.each(cases)('%s%s%s %s stale', async (field, operator, time, join) => {
      const isTime = sql`${sql.ref(field)} ${sql.raw(operator === ':' ? '=' : operator)} ${time}::timestamptz`
      const isStale = sql`(ran_at < ${before} and type <> 'external' and status not in ('pending', 'out_of_scope'))`
      const expected = await selectIds(sql`
        select id from (
          select result.id, result.status, posture_check.type,
            greatest(result.ran_at, case when follows_round then round.ran_at end) as ran_at,
            greatest(result.updated_at, case when follows_round then round.ran_at end) as updated_at
          from check_result result
          join posture_check on posture_check.id = result.check_id
          join device_round round on round.device_id = result.device_id
        ) result where ${isTime} ${sql.raw(join)} ${isStale}`)
      const query = `${field}${operator}"${time}" ${join} status:stale`
      expect(await findIds(list, query)).toEqual(expected)
    })

    it('are found without reading those of which one is so and the other is not', async () => {
      const read = (search: string, isDescending: boolean) =>
        countRowsRead(database, {
          list: checkResultList(NOW, new Date('2026-01-06')),
          search,
          window: { afterId: undefined, limit: PAGE, isDescending },
        })
      for (const isDescending of [false, true]) {
        for (const search of [
          'ran_at>"2026-02-01" AND status:stale',
          'status:stale AND ran_at>"2026-02-01" AND updated_at>"2026-02-01"',
        ]) {
          expect(await read(search, isDescending), search).toBeLessThan(RESULTS_READ_MAX)
        }
      }
    })
  })

  describe('issues', () => {
    const issues = sql`
    select issue.id, detected_at, greatest(last_rechecked_at, later) as last_rechecked_at,
      greatest(updated_at, later) as updated_at
    from (
      select issue.*, case when follows_round and resolved_at is null then round.ran_at end as later
      from issue join device_round round on round.device_id = issue.device_id
    ) issue`
    const cases = ['last_rechecked_at', 'updated_at'].flatMap((field) =>
      comparisons.map(([operator, day]) => [field, operator, day] as const),
    )

    it.each(cases)('by %s%s%s', async (field, operator, day) => {
      const expected = await selectIds(sql`
      select id from (${issues}) issue
      where ${sql.ref(field)} ${sql.raw(operator === ':' ? '=' : operator)} ${day}::timestamptz`)
      expect(await findIds(ISSUE_LIST, `${field}${operator}"${day}"`)).toEqual(expected)
    })

    const pairs = [
      ['detected_at', 'updated_at'],
      ['updated_at', 'last_rechecked_at'],
    ].flatMap((fields) =>
      (['AND', 'OR'] as const).flatMap((join) =>
        [false, true].map((isDescending) => ({ fields, join, isDescending })),
      ),
    )

    it.each(pairs)('by two times of $fields joined by $join', async (pair) => {
      for (const [operator, other] of ['>>', '<>', '><', '<<'] as const) {
        const [one, two] = [`${pair.fields[0]}${operator}`, `${pair.fields[1]}${other}`]
        const condition = `${one}'${SECOND}' ${pair.join} ${two}'${THIRD}'`
        const expected = await selectIds(
          sql`select id from (${issues}) issue where ${sql.raw(condition)}`,
          pair.isDescending,
        )
        const query = condition.replaceAll("'", '"')
        const found = await findIds(ISSUE_LIST, query, undefined, pair.isDescending)
        expect(found, query).toEqual(expected)
      }
    })
  })
})
