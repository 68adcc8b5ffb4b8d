import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../../test/support/api-app.ts'
import { listAuditEntries } from '../../../../test/support/write-contract.ts'
import { insertDevice, insertPerson } from '../../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
} from '../../../../test/support/read-contract.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import type { RegistrationRequestRecord } from './registration-request-read.ts'
import { registrationRequestRoutes } from './registration-request-routes.ts'

interface RequestBody {
  readonly id: string
  readonly status: RegistrationRequestRecord['status']
  readonly [name: string]: unknown
}

let api: TestApi
let key: string
let personId: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) =>
    registrationRequestRoutes({ db, baseUrl: BASE_URL, runChange }),
  )
  key = await api.createKey(['Manage User Requests'])
  personId = await insertPerson(api.db, { email: 'ada@example.com' })
})

afterAll(() => api.close())

const post = <Body = RequestBody>(payload: object) =>
  api.request<Body>('/registration_requests', { method: 'POST', key, payload })
const patch = <Body = RequestBody>(id: string, payload: object) =>
  api.request<Body>(`/registration_requests/${id}`, { method: 'PATCH', key, payload })
const readDevice = (id: string) =>
  api.db.selectFrom('device').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const listAudit = (id: string) => listAuditEntries(api, { type: 'registration_request', id })
const DENIAL = {
  status: 'denied',
  internal_message: 'Not our machine.',
  end_user_denial_message: 'Please use your own machine.',
}

async function ask(
  more: Partial<{ device_id: string; person_id: string; requester_message: string }> = {},
): Promise<string> {
  const deviceId = more.device_id ?? (await insertDevice(api.db))
  const { status, body } = await post({
    person_id: personId,
    device_id: deviceId,
    requester_message: 'My new laptop.',
    ...more,
  })
  expect(status).toBe(200)
  return body.id
}

describe('GET /registration_requests', () => {
  let lastId: string
  beforeAll(async () => {
    for (const message of ['The first one', 'Another one', 'A third one', 'Something else']) {
      lastId = await ask({ requester_message: message })
      api.clock.advance(DAY_MS)
    }
    await patch(lastId, DENIAL)
  })

  describeListContract({
    api: () => api,
    path: () => '/registration_requests',
    fields: ['status (:)', 'requested_at (: < >)', 'requester_message (: ~)'],
    narrowSearch: () => 'requester_message~" one"',
  })

  describeRecordContract({ api: () => api, path: () => `/registration_requests/${lastId}` })

  it.each([
    ['status:denied', 1],
    ['status:pending', 3],
    ['requester_message:"Another one"', 1],
    ['requester_message~ANOTHER', 1],
    ['requested_at>2026-01-04', 2],
    ['requested_at<2026-01-04', 2],
  ])('searches by %s', async (query, count) => {
    const { body } = await api.request<{ data: RequestBody[] }>(
      `/registration_requests?query=${encodeURIComponent(query)}`,
    )
    expect(body.data).toHaveLength(count)
  })

  it('leads to where the requester is, also once deprovisioned', async () => {
    const setGone = async (at: Date | null) =>
      api.db
        .updateTable('person')
        .set({ deprovisioned_at: at })
        .where('id', '=', personId)
        .execute()
    await setGone(api.clock.now())
    const { body } = await api.request(`/registration_requests/${lastId}`)
    await setGone(null)
    const link = `${BASE_URL}/deprovisioned_people/${personId}`
    expect(body).toMatchObject({ requester_information: { identifier: personId, link } })
  })
})

