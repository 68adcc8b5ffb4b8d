import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { toPreparedDb } from '../../platform/db/database.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { createReportingQuery, removeReportingQuery } from './create-reporting-query.ts'
import { recordReportingSnapshot } from './record-reporting-snapshot.ts'
import { reportingQueryRoutes } from './reporting-query-routes.ts'
import { syncReportingViews } from './reporting-view-store.ts'

const ORIGIN = { actor: SYSTEM_ACTOR }

describe('reporting queries', () => {
  let api: TestApi
  let deviceId: string
  let unixTime = 1_000

  beforeAll(async () => {
    api = await createTestApi(({ db, clock, runChange, sandbox }) =>
      reportingQueryRoutes({ db, clock, runChange, sandbox }),
    )
    await syncReportingViews(api.db)
    deviceId = await insertDevice(api.db, { name: 'reporter' })
  })

  afterAll(() => api.close())

  const report = (
    tableName: string,
    rows: readonly OsqueryRow[],
    at = (unixTime += 1),
    runChange = api.runChange,
  ) =>
    runChange(ORIGIN, (change) =>
      recordReportingSnapshot(
        change.tx,
        { deviceId, tableName, unixTime: at, epoch: 0, counter: 0, rows },
        change.at,
      ),
    )
  const save = (name: string, sql: string) =>
    api.runChange(ORIGIN, (change) => createReportingQuery(change, { name, sql }))
  const get = (path: string) => api.request<Record<string, unknown>>(path)
  const listRecords = () =>
    api.db
      .selectFrom('reporting_record')
      .select(['id', 'columns'])
      .where('device_id', '=', deviceId)
      .orderBy('id')
      .execute()

  it('keeps the latest snapshot of a device, whatever comes late or twice', async () => {
    await report('users', [{ uid: '1', username: 'old' }], 10)
    await report('users', [{ uid: '2', username: 'new', unknown_column: 'x' }], 12)
    const records = await listRecords()
    await report('users', [{ uid: '1', username: 'late' }], 11)
    await report('users', [{ uid: '2', username: 'new' }], 12)
    await report('users', [{ uid: '2', username: 'new' }], 13)
    expect(await listRecords()).toEqual(records)
    expect(records).toHaveLength(1)
    expect(records[0]?.columns).toMatchObject({ uid: '2', username: 'new' })
    expect(records[0]?.columns).not.toHaveProperty('unknown_column')
  })

  it('keeps the records of the rows that are reported again, as many as there are of each', async () => {
    const names = ['b', 'a', 'b', 'c', 'b']
    const toRows = (list: readonly string[]) => list.map((name) => ({ name, version: '1' }))
    const read = async () => {
      const records = await listRecords()
      return records.flatMap(({ id, columns }) =>
        'arch' in columns ? [{ id, name: columns['name'] }] : [],
      )
    }
    await report('deb_packages', toRows(names))
    const before = await read()
    expect(before.map(({ name }) => name)).toEqual(names)
    await report('deb_packages', toRows(['d', 'b', 'b', 'a', 'd']))
    const after = await read()
    expect(after.map(({ name }) => name)).toEqual(['b', 'a', 'b', 'd', 'd'])
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3))
    await report('deb_packages', [])
    expect(await read()).toEqual([])
  })

  it('goes by the order of arrival when the clock of a device was set right', async () => {
    const yearAhead = 1_000_000_000
    await report('users', [{ uid: '3', username: 'from the future' }], yearAhead)
    api.clock.advance(HOUR_MS)
    await report('users', [{ uid: '4', username: 'right again' }], (unixTime += 1))
    const records = await listRecords()
    expect(records.at(-1)?.columns).toMatchObject({ username: 'right again' })
    expect(records.some(({ columns }) => columns['username'] === 'from the future')).toBe(false)
  })

  it('ignores tables that it does not know', async () => {
    await report('no_such_table', [{ a: '1' }])
    expect(await listRecords()).toHaveLength(1)
  })

  it('takes two statements for a snapshot that has changed, and one for one that has not', async () => {
    const count = async (rows: readonly OsqueryRow[], at: number) => {
      const statements = await recordStatements(() => report('groups', rows, at))
      return statements.filter(({ text }) => text.includes('reporting_')).length
    }
    expect(await count([{ gid: '1' }], 10)).toBe(2)
    expect(await count([{ gid: '2' }], 11)).toBe(2)
    expect(await count([{ gid: '2' }], 12)).toBe(1)
    expect(await count([{ gid: '3' }], 11)).toBe(1)
  })

  it('takes a snapshot in two messages: its rows go along with the commit', async () => {
    const runChange = createChangeRunner(toPreparedDb(api.db), api.clock, [])
    const reportPrepared = (path: string, at: number) => report('mounts', [{ path }], at, runChange)
    await reportPrepared('/a', 10)
    const messages = await recordStatements(() => reportPrepared('/b', 11))
    expect(messages.map(({ text }) => text.split('; ').at(-1))).toEqual([
      expect.stringContaining('insert into reporting_snapshot'),
      'commit',
    ])
    expect((await listRecords()).at(-1)?.columns).toMatchObject({ path: '/b' })
  })

  it('answers a query with its results, numbers as numbers and odd numbers as null', async () => {
    await report('uptime', [{ days: '3', hours: 'many', minutes: '1', total_seconds: '1' }])
    const { id } = await save('Uptime', 'select device_name, days, hours from uptime')
    const { status, body } = await get(`/reporting/queries/${id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: Number(id),
      name: 'Uptime',
      result_count: 1,
      results: [{ device_name: 'reporter', days: 3, hours: null }],
    })
  })

  it('answers numbers as the database has them, however many digits they have', async () => {
    await report('uptime', [{ days: '3', hours: '1', minutes: '1', total_seconds: '1' }])
    const numbers = '9007199254740990 + days as large, 0.12345678901234567890 as exact'
    const { id } = await save('Large', `select ${numbers} from uptime`)
    for (const path of ['', '/results']) {
      const url = `/reporting/queries/${id}${path}`
      const headers = { authorization: `Bearer ${api.key}` }
      const { body } = await api.app.inject({ url, headers })
      expect(body).toContain('"large":9007199254740993')
      expect(body).toContain('"exact":0.12345678901234567890')
    }
  })

  it.each(['1', 'true'])('leaves the results out with omit_results=%s', async (value) => {
    const { id } = await save('Users', 'select username from users')
    const { body } = await get(`/reporting/queries/${id}?omit_results=${value}`)
    expect(body).toMatchObject({ result_count: 1 })
    expect(body).not.toHaveProperty('results')
    const list = await get(`/reporting/queries?omit_results=${value}`)
    const data = list.body['data'] as object[]
    expect(data.some((query) => 'results' in query)).toBe(false)
  })

  it('pages through one result although the data changes meanwhile', async () => {
    await report(
      'deb_packages',
      Array.from({ length: 60 }, (_, index) => ({ name: `p${index}` })),
    )
    const { id } = await save('Packages', 'select name from deb_packages order by record_id')
    const first = await get(`/reporting/queries/${id}/results?per_page=50`)
    await report('deb_packages', [{ name: 'other' }])
    api.clock.advance(2 * MINUTE_MS)
    await get(`/reporting/queries/${id}`)
    const next = (first.body['pagination'] as { next_cursor: string }).next_cursor
    const second = await get(`/reporting/queries/${id}/results?cursor=${next}`)
    expect(second.body['data']).toEqual(
      Array.from({ length: 10 }, (_, index) => ({ name: `p${index + 50}` })),
    )
    const fresh = await get(`/reporting/queries/${id}/results`)
    expect(fresh.body['data']).toEqual([{ name: 'other' }])
  })

  it('tells what is wrong with a query that fails on the data, and what it is', async () => {
    const { id } = await save('Broken', 'select name::int from deb_packages')
    const { status, body } = await get(`/reporting/queries/${id}`)
    expect(status).toBe(409)
    expect(body['message']).toMatch(/invalid input syntax for type integer/)
    const definition = await get(`/reporting/queries/${id}?omit_results=true`)
    expect(definition).toMatchObject({
      status: 200,
      body: {
        osquery_sql: 'select name::int from deb_packages',
        result_count: 0,
        error: body['message'],
      },
    })
    expect(definition.body).not.toHaveProperty('results')
    await api.runChange(ORIGIN, (change) => removeReportingQuery(change, id))
  })

  it('answers 404 for a query that does not exist and 401 without a key', async () => {
    expect((await get('/reporting/queries/999')).status).toBe(404)
    expect((await get('/reporting/queries/x/results')).status).toBe(404)
    const response = await api.request('/reporting/queries', { key: null })
    expect(response.status).toBe(401)
  })
})
