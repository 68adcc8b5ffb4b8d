import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../../../test/support/api-app.ts'
import { insertDevice } from '../../../../../test/support/factories.ts'
import { toLiveQueryId } from '../../../live-queries/live-query.ts'
import { recordLiveAnswers } from '../../../live-queries/record-live-answers.ts'
import { SYSTEM_ACTOR } from '../../../../changes/audit/audit-entry.ts'
import { customCheckDraftRoutes } from '../draft-routes.ts'
import { draftTrialRoutes } from './draft-trial-routes.ts'

interface Run {
  readonly live_query_campaign_id: string
  readonly state: string
  readonly verdict: unknown
}

let api: TestApi
let key: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) => {
    const dependencies = { db, runChange, refusedNames: new Set(['curl']) }
    return [
      ...customCheckDraftRoutes({ ...dependencies, runScopeChange: runChange }),
      ...draftTrialRoutes(dependencies),
    ]
  })
  key = await api.createKey(['Manage Checks', 'Create Live Query'])
})

afterAll(() => api.close())

const post = <Body>(url: string, payload: object, caller = key) =>
  api.request<Body>(url, { method: 'POST', key: caller, payload })

const SQL = "select path, 'FAIL' as KOLIDE_CHECK_STATUS from file where path = '/a'"

async function addDraft(values: object = {}): Promise<string> {
  const { status, body } = await post<{ id: string }>('/custom_check_drafts', {
    name: `Draft ${Math.random()}`,
    issue_title: 'A file is open',
    platforms: ['darwin', 'linux'],
    osquery_sql: SQL,
    requires_primary_key: true,
    primary_key_column: 'path',
    rationale_template: 'On {{ device.platform }}, {{ issue.value.path }} of {{ person.name }}.',
    fix_instructions_template: 'Close it.',
    privacy_info: 'The path.',
    template_data_examples: { person: { name: 'Ada' }, issue: { value: { path: '/example' } } },
    privacy_center_example_data: { darwin: { path: '/private' } },
    ...values,
  })
  expect(status).toBe(200)
  return body.id
}

describe('POST /custom_check_drafts/{id}/runs', () => {
  const answer = async (deviceId: string, campaignId: string, rows: object[], statusCode = 0) =>
    api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      recordLiveAnswers(change, { forget: () => undefined }, [
        {
          deviceId: deviceId,
          results: [
            {
              id: toLiveQueryId({ campaignId, revision: 1 }),
              ...{ rows, statusCode, message: statusCode === 0 ? '' : 'no such table' },
            },
          ],
        },
      ]),
    )

  it('asks one device, and tells what its answer would be judged as', async () => {
    const draftId = await addDraft()
    const deviceId = await insertDevice(api.db)
    const url = `/custom_check_drafts/${draftId}/runs`
    const { status, body } = await post<Run>(url, { device_id: deviceId })
    expect(status).toBe(200)
    expect(body).toMatchObject({ device_id: deviceId, state: 'waiting', rows: [], verdict: null })
    const campaign = await api.db
      .selectFrom('live_query_campaign')
      .selectAll()
      .where('id', '=', body.live_query_campaign_id)
      .executeTakeFirstOrThrow()
    expect(campaign).toMatchObject({ sql: SQL, targeted_device_ids: [deviceId] })
    const show = async () => (await api.request<Run>(`${url}/${body.live_query_campaign_id}`)).body
    expect(await show()).toMatchObject({ state: 'waiting', verdict: null })
    const rows = ['/a', '/b'].map((path) => ({ path, KOLIDE_CHECK_STATUS: 'FAIL' }))
    await answer(deviceId, body.live_query_campaign_id, rows)
    expect(await show()).toMatchObject({
      state: 'successful',
      rows,
      verdict: {
        status: 'failing',
        issues_count: 2,
        issues: [{ issue_value: '/a' }, { issue_value: '/b' }],
      },
    })
  })

  it('tells an error of the device as the errored result that it would be', async () => {
    const draftId = await addDraft()
    const deviceId = await insertDevice(api.db)
    const url = `/custom_check_drafts/${draftId}/runs`
    const { body } = await post<Run>(url, { device_id: deviceId })
    await answer(deviceId, body.live_query_campaign_id, [], 1)
    expect((await api.request<Run>(`${url}/${body.live_query_campaign_id}`)).body).toMatchObject({
      state: 'errored',
      verdict: { status: 'errored', error_message: 'no such table' },
    })
  })

  it('refuses SQL that is none, names that are refused, devices that cannot answer, and other callers', async () => {
    const url = async (values = {}) => `/custom_check_drafts/${await addDraft(values)}/runs`
    const deviceId = await insertDevice(api.db)
    const payload = { device_id: deviceId }
    expect(await post(await url({ osquery_sql: 'delete from x' }), payload)).toMatchObject({
      status: 422,
    })
    expect(await post(await url(), { device_id: '999999' })).toMatchObject({ status: 422 })
    const phone = await insertDevice(api.db, { platform: 'ios' })
    expect(await post(await url(), { device_id: phone })).toMatchObject({ status: 422 })
    const manager = await api.createKey(['Manage Checks'])
    expect(await post(await url(), payload, manager)).toMatchObject({ status: 403 })
    expect(await post('/custom_check_drafts/999999/runs', payload)).toMatchObject({ status: 404 })
    const runs = await url()
    expect((await api.request(`${runs}/999999`)).status).toBe(404)
  })
})

