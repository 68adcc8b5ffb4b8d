import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createConsoleSession } from '../../../../test/support/console-session.ts'
import { createPosture } from '../../../../test/support/posture-fixtures.ts'

const DEVICES = 230

let api: ServiceApi

beforeAll(async () => {
  api = await createServiceApi()
  const posture = createPosture(api.db)
  await posture.insertDevice({ name: '=HYPERLINK("https://evil.example.com","click")' })
  for (let index = 1; index < DEVICES; index += 1) {
    await posture.insertDevice({ name: `mac "${index}"` })
  }
})

afterAll(() => api.close())

const download = (url: string, key = api.key, method: 'GET' | 'HEAD' = 'GET') =>
  api.app.inject({ url, method, headers: { authorization: `Bearer ${key}` } })

const codeOf = (answer: { json: () => unknown }) => (answer.json() as { code?: string }).code

const listExported = async () =>
  api.db
    .selectFrom('audit_entry')
    .select(['description', 'after'])
    .where('action', '=', 'list.exported')
    .orderBy('recorded_at')
    .execute()

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

  it('has the order and the search of the list, and refuses what the list refuses', async () => {
    const query = encodeURIComponent('name~"mac"')
    const found = await download(`/exports/devices.csv?order=desc&query=${query}`)
    const lines = found.body.split('\r\n')
    expect(lines).toHaveLength(DEVICES + 1)
    expect(lines[1]).toContain(`"mac ""${DEVICES - 1}"""`)
    const refused = await download('/exports/devices.csv?query=nonsense:7')
    expect([refused.statusCode, codeOf(refused)]).toEqual([400, 'invalid_search'])
    expect((await download('/exports/devices.csv?cursor=x')).statusCode).toBe(400)
  })

  it('is in the audit log, and is none where its list is not found', async () => {
    const before = await listExported()
    await download('/exports/people.csv?query=name~ada')
    const missing = await download('/exports/live_query_campaigns/999/query_results.csv')
    expect(missing.statusCode).toBe(404)
    expect((await listExported()).slice(before.length)).toEqual([
      {
        description: 'exported /people with the search name~ada',
        after: { path: '/people', search: 'name~ada' },
      },
    ])
  })

  it('whose head is asked for is answered with nothing of it, and leaves no entry in the audit log', async () => {
    const before = await listExported()
    const head = await download('/exports/devices.csv', api.key, 'HEAD')
    expect([head.statusCode, head.body]).toEqual([200, ''])
    expect(head.headers['content-disposition']).toBe('attachment; filename="devices.csv"')
    expect(head.headers['content-length']).toBeUndefined()
    expect(await listExported()).toHaveLength(before.length)
    await download('/exports/devices.csv')
    expect(await listExported()).toHaveLength(before.length + 1)
  })

  it('needs what its list needs', async () => {
    const key = await api.createKey([])
    expect((await download('/exports/devices.csv', key)).statusCode).toBe(200)
    const refused = await download('/exports/webhooks.csv', key)
    expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'permission_missing'])
  })

  it('asks an admin for a step-up', async () => {
    const ask = async (isSteppedUp: boolean) => {
      const { headers } = await createConsoleSession(api.db, { isSteppedUp })
      return api.app.inject({ url: '/exports/devices.csv', headers })
    }
    expect(codeOf(await ask(false))).toBe('step_up_required')
    expect((await ask(true)).body.split('\r\n')).toHaveLength(DEVICES + 2)
  })

  it('gives its place back: after a whole file, the head of one, and a refusal', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect((await download('/exports/devices.csv')).statusCode).toBe(200)
      const head = await download('/exports/devices.csv', api.key, 'HEAD')
      expect([head.statusCode, head.body]).toEqual([200, ''])
      expect((await download('/exports/devices.csv?query=nonsense:7')).statusCode).toBe(400)
    }
  })

  it.each(['ssf_streams', 'webhooks', 'api_keys', 'audit_logs', 'reporting/tables'])(
    'exists for /%s',
    async (name) => {
      const key = await api.createKey([
        'Manage API Keys',
        'Manage Shared Signals Framework Streams',
        'Manage Webhooks',
      ])
      const answer = await download(`/exports/${name}.csv`, key)
      expect(answer.statusCode).toBe(200)
      expect(answer.body).toMatch(/^\uFEFF"/)
    },
  )

  it('exists for no list of the own sessions of an admin, and nothing that is no list', async () => {
    for (const name of ['console/session/sessions', 'organisation', 'ssf/jwks.json']) {
      expect((await download(`/exports/${name}.csv`)).statusCode).toBe(404)
    }
  })
})
