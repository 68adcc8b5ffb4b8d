import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture } from '../../../../test/support/posture-fixtures.ts'

const DEVICES = 230

let api: ServiceApi

beforeAll(async () => {
  api = await createServiceApi()
  const posture = createPosture(api.db)
  await posture.insertDevice({ name: '=HYPERLINK("https://evil.example.com","click")' })
  for (let index = 1; index < DEVICES; index += 1) await posture.insertDevice({ name: `mac "${index}"` })
})

afterAll(() => api.close())

const download = (url: string, key = api.key) =>
  api.app.inject({ url, headers: { authorization: `Bearer ${key}` } })

describe('an export', () => {
  it('holds every record of the list, a line each, whatever the pages are, and no formula', async () => {
    const answer = await download('/exports/devices.csv')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="devices.csv"',
      'cache-control': 'no-store',
    })
    const lines = answer.body.split('\r\n')
    expect(lines[0]?.startsWith('\uFEFF"id","name"')).toBe(true)
    expect(lines).toHaveLength(DEVICES + 2)
    expect(lines[1]).toContain(`"'=HYPERLINK(""https://evil.example.com"",""click"")"`)
    expect(lines[DEVICES]).toContain(`"mac ""${DEVICES - 1}"""`)
  })

  it('holds what the search finds, and refuses a search that cannot be understood', async () => {
    const found = await download(`/exports/devices.csv?query=${encodeURIComponent('name:"mac \\"7\\""')}`)
    expect(found.body.split('\r\n')).toHaveLength(3)
    const refused = await download('/exports/devices.csv?query=nonsense:7')
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([400, 'invalid_search'])
  })

  it('is in the audit log, and answers nothing where its list is not found', async () => {
    const before = await api.db.selectFrom('audit_entry').select('sequence').execute()
    await download('/exports/people.csv')
    const entries = await api.db
      .selectFrom('audit_entry')
      .select(['action', 'description'])
      .orderBy('sequence', 'desc')
      .limit(1)
      .execute()
    expect(entries).toEqual([{ action: 'list.exported', description: 'exported /people' }])
    const missing = await download('/exports/live_query_campaigns/999/query_results.csv')
    expect(missing.statusCode).toBe(404)
    const after = await api.db.selectFrom('audit_entry').select('sequence').execute()
    expect(after).toHaveLength(before.length + 1)
  })
})