describe('POST /custom_check_drafts/{id}/preview', () => {
  it('renders what is read on each platform, with the example data or the first row that failed', async () => {
    const draftId = await addDraft()
    const url = `/custom_check_drafts/${draftId}/preview`
    expect((await post(url, {})).body).toMatchObject({
      verdict: null,
      readers: [
        {
          platform: 'darwin',
          title: 'A file is open',
          rationale: 'On Mac, /example of Ada.',
          fix_instructions: 'Close it.',
          problems: [],
          privacy_info: 'The path.',
          privacy_example: { path: '/private' },
        },
        { platform: 'linux', rationale: 'On Linux, /example of Ada.', privacy_example: null },
      ],
    })
    const rows = [
      { path: '/fine', KOLIDE_CHECK_STATUS: 'PASS' },
      { path: '/open', KOLIDE_CHECK_STATUS: 'FAIL' },
    ]
    expect((await post(url, { rows })).body).toMatchObject({
      verdict: { status: 'failing', issues_count: 1, issues: [{ issue_value: '/open' }] },
      readers: [{ rationale: 'On Mac, /open of Ada.' }, {}],
    })
  })

  it.each([
    [[{ KOLIDE_CHECK_STATUS: 'PASS' }], 'passing'],
    [[{ KOLIDE_CHECK_STATUS: 'UNKNOWN' }], 'unknown'],
    [[{ KOLIDE_CHECK_STATUS: 'INAPPLICABLE' }], 'inapplicable'],
    [[{ path: '/a' }], 'errored'],
    [[], 'errored'],
  ])('judges %j as %s', async (rows, status) => {
    const draftId = await addDraft({ requires_primary_key: false, primary_key_column: '' })
    const { body } = await post(`/custom_check_drafts/${draftId}/preview`, { rows })
    expect(body).toMatchObject({ verdict: { status, issues: [] } })
  })

  it('says what is wrong with a template instead of rendering it', async () => {
    const draftId = await addDraft({ rationale_template: '{% for %}' })
    const { body } = await post(`/custom_check_drafts/${draftId}/preview`, {})
    expect(body).toMatchObject({
      readers: [
        {
          rationale: null,
          problems: [expect.any(String)] as unknown,
          fix_instructions: 'Close it.',
        },
        {},
      ],
    })
  })

  it('refuses too many rows, and callers without the permission', async () => {
    const url = `/custom_check_drafts/${await addDraft()}/preview`
    const rows = Array<object>(1_001).fill({ KOLIDE_CHECK_STATUS: 'PASS' })
    expect(await post<TestRefusal>(url, { rows })).toMatchObject({ status: 422 })
    expect(await post(url, { rows: [{ a: 1 }] })).toMatchObject({ status: 422 })
    expect(await post(url, {}, api.key)).toMatchObject({ status: 403 })
  })
})
