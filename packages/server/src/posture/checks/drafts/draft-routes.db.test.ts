import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../../test/support/api-app.ts'
import { createPosture, FAIL, type Posture } from '../../../../test/support/posture-fixtures.ts'
import { listRunnableChecks } from '../../osquery/node-store.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import { listCounterDrift } from '../../../../test/support/list-counter-drift.ts'
import { customCheckDraftRoutes } from './draft-routes.ts'

interface DraftBody {
  readonly id: string
  readonly slug: string
  readonly published: boolean
  readonly publishable: boolean
  readonly custom_check_id: string | null
  readonly problems: readonly { readonly field: string; readonly message: string }[]
  readonly [name: string]: unknown
}

let api: TestApi
let posture: Posture
let key: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) => {
    posture = createPosture(db)
    return customCheckDraftRoutes({
      db,
      runChange,
      runScopeChange: runChange,
      refusedNames: new Set(['curl']),
    })
  })
  key = await api.createKey(['Manage Checks'])
})

afterAll(() => api.close())

const send = <Body = DraftBody>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  payload?: object,
) =>
  api.request<Body>(`/custom_check_drafts${path}`, {
    method,
    key,
    ...(payload === undefined ? {} : { payload }),
  })
const create = <Body = DraftBody>(payload: object) => send<Body>('POST', '', payload)
const change = <Body = DraftBody>(id: string, payload: object) =>
  send<Body>('PATCH', `/${id}`, payload)
const publish = <Body = DraftBody>(id: string) => send<Body>('POST', `/${id}/publish`)
const read = async (id: string) => (await api.request<DraftBody>(`/custom_check_drafts/${id}`)).body
const readCheck = (id: string) =>
  api.db.selectFrom('posture_check').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const listResults = (checkId: string) =>
  api.db
    .selectFrom('check_result')
    .select(['device_id', 'status'])
    .where('check_id', '=', checkId)
    .orderBy('device_id')
    .execute()
const listAudit = (targetId: string, action: string) =>
  api.db
    .selectFrom('audit_entry')
    .selectAll()
    .where('action', '=', action)
    .where('target_id', '=', targetId)
    .orderBy('sequence')
    .execute()

const SQL = "SELECT 'FAIL' AS KOLIDE_CHECK_STATUS, path FROM file"
const READY = {
  name: 'Hosts file',
  description: 'The hosts file is as it came.',
  issue_title: 'The hosts file was edited',
  osquery_sql: SQL,
  platforms: ['linux', 'darwin'],
  rationale_template: 'Names must lead to where they should.',
  fix_instructions_template: 'Restore `{{ issue.value.path }}` on {{ device.name }}.',
  privacy_info: 'The content of one file.',
}

async function createReady(more: object = {}): Promise<DraftBody> {
  const { status, body } = await create({ ...READY, ...more })
  expect(status).toBe(200)
  expect(body.problems).toEqual([])
  return body
}

describe('GET /custom_check_drafts', () => {
  beforeAll(async () => {
    for (const name of ['Wifi one', 'Wifi two', 'Wifi three', 'Proxy']) {
      await create({ name })
      api.clock.advance(DAY_MS)
    }
  })

  it('lists by ascending id, in pages', async () => {
    const first = await api.request<{ data: DraftBody[]; pagination: { next_cursor: string } }>(
      '/custom_check_drafts?per_page=3',
    )
    expect(first.status).toBe(200)
    expect(first.body.data.map(({ slug }) => slug)).toEqual([
      'custom-wifi-one',
      'custom-wifi-two',
      'custom-wifi-three',
    ])
    const second = await api.request<{ data: DraftBody[] }>(
      `/custom_check_drafts?cursor=${first.body.pagination.next_cursor}`,
    )
    expect(second.body.data.map(({ slug }) => slug)).toEqual(['custom-proxy'])
  })

  it.each([
    ['name:Proxy', 1],
    ['name~WIFI', 3],
    ['slug:custom-proxy', 1],
    ['slug~two', 1],
    ['id:1', 1],
    ['id~1', 1],
    ['created_at>2026-01-04', 2],
    ['created_at<2026-01-04', 2],
  ])('searches by %s', async (query, count) => {
    const { body } = await api.request<{ data: DraftBody[] }>(
      `/custom_check_drafts?query=${encodeURIComponent(query)}`,
    )
    expect(body.data).toHaveLength(count)
  })

  it('is unknown to the older version of the API', async () => {
    const headers = { 'x-service-api-version': '2023-05-26' }
    for (const path of ['', '/1']) {
      const { status } = await api.request(`/custom_check_drafts${path}`, { headers })
      expect(status).toBe(404)
    }
  })

  it('needs a key and no permission', async () => {
    expect((await api.request('/custom_check_drafts', { key: null })).status).toBe(401)
    expect((await api.request('/custom_check_drafts/1')).status).toBe(200)
    expect((await api.request('/custom_check_drafts/999999')).status).toBe(404)
  })
})

