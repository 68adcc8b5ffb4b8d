import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import {
  createPosture,
  ERROR,
  FAIL,
  PASS,
  type Posture,
} from '../../../test/support/posture-fixtures.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import { toPreparedDb } from '../../platform/db/database.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { ISSUE_LIST } from '../issues/issue-read.ts'
import { applyCheckScope } from './apply-check-scope.ts'
import { checkResultList, isResultOn } from './check-result-read.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
let passing: string
let failing: string
let device: string

beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check')
  posture = createPosture(db)
  passing = await posture.insertCheck()
  failing = await posture.insertCheck()
  device = await posture.insertDevice()
})

const fail = (path: string) => ({ KOLIDE_CHECK_STATUS: 'FAIL', path })
const WINDOW = { afterId: '0', limit: 100 }

/** A round an hour after the one before; answers its time. */
async function round(answers: Record<string, Record<string, string>[]> = {}): Promise<Date> {
  posture.clock.advance(HOUR_MS)
  await posture.report(device, { [passing]: PASS, [failing]: FAIL, ...answers })
  return posture.clock.now()
}

/** Where the rows of a table are: a row that is written is another version of itself. */
async function readVersions(table: string): Promise<unknown[]> {
  const { rows } = await sql<{ version: string }>`
    select ctid::text as version from ${sql.table(table)} order by 1`.execute(db)
  return rows
}

async function readResults(query?: string): Promise<Record<string, Date | null>> {
  const now = posture.clock.now()
  const list = checkResultList(now, new Date(now.getTime() - 24 * HOUR_MS))
  const search = query === undefined ? undefined : parseSearch(query, list.fields)
  const rows = await list.listPage(db, { search, window: WINDOW, scope: isResultOn(device) })
  return Object.fromEntries(rows.map((row) => [row.checkId, row.ranAt]))
}

async function readIssues(query?: string): Promise<Date[]> {
  const search = query === undefined ? undefined : parseSearch(query, ISSUE_LIST.fields)
  const rows = await ISSUE_LIST.listPage(db, { search, window: WINDOW })
  return rows.map((row) => row.lastRecheckedAt)
}

describe('a round that changes no status', () => {
  // The lock, what is stored, for other rows who is subscribed to what changed, and the commit.
  test.each([
    [3, 'everything as it was', PASS],
    [4, 'other rows', [{ KOLIDE_CHECK_STATUS: 'PASS', path: '/etc' }]],
  ])('is %i messages to the database when it finds %s', async (count, _, rows) => {
    const prepared = createPosture(toPreparedDb(db))
    await prepared.report(device, { [passing]: PASS, [failing]: PASS })
    const messages = await recordStatements(() =>
      prepared.report(device, { [passing]: rows, [failing]: PASS }),
    )
    expect(messages).toHaveLength(count)
  })
})

describe('a round that finds everything as it was', () => {
  test('writes its time and nothing else', async () => {
    await round()
    const tables = ['check_result', 'issue', 'device', 'check_counter', 'check_transition']
    const before = await Promise.all(tables.map(readVersions))
    const roundBefore = await readVersions('device_round')
    await round()
    expect(await Promise.all(tables.map(readVersions))).toEqual(before)
    expect(await readVersions('device_round')).not.toEqual(roundBefore)
  })

  test('is the time at which results ran and issues were rechecked', async () => {
    const first = await round()
    const second = await round()
    expect(await readResults()).toEqual({ [passing]: second, [failing]: second })
    expect(await readIssues()).toEqual([second])
    const between = new Date(first.getTime() + 1).toISOString()
    for (const field of ['ran_at', 'updated_at']) {
      expect(Object.keys(await readResults(`${field}>"${between}"`))).toHaveLength(2)
      expect(Object.keys(await readResults(`${field}<"${between}"`))).toHaveLength(0)
    }
    for (const field of ['last_rechecked_at', 'updated_at']) {
      expect(await readIssues(`${field}>"${between}"`)).toHaveLength(1)
      expect(await readIssues(`${field}<"${between}"`)).toHaveLength(0)
    }
    posture.clock.advance(25 * HOUR_MS)
    expect(Object.keys(await readResults('status:stale'))).toHaveLength(2)
    await round()
    expect(await readResults('status:stale')).toEqual({})
  })
})

