import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../test/support/api-app.ts'
import { reportingQueryRoutes } from './reporting-query-routes.ts'
import { syncReportingViews } from './reporting-view-store.ts'

const PATH = '/reporting/queries'

interface Saved {
  readonly id: number
  readonly name: string
  readonly osquery_sql: string
}
type Refusal = TestRefusal & { details?: { path: string }[] }

let api: TestApi
let key: string

beforeAll(async () => {
  api = await createTestApi(({ db, clock, runChange, sandbox }) =>
    reportingQueryRoutes({ db, clock, runChange, sandbox }),
  )
  await syncReportingViews(api.db)
  key = await api.createKey(['Manage Reporting'])
})
afterAll(() => api.close())

const send = <Body>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
  credential: string | null = key,
) =>
  api.request<Body>(url, {
    method,
    key: credential,
    ...(payload === undefined ? {} : { payload }),
  })

async function save(sql = 'select 1 as one'): Promise<Saved> {
  const { status, body } = await send<Saved>('POST', PATH, { name: 'One', sql })
  expect(status).toBe(200)
  return body
}

async function auditOf(action: string) {
  return api.db
    .selectFrom('audit_entry')
    .select(['sequence', 'target_id', 'before', 'after'])
    .where('action', '=', action)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
}

describe('saving a reporting query', () => {
  it('answers the query, which then has results, and is audited', async () => {
    const saved = await save()
    expect(saved).toEqual({
      id: expect.any(Number) as number,
      name: 'One',
      osquery_sql: 'select 1 as one',
      created_at: '2026-01-02T03:04:05.678Z',
    })
    const { body } = await api.request(`${PATH}/${saved.id}`)
    expect(body).toMatchObject({ result_count: 1, results: [{ one: 1 }] })
    expect(await auditOf('reporting_query.created')).toMatchObject({
      target_id: String(saved.id),
      after: { name: 'One', sql: 'select 1 as one' },
    })
  })

  it.each([
    ['nothing', {}, ['name', 'sql']],
    ['an empty name', { name: ' ', sql: 'select 1' }, ['name']],
    ['SQL that writes', { name: 'x', sql: 'delete from users' }, ['sql']],
    ['another table', { name: 'x', sql: 'select * from api_key' }, ['sql']],
    ['an unknown column', { name: 'x', sql: 'select nope from users' }, ['sql']],
    ['an unknown member', { name: 'x', sql: 'select 1', id: 5 }, ['id']],
  ])('is refused with %s, and nothing is written', async (_what, payload, paths) => {
    const count = () => api.db.selectFrom('reporting_query').select('id').execute()
    const before = await count()
    const { status, body } = await send<Refusal>('POST', PATH, payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details?.map(({ path }) => path)).toEqual(paths)
    expect(await count()).toEqual(before)
  })
})

describe('a saved reporting query', () => {
  let id: number
  beforeEach(async () => {
    id = (await save()).id
  })

  it('is changed with its results, and audited with before and after', async () => {
    await api.request(`${PATH}/${id}`)
    const { status, body } = await send<Saved>('PATCH', `${PATH}/${id}`, { sql: 'select 2 as two' })
    expect([status, body.osquery_sql, body.name]).toEqual([200, 'select 2 as two', 'One'])
    expect((await api.request(`${PATH}/${id}`)).body).toMatchObject({ results: [{ two: 2 }] })
    expect(await auditOf('reporting_query.updated')).toMatchObject({
      target_id: String(id),
      before: { name: 'One', sql: 'select 1 as one' },
      after: { name: 'One', sql: 'select 2 as two' },
    })
    expect((await send<Saved>('PUT', `${PATH}/${id}`, { name: 'Two' })).body.name).toBe('Two')
  })

  it('is left alone, without an audit entry, by a change of nothing', async () => {
    const before = await auditOf('reporting_query.updated')
    expect((await send('PATCH', `${PATH}/${id}`, { name: 'One' })).status).toBe(200)
    expect(await auditOf('reporting_query.updated')).toEqual(before)
  })

  it('keeps its SQL when the new one is refused', async () => {
    const { status } = await send('PATCH', `${PATH}/${id}`, { sql: 'select * from pg_shadow' })
    expect(status).toBe(422)
    expect((await api.request(`${PATH}/${id}`)).body).toMatchObject({ results: [{ one: 1 }] })
  })

  it('is deleted with its results, and answered once more', async () => {
    const { status, body } = await send<Saved>('DELETE', `${PATH}/${id}`)
    expect([status, body.id]).toEqual([200, id])
    expect((await send('DELETE', `${PATH}/${id}`)).status).toBe(404)
    expect(await auditOf('reporting_query.deleted')).toMatchObject({ before: { name: 'One' } })
  })

  it.each([
    ['POST', ''],
    ['PATCH', '/1'],
    ['PUT', '/1'],
    ['DELETE', '/1'],
  ] as const)('needs the permission for %s', async (method, suffix) => {
    const payload = method === 'DELETE' ? undefined : { name: 'x', sql: 'select 1' }
    const refused = await send<Refusal>(method, PATH + suffix, payload, api.key)
    expect(refused.status).toBe(403)
    expect(refused.body.message).toContain('Manage Reporting')
    expect((await send(method, PATH + suffix, payload, null)).status).toBe(401)
  })

  it.each(['abc', '0', '999999', '9'.repeat(40)])('is not found under %s', async (missing) => {
    expect((await send('PATCH', `${PATH}/${missing}`, { name: 'x' })).status).toBe(404)
    expect((await send('DELETE', `${PATH}/${missing}`)).status).toBe(404)
  })
})
