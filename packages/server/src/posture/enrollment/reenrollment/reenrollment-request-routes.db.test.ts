import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../../test/support/api-app.ts'
import { insertDevice, insertReenrollmentRequest } from '../../../../test/support/factories.ts'
import { describeRecordContract } from '../../../../test/support/read-contract.ts'
import { reenrollmentRequestRoutes } from './reenrollment-request-routes.ts'

interface Shown {
  readonly id: string
  readonly status: string
  readonly decided_by: string | null
  readonly approved_until: string | null
}

let api: TestApi
let key: string
let device: string
let first: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) =>
    reenrollmentRequestRoutes({ db, runChange, baseUrl: 'https://trust.example.com' }),
  )
  key = await api.createKey(['Manage Enrollment'])
  device = await insertDevice(api.db)
  first = await newRequest()
})
afterAll(() => api.close())

const newRequest = () => insertReenrollmentRequest(api.db, device)
const decide = <Body = Shown>(id: string, payload: object, by: string | null = key) =>
  api.request<Body>(`/reenrollment_requests/${id}`, { method: 'PATCH', key: by, payload })

const lastAuditEntry = () =>
  api.db
    .selectFrom('audit_entry')
    .select(['action', 'target_id', 'before', 'after'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()

describe('requests of machines', () => {
  it('are listed, searched and shown', async () => {
    const id = await newRequest()
    const { body } = await api.request<{ data: Shown[] }>(
      `/reenrollment_requests?query=${encodeURIComponent(`status:pending AND device_id:${device}`)}`,
    )
    expect(body.data.map((each) => each.id)).toContain(id)
    const { body: shown } = await api.request<Shown>(`/reenrollment_requests/${id}`)
    expect(shown).toMatchObject({
      id,
      status: 'pending',
      reason: 'live_node_key',
      device_information: { identifier: device },
      ip_address: '198.51.100.66',
      known_ip_address: '192.0.2.44',
      attempts_count: 1,
      approved_until: null,
    })
  })

  describeRecordContract({ api: () => api, path: () => `/reenrollment_requests/${first}` })
})

describe('the decision about a machine', () => {
  it('approves for a day, denies, approves again, and is in the audit log', async () => {
    const id = await newRequest()
    const approved = await decide(id, { status: 'approved' })
    expect(approved).toMatchObject({
      status: 200,
      body: { status: 'approved', approved_until: '2026-01-03T03:04:05.678Z' },
    })
    expect(approved.body.decided_by).not.toBeNull()
    expect(await lastAuditEntry()).toMatchObject({
      action: 'reenrollment_request.approved',
      target_id: id,
      before: { status: 'pending' },
    })
    expect((await decide(id, { status: 'denied' })).body).toMatchObject({
      status: 'denied',
      approved_until: null,
    })
    expect(await lastAuditEntry()).toMatchObject({ action: 'reenrollment_request.denied' })
    expect((await decide(id, { status: 'denied' })).body.status).toBe('denied')
    expect((await decide(id, { status: 'approved' })).body.status).toBe('approved')
  })

  it('is refused about a machine that has enrolled', async () => {
    const id = await newRequest()
    await api.db
      .updateTable('reenrollment_request')
      .set({ status: 'completed' })
      .where('id', '=', id)
      .execute()
    expect((await decide<TestRefusal>(id, { status: 'approved' })).status).toBe(409)
  })

  it('takes the permission, a status that exists, and a machine', async () => {
    const id = await newRequest()
    const unauthenticated = await decide<TestRefusal>(id, { status: 'approved' }, null)
    expect(unauthenticated.status).toBe(401)
    const refused = await decide<TestRefusal>(id, { status: 'approved' }, api.key)
    expect(refused.status).toBe(403)
    expect(refused.body.message).toContain('Manage Enrollment')
    for (const payload of [{}, { status: 'completed' }, { status: 'approved', more: 1 }]) {
      expect((await decide<TestRefusal>(id, payload)).status).toBe(422)
    }
    for (const unknown of ['0', 'x', '999999999']) {
      expect((await decide<TestRefusal>(unknown, { status: 'approved' })).status).toBe(404)
    }
  })
})