describe('POST /custom_check_drafts', () => {
  it('takes an incomplete draft and says what is missing', async () => {
    const { status, body } = await create({ name: 'Only a name' })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.any(String) as string,
      name: 'Only a name',
      slug: 'custom-only-a-name',
      description: '',
      issue_title: '',
      osquery_sql: '',
      platforms: [],
      rationale_template: '',
      fix_instructions_template: '',
      privacy_info: '',
      check_type: 'osquery',
      target_type: 'devices',
      requires_primary_key: false,
      primary_key_column: '',
      published: false,
      custom_check_id: null,
      published_at: null,
      has_unpublished_changes: false,
      osquery_sql_status: 'missing',
      notification_templates_status: 'missing',
      details_status: 'missing',
      privacy_center_details_status: 'missing',
      publishable: false,
      problems: expect.any(Array) as unknown[],
      warnings: [],
      template_data_examples: '{}',
      privacy_center_example_data: '{}',
      created_at: api.clock.now().toISOString(),
      updated_at: api.clock.now().toISOString(),
    })
    expect(body.problems.map(({ field }) => field)).toEqual([
      'osquery_sql',
      'rationale_template',
      'fix_instructions_template',
      'description',
      'issue_title',
      'platforms',
      'privacy_info',
    ])
    expect(await read(body.id)).toEqual(body)
    expect(await listAudit(body.id, 'custom_check_draft.created')).toHaveLength(1)
  })

  it('is ready with everything in place', async () => {
    const body = await createReady({
      template_data_examples: JSON.stringify({ issue: { value: { path: '/etc/hosts' } } }),
      privacy_center_example_data: { darwin: [{ path: '/etc/hosts' }] },
    })
    expect(body).toMatchObject({
      publishable: true,
      osquery_sql_status: 'good',
      notification_templates_status: 'good',
      details_status: 'good',
      privacy_center_details_status: 'good',
      platforms: ['darwin', 'linux'],
      template_data_examples: '{"issue":{"value":{"path":"/etc/hosts"}}}',
      privacy_center_example_data: '{"darwin":[{"path":"/etc/hosts"}]}',
    })
  })

  it('warns about what its platforms do not have, and is ready all the same', async () => {
    const sql = "SELECT 'PASS' AS KOLIDE_CHECK_STATUS, global_state FROM alf"
    const { body } = await create({ ...READY, osquery_sql: sql })
    expect(body).toMatchObject({
      publishable: true,
      warnings: [
        {
          platform: 'linux',
          message: 'osquery has no table alf on Linux; it is there on macOS only.',
        },
      ],
    })
  })

  it.each([
    ['osquery_sql_status', { osquery_sql: 'SELECT FROM' }],
    ['osquery_sql_status', { osquery_sql: 'SELECT 1' }],
    ['osquery_sql_status', { requires_primary_key: true, primary_key_column: 'serial' }],
    ['notification_templates_status', { rationale_template: '{% if %}' }],
    ['notification_templates_status', { fix_instructions_template: '{{ unknown.thing }}' }],
    ['details_status', { requires_primary_key: true, primary_key_column: 'a b' }],
    ['details_status', { target_type: 'people' }],
    ['privacy_center_details_status', { privacy_center_example_data: { windows: [] } }],
  ])('says that %s is bad (case %#)', async (section, values) => {
    const { body } = await create({ ...READY, ...values })
    expect(body[section]).toBe('bad')
    expect(body.publishable).toBe(false)
    const refusal = await publish<TestRefusal>(body.id)
    expect(refusal.status).toBe(409)
    expect(refusal.body.details?.length).toBeGreaterThan(0)
    expect((await read(body.id)).published).toBe(false)
  })

  it('makes slugs from names that are free, and refuses one that is taken', async () => {
    const names = ['Same name', 'Same name', 'Same name']
    const slugs: string[] = []
    for (const name of names) slugs.push((await create({ name })).body.slug)
    expect(slugs).toEqual(['custom-same-name', 'custom-same-name-2', 'custom-same-name-3'])
    const { status, body } = await create<TestRefusal>({ name: 'x', slug: 'custom-same-name-2' })
    expect(status).toBe(409)
    expect(body.message).toContain('custom-same-name-2')
  })

  it.each([
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['name', { name: 'x'.repeat(101) }],
    ['slug', { slug: 'firewall' }],
    ['slug', { slug: 'custom-' }],
    ['slug', { slug: 'custom-A' }],
    ['platforms.0', { platforms: ['macos'] }],
    ['check_type', { check_type: 'custom' }],
    ['target_type', { target_type: 'groups' }],
    ['osquery_sql', { osquery_sql: `SELECT ${'1'.repeat(17_000)}` }],
    ['rationale_template', { rationale_template: 7 }],
    ['template_data_examples', { template_data_examples: '[]' }],
    ['template_data_examples.thing', { template_data_examples: { thing: 1 } }],
    ['privacy_center_example_data.ios', { privacy_center_example_data: { ios: [] } }],
    ['published', { published: true }],
  ])('refuses a bad %s (case %#)', async (path, values) => {
    const { status, body } = await create<TestRefusal>({ name: 'Refused', ...values })
    expect(status).toBe(422)
    expect(body.details?.map((detail) => detail.path)).toContain(path)
    const { body: found } = await api.request<{ data: unknown[] }>(
      '/custom_check_drafts?query=name:Refused',
    )
    expect(found.data).toEqual([])
  })
})