describe('what changes is written, with its time', () => {
  test('a status, rows, and the value of an issue', async () => {
    await round({ [failing]: [fail('/a')] })
    const second = await round({ [failing]: [{ ...fail('/a'), size: '7' }] })
    const rows = await db.selectFrom('check_result').selectAll().orderBy('check_id').execute()
    expect(rows.map((row) => row.ran_at?.getTime() === second.getTime())).toEqual([false, true])
    expect(await db.selectFrom('issue').select(['value', 'last_rechecked_at']).execute()).toEqual([
      { value: { ...fail('/a'), size: '7' }, last_rechecked_at: second },
    ])
    const third = await round({ [failing]: PASS })
    expect(await readResults()).toEqual({ [passing]: third, [failing]: third })
    await round()
    expect((await readIssues())[0]).toEqual(third)
  })

  test('what another program has written since, although it knows of no rounds', async () => {
    await round()
    posture.clock.advance(HOUR_MS)
    await db
      .updateTable('check_result')
      .set({ rows: JSON.stringify(FAIL), ran_at: posture.clock.now() })
      .where('check_id', '=', passing)
      .execute()
    await round()
    const { rows } = await db
      .selectFrom('check_result')
      .select('rows')
      .where('check_id', '=', passing)
      .executeTakeFirstOrThrow()
    expect(rows).toEqual(PASS)
  })

  test('everything, when the clock was set back: nothing reads as later than it was', async () => {
    await round()
    posture.clock.advance(-6 * HOUR_MS)
    const second = await round()
    expect(await readResults()).toEqual({ [passing]: second, [failing]: second })
    expect(await readIssues()).toEqual([second])
  })
})

describe('what a round does not answer keeps the time of the last that did', () => {
  test('an answer of its own, and then the next round', async () => {
    await round()
    posture.clock.advance(HOUR_MS)
    const own = posture.clock.now()
    await posture.report(device, { [failing]: FAIL })
    expect(await readResults()).toMatchObject({ [failing]: own })
    expect(await readIssues()).toEqual([own])
    const third = await round()
    expect(await readResults()).toEqual({ [passing]: third, [failing]: third })
    expect(await readIssues()).toEqual([third])
  })

  test('a check that was paused, with its issues', async () => {
    await round()
    const last = await round()
    await db
      .updateTable('posture_check')
      .set({ paused_at: posture.clock.now() })
      .where('id', '=', failing)
      .execute()
    posture.clock.advance(HOUR_MS)
    const next = posture.clock.now()
    await posture.report(device, { [passing]: PASS })
    expect(await readResults()).toEqual({ [passing]: next, [failing]: last })
    expect(await readIssues()).toEqual([last])
  })

  test('an issue that an errored answer says nothing of', async () => {
    const first = await round()
    const second = await round({ [failing]: ERROR })
    expect(await readResults()).toMatchObject({ [failing]: second })
    expect(await readIssues()).toEqual([first])
  })

  test('an issue that is resolved because its check left the device', async () => {
    await round()
    const second = await round()
    posture.clock.advance(HOUR_MS)
    await posture.change(async (change) => {
      await change.tx
        .updateTable('posture_check')
        .set({ platforms: ['windows'] })
        .where('id', '=', failing)
        .execute()
      const cause = { initiatingEntity: 'admin', reason: 'The check is for others.' } as const
      await applyCheckScope(change, { checkIds: [failing] }, cause)
    })
    posture.clock.advance(HOUR_MS)
    await posture.report(device, { [passing]: PASS })
    expect(await readIssues()).toEqual([second])
    expect(await readResults()).toEqual({ [passing]: posture.clock.now(), [failing]: second })
  })
})