describe('POST /registration_requests', () => {
  it('asks for a person, registers nothing, and leaves an audit entry', async () => {
    const deviceId = await insertDevice(api.db)
    const { status, body } = await post({
      person_email: 'ada@example.com',
      device_id: Number(deviceId),
      requester_message: 'My new laptop.',
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.any(String) as string,
      status: 'pending',
      requester_message: 'My new laptop.',
      internal_denial_note: null,
      internal_approval_note: null,
      requested_at: api.clock.now().toISOString(),
      end_user_denial_note: null,
      requester_information: { identifier: personId, link: `${BASE_URL}/people/${personId}` },
      device_information: { identifier: deviceId, link: `${BASE_URL}/devices/${deviceId}` },
      decided_at: null,
      decided_by: null,
    })
    expect((await readDevice(deviceId)).owner_person_id).toBeNull()
    expect(await listAudit(body.id)).toMatchObject([{ action: 'registration_request.created' }])
  })

  it('refuses a device that the person has, or has asked for', async () => {
    const owned = await insertDevice(api.db, { owner_person_id: personId })
    const asked = await insertDevice(api.db)
    const id = await ask({ device_id: asked })
    const request = { person_id: personId, requester_message: 'Please.' }
    expect((await post({ ...request, device_id: owned })).status).toBe(409)
    const again = await post<TestRefusal>({ ...request, device_id: asked })
    expect(again.status).toBe(409)
    expect(again.body.message).toContain(`registration request ${id}`)
  })

  it.each([
    ['person_id', { person_id: undefined }],
    ['person_id', { person_id: '999999' }],
    ['person_id', { person_email: 'ada@example.com' }],
    ['person_email', { person_id: undefined, person_email: 'nobody@example.com' }],
    ['device_id', { device_id: '999999' }],
    ['device_id', { device_id: 'x' }],
    ['device_id', { device_id: undefined }],
    ['requester_message', { requester_message: '' }],
    ['requester_message', { requester_message: undefined }],
    ['status', { status: 'approved' }],
  ])('refuses a bad %s (case %#)', async (path, values) => {
    const deviceId = await insertDevice(api.db)
    const { status, body } = await post<TestRefusal>({
      person_id: personId,
      device_id: deviceId,
      requester_message: 'Please.',
      ...values,
    })
    expect(status).toBe(422)
    expect(body.details?.map((detail) => detail.path)).toContain(path)
  })

  it('refuses without a key and without the permission, which it names', async () => {
    const payload = { person_id: personId, device_id: '1', requester_message: 'Please.' }
    const send = (sent: string | null) =>
      api.request<TestRefusal>('/registration_requests', { method: 'POST', key: sent, payload })
    expect((await send(null)).status).toBe(401)
    const { status, body } = await send(api.key)
    expect(status).toBe(403)
    expect(body.message).toContain('Manage User Requests')
  })
})