describe('PATCH /custom_check_drafts/{id}', () => {
  it('changes what is given and records old and new values', async () => {
    const { id } = await createReady()
    const { status, body } = await change(id, { osquery_sql: 'SELECT', name: 'Renamed' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Renamed', osquery_sql_status: 'bad', publishable: false })
    expect(await listAudit(id, 'custom_check_draft.updated')).toMatchObject([
      {
        before: { name: 'Hosts file', osquery_sql: SQL },
        after: { name: 'Renamed', osquery_sql: 'SELECT' },
      },
    ])
  })

  it('does nothing when nothing changes', async () => {
    const { id } = await createReady()
    expect((await change(id, { name: 'Hosts file' })).status).toBe(200)
    expect(await listAudit(id, 'custom_check_draft.updated')).toEqual([])
  })

  it.each(['999999', 'x'])('answers 404 for the draft %s', async (id) => {
    expect((await change(id, { name: 'x' })).status).toBe(404)
    expect((await publish(id)).status).toBe(404)
    expect((await send('DELETE', `/${id}`)).status).toBe(404)
  })

  it('refuses a slug that is taken', async () => {
    const [one, other] = [await createReady(), await createReady()]
    expect((await change(one.id, { slug: other.slug })).status).toBe(409)
  })
})

describe('POST /custom_check_drafts/{id}/publish', () => {
  it('makes a check that runs on the devices of its platforms and only reports', async () => {
    const mac = await posture.insertDevice()
    const windows = await posture.insertDevice({ platform: 'windows' })
    const { id } = await createReady({ requires_primary_key: true, primary_key_column: 'path' })
    const { status, body } = await publish(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      published: true,
      published_at: api.clock.now().toISOString(),
      has_unpublished_changes: false,
    })
    const checkId = body.custom_check_id ?? ''
    expect(await readCheck(checkId)).toMatchObject({
      slug: body.slug,
      name: 'Hosts file',
      type: 'custom',
      is_built_in: false,
      platforms: ['darwin', 'linux'],
      queries: { darwin: SQL, linux: SQL },
      primary_key_column: 'path',
      remediation_strategy: 'report_only',
      revision: 1,
    })
    expect(await listResults(checkId)).toEqual([{ device_id: mac, status: 'pending' }])
    expect(await listRunnableChecks(api.db, mac)).toMatchObject([
      { checkId, sql: SQL, revision: 1 },
    ])
    expect(await listRunnableChecks(api.db, windows)).toEqual([])
    expect(await listAudit(checkId, 'custom_check_draft.published')).toMatchObject([
      { before: { revision: null }, after: { revision: 1, osquery_sql: SQL } },
    ])
    expect(await listCounterDrift(api.db)).toEqual([])
  })

  it('raises the revision when an edited draft is published again, and not otherwise', async () => {
    const { id } = await createReady()
    const { body: first } = await publish(id)
    const checkId = first.custom_check_id ?? ''
    const mac = await posture.insertDevice()
    const checks = await listRunnableChecks(api.db, mac)
    const fail = checks.map((check) => [check.checkId, FAIL] as const)
    await posture.report(mac, Object.fromEntries(fail))
    expect((await publish(id)).body).toEqual(first)
    const edited = await change(id, { osquery_sql: `${SQL} WHERE 1`, platforms: ['linux'] })
    expect(edited.body).toMatchObject({ published: true, has_unpublished_changes: true })
    expect((await readCheck(checkId)).revision).toBe(1)
    const { body } = await publish(id)
    expect(body).toMatchObject({ custom_check_id: checkId, has_unpublished_changes: false })
    expect(await readCheck(checkId)).toMatchObject({
      revision: 2,
      platforms: ['linux'],
      queries: { linux: `${SQL} WHERE 1` },
    })
    const result = (await listResults(checkId)).find((row) => row.device_id === mac)
    expect(result?.status).toBe('out_of_scope')
    const open = await api.db
      .selectFrom('issue')
      .select('id')
      .where('check_id', '=', checkId)
      .where('resolved_at', 'is', null)
      .execute()
    expect(open).toEqual([])
  })

  it('keeps what an admin configured, and what is fixed', async () => {
    const { id } = await createReady()
    const { body } = await publish(id)
    const checkId = body.custom_check_id ?? ''
    await api.db
      .updateTable('posture_check')
      .set({ remediation_strategy: 'notify_only' })
      .where('id', '=', checkId)
      .execute()
    for (const values of [
      { slug: 'custom-other' },
      { check_type: 'external' },
      { target_type: 'people' },
    ]) {
      expect((await change(id, values)).status).toBe(409)
    }
    await change(id, { name: 'Renamed' })
    await publish(id)
    expect(await readCheck(checkId)).toMatchObject({
      name: 'Renamed',
      remediation_strategy: 'notify_only',
    })
  })

  it('makes external checks without a query, of devices and of people', async () => {
    for (const target of ['devices', 'people']) {
      const { id } = await createReady({
        check_type: 'external',
        target_type: target,
        osquery_sql: '',
        platforms: [],
      })
      const { body } = await publish(id)
      const checkId = body.custom_check_id ?? ''
      expect(await readCheck(checkId)).toMatchObject({
        type: 'external',
        target_type: target,
        queries: {},
        platforms: ['darwin', 'windows', 'linux'],
      })
      const results = await listResults(checkId)
      expect(new Set(results.map(({ status }) => status))).toEqual(
        new Set(target === 'devices' ? ['unknown'] : []),
      )
    }
  })

  it('is done once by requests at the same time', async () => {
    const { id } = await createReady()
    const answers = await Promise.all([publish(id), publish(id), publish(id)])
    expect(new Set(answers.map(({ body }) => body.custom_check_id)).size).toBe(1)
    expect(await readCheck(answers[0].body.custom_check_id ?? '')).toMatchObject({ revision: 1 })
  })
})

describe('DELETE /custom_check_drafts/{id}', () => {
  it('answers the draft that it deletes and leaves the check', async () => {
    const { id } = await createReady()
    const { body: published } = await publish(id)
    const { status, body } = await send('DELETE', `/${id}`)
    expect(status).toBe(200)
    expect(body).toEqual(published)
    expect((await api.request(`/custom_check_drafts/${id}`)).status).toBe(404)
    expect(await readCheck(published.custom_check_id ?? '')).toMatchObject({ paused_at: null })
    expect(await listAudit(id, 'custom_check_draft.deleted')).toMatchObject([
      { before: { name: 'Hosts file' } },
    ])
  })
})

describe('writes', () => {
  it.each([
    ['POST', '', { name: 'x' }],
    ['PATCH', '/1', { name: 'x' }],
    ['PUT', '/1', { name: 'x' }],
    ['POST', '/1/publish', undefined],
    ['DELETE', '/1', undefined],
  ] as const)(
    '%s %s needs a key and the permission, which it names',
    async (method, path, payload) => {
      const request = { method, ...(payload === undefined ? {} : { payload }) }
      const anonymous = await api.request(`/custom_check_drafts${path}`, { ...request, key: null })
      expect(anonymous.status).toBe(401)
      const { status, body } = await api.request<TestRefusal>(
        `/custom_check_drafts${path}`,
        request,
      )
      expect(status).toBe(403)
      expect(body.message).toContain('Manage Checks')
    },
  )
})
