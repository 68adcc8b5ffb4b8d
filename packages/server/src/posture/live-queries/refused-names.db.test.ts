import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../test/support/api-app.ts'
import {
  CAMPAIGNS_PATH,
  createCampaignsApi,
  type CampaignsApi,
} from '../../../test/support/campaigns-api.ts'
import { customCheckDraftRoutes } from '../checks/drafts/draft-routes.ts'
import { findOpenCampaign } from './open-campaign-store.ts'

const CURL = "select result from 'curl' where url = 'http://192.0.2.1/'"

describe('a live query that names a refused table', () => {
  let campaigns: CampaignsApi
  beforeAll(async () => {
    campaigns = await createCampaignsApi()
  })
  afterAll(() => campaigns.close())

  const send = (method: 'POST' | 'PATCH', path: string, payload: object) =>
    campaigns.api.request<TestRefusal>(CAMPAIGNS_PATH + path, {
      method,
      key: campaigns.key,
      payload,
    })

  it.each([true, false])('is not created (published: %s)', async (published) => {
    const body = { name: 'x', sql: CURL, target_all_devices: true, published }
    const refusal = await send('POST', '', body)
    expect([refusal.status, refusal.body.code]).toEqual([422, 'invalid_body'])
    expect(refusal.body.details).toEqual([
      { path: 'sql', message: expect.stringMatching(/names curl, which/) as string },
    ])
    const rows = campaigns.api.db.selectFrom('live_query_campaign').select('id')
    expect(await rows.execute()).toEqual([])
  })

  it('is not made of another one, nor asked, nor published when it was there before', async () => {
    const { id, osquery_sql: sql } = await campaigns.create()
    expect((await send('PATCH', `/${id}`, { sql: CURL })).status).toBe(422)
    expect((await campaigns.show(id)).osquery_sql).toBe(sql)
    expect(await findOpenCampaign(campaigns.api.db, id, new Set(['curl']))).toBeDefined()

    const update = campaigns.api.db.updateTable('live_query_campaign').set({ sql: CURL })
    await update.where('id', '=', id).execute()
    expect(await findOpenCampaign(campaigns.api.db, id, new Set())).toBeDefined()
    expect(await findOpenCampaign(campaigns.api.db, id, new Set(['curl']))).toBeUndefined()
    expect((await send('PATCH', `/${id}`, { published: false })).status).toBe(200)
    expect((await send('PATCH', `/${id}`, { published: true })).status).toBe(422)
  })
})

describe('a draft of a check that names a refused table', () => {
  let api: TestApi
  let key: string
  beforeAll(async () => {
    api = await createTestApi(({ db, runChange }) =>
      customCheckDraftRoutes({
        db,
        runChange,
        runScopeChange: runChange,
        refusedNames: new Set(['curl']),
      }),
    )
    key = await api.createKey(['Manage Checks'])
  })
  afterAll(() => api.close())

  const send = (method: 'POST' | 'PATCH', path: string, payload?: object) =>
    api.request<TestRefusal & { id: string }>(`/custom_check_drafts${path}`, {
      method,
      key,
      ...(payload === undefined ? {} : { payload }),
    })

  it('is neither created nor changed so, nor published when it was there before', async () => {
    expect((await send('POST', '', { name: 'x', osquery_sql: CURL })).status).toBe(422)
    const sql = "select 'PASS' as KOLIDE_CHECK_STATUS"
    const ready = {
      name: 'x',
      description: 'x',
      issue_title: 'x',
      platforms: ['darwin'],
      osquery_sql: sql,
      rationale_template: 'x',
      fix_instructions_template: 'x',
      privacy_info: 'x',
      privacy_center_example_data: { darwin: [{ a: 1 }] },
    }
    const { status, body } = await send('POST', '', ready)
    expect(status).toBe(200)
    expect((await send('PATCH', `/${body.id}`, { osquery_sql: CURL })).status).toBe(422)
    const update = api.db.updateTable('custom_check_draft').set({
      osquery_sql: `${sql} from curl`,
    })
    await update.where('id', '=', body.id).execute()
    const refusal = await send('POST', `/${body.id}/publish`)
    expect([refusal.status, refusal.body.code]).toEqual([409, 'conflict'])
    expect(refusal.body.message).toMatch(/names curl, which/)
    expect(await api.db.selectFrom('posture_check').select('id').execute()).toEqual([])
  })
})