describe('PATCH /registration_requests/{id}', () => {
  it('approves: the device is registered to the requester, whoever owned it', async () => {
    const otherId = await insertPerson(api.db)
    const deviceId = await insertDevice(api.db, { owner_person_id: otherId })
    const id = await ask({ device_id: deviceId })
    const { status, body } = await patch(id, {
      status: 'approved',
      internal_message: 'Bought last week.',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'approved',
      internal_approval_note: 'Bought last week.',
      internal_denial_note: null,
      end_user_denial_note: null,
      decided_at: api.clock.now().toISOString(),
      decided_by: expect.stringMatching(/^key /) as string,
    })
    expect(await readDevice(deviceId)).toMatchObject({
      owner_person_id: personId,
      registered_at: api.clock.now(),
    })
    expect(await listAudit(id)).toMatchObject([
      { action: 'registration_request.created' },
      {
        action: 'registration_request.approved',
        before: { status: 'pending', internal_approval_note: null },
        after: { status: 'approved', internal_approval_note: 'Bought last week.' },
      },
    ])
    const registered = await api.db
      .selectFrom('audit_entry')
      .select('action')
      .where('target_type', '=', 'device')
      .where('target_id', '=', deviceId)
      .execute()
    expect(registered).toEqual([{ action: 'device.registered' }])
  })

  it('denies with a note for admins and one for the requester, and can be reopened', async () => {
    const deviceId = await insertDevice(api.db)
    const id = await ask({ device_id: deviceId })
    expect((await patch(id, DENIAL)).body).toMatchObject({
      status: 'denied',
      internal_denial_note: 'Not our machine.',
      end_user_denial_note: 'Please use your own machine.',
      internal_approval_note: null,
    })
    expect((await readDevice(deviceId)).owner_person_id).toBeNull()
    expect((await patch(id, { status: 'pending' })).body).toMatchObject({
      status: 'pending',
      internal_denial_note: null,
      end_user_denial_note: null,
      decided_at: null,
    })
    expect((await listAudit(id)).map(({ action }) => action)).toEqual([
      'registration_request.created',
      'registration_request.denied',
      'registration_request.reopened',
    ])
  })

  it('takes the old name of the note of a denial', async () => {
    const id = await ask()
    const { body } = await patch(id, {
      status: 'denied',
      internal_denial_reason: 'By its old name.',
      end_user_denial_message: 'No.',
    })
    expect(body).toMatchObject({ internal_denial_note: 'By its old name.' })
  })

  it('does nothing for the same decision again, and answers PUT', async () => {
    const id = await ask()
    const { body: first } = await patch(id, { status: 'approved' })
    api.clock.advance(DAY_MS)
    const again = await api.request(`/registration_requests/${id}`, {
      method: 'PUT',
      key,
      payload: { status: 'approved' },
    })
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first)
    expect(await listAudit(id)).toHaveLength(2)
  })

  it('keeps the note when the same decision comes without one', async () => {
    const id = await ask()
    const note = { internal_message: 'It is hers' }
    const { body: first } = await patch(id, { status: 'approved', ...note })
    expect((await patch(id, { status: 'approved' })).body).toEqual(first)
    expect(first).toMatchObject({ internal_approval_note: 'It is hers' })
    expect(await listAudit(id)).toHaveLength(2)
  })

  it('refuses to take back an approval', async () => {
    const id = await ask()
    await patch(id, { status: 'approved' })
    for (const payload of [DENIAL, { status: 'pending' }]) {
      const { status, body } = await patch<TestRefusal>(id, payload)
      expect(status).toBe(409)
      expect(body.code).toBe('conflict')
    }
  })

  it('refuses to register a device to somebody who is gone', async () => {
    const goneId = await insertPerson(api.db)
    const deviceId = await insertDevice(api.db)
    const id = await ask({ person_id: goneId, device_id: deviceId })
    await api.db
      .updateTable('person')
      .set({ deprovisioned_at: api.clock.now() })
      .where('id', '=', goneId)
      .execute()
    expect((await patch(id, { status: 'approved' })).status).toBe(409)
    expect((await readDevice(deviceId)).owner_person_id).toBeNull()
    expect(await listAudit(id)).toHaveLength(1)
  })

  it.each([
    ['status', {}],
    ['status', { status: 'open' }],
    ['end_user_denial_message', { status: 'denied', internal_message: 'No.' }],
    ['internal_message', { status: 'approved', internal_message: '' }],
    ['internal_approval_note', { status: 'approved', internal_approval_note: 'x' }],
  ])('refuses a bad %s (case %#), and changes nothing', async (path, payload) => {
    const id = await ask()
    const { status, body } = await patch<TestRefusal>(id, payload)
    expect(status).toBe(422)
    expect(body.details?.map((detail) => detail.path)).toContain(path)
    expect(await listAudit(id)).toHaveLength(1)
  })

  it.each(['999999', 'x'])('answers 404 for the request %s', async (id) => {
    expect((await patch(id, { status: 'approved' })).status).toBe(404)
  })

  it('refuses without a key and without the permission, which it names', async () => {
    const id = await ask()
    const send = (sent: string | null) =>
      api.request<TestRefusal>(`/registration_requests/${id}`, {
        method: 'PATCH',
        key: sent,
        payload: { status: 'approved' },
      })
    expect((await send(null)).status).toBe(401)
    const { status, body } = await send(api.key)
    expect(status).toBe(403)
    expect(body.message).toContain('Manage User Requests')
  })
})

describe('POST /registration_requests/decisions', () => {
  it('decides each alone, and says why one was not', async () => {
    const [first, approved, last] = [await ask(), await ask(), await ask()]
    await patch(approved, { status: 'approved' })
    const { status, body } = await api.request('/registration_requests/decisions', {
      ...{ method: 'POST', key, payload: { ids: [first, approved], ...DENIAL } },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ decided_count: 1, refused_count: 1 },
      data: [
        { id: first, decided: true },
        { id: approved, decided: false, code: 'conflict' },
      ],
    })
    const { body: untouched } = await api.request<{ status: string }>(
      `/registration_requests/${last}`,
    )
    expect(untouched.status).toBe('pending')
  })

  it('refuses without the permission, and ids that are none', async () => {
    const send = (caller: string, ids: unknown[]) =>
      api.request('/registration_requests/decisions', {
        ...{ method: 'POST', key: caller, payload: { ids, ...DENIAL } },
      })
    expect((await send(api.key, [await ask()])).status).toBe(403)
    expect((await send(key, ['x'])).status).toBe(422)
  })
})
