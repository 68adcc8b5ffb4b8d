import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { describeWriteContract, listAuditEntries } from '../../../test/support/write-contract.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { abandonSessions } from './abandon-sessions.ts'
import { authLogRoutes } from './auth-log-routes.ts'
import { SESSION_EVENTS_MAX } from './session-facts.ts'
import { signInRoutes } from './sign-in-routes.ts'

interface Session {
  readonly id: string
  readonly result: string | null
  readonly events: { event_type: string; timestamp: string; event_description: string }[]
  readonly [name: string]: unknown
}

const TIMEOUT_SECONDS = 600

let api: TestApi
let key: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) => [
    ...authLogRoutes(db, BASE_URL),
    ...signInRoutes({ baseUrl: BASE_URL, runChange, signInTimeoutSeconds: TIMEOUT_SECONDS }),
  ])
  key = await api.createKey(['Record Sign-ins'])
})

afterAll(() => api.close())

const post = <Body = Session>(path: string, payload: object) =>
  api.request<Body>(path, { method: 'POST', key, payload })
const extend = <Body = Session>(id: string, payload: object) =>
  api.request<Body>(`/auth_logs/${id}`, { method: 'PATCH', key, payload })

async function open(payload: object = {}): Promise<string> {
  const { status, body } = await post('/auth_logs', { person_email: 'ada@example.com', ...payload })
  expect(status).toBe(200)
  return body.id
}

const listAudit = (id: string) => listAuditEntries(api, { type: 'auth_log', id })

const countSessions = async () =>
  Number(
    (
      await api.db
        .selectFrom('auth_log_session')
        .select((select) => select.fn.countAll<string>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )

describe('POST /auth_logs', () => {
  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: () => '/auth_logs',
    payload: () => ({ person_email: 'ada@example.com' }),
    permission: 'Record Sign-ins',
  })

  it('keeps who signs in, from where, and what blocks the device at this moment', async () => {
    const personId = await insertPerson(api.db, { email: 'grace@example.com', name: 'Grace' })
    const deviceId = await insertDevice(api.db, { auth_state: 'Blocked' })
    const { status, body } = await post('/auth_logs', {
      person_id: Number(personId),
      device_id: deviceId,
      ip_address: '2001:db8::7',
      agent_version: '5.21.0',
      country: 'Norway',
      browser_name: 'Firefox',
      browser_version: '140.0',
      browser_user_agent: 'Mozilla/5.0 (test)',
      okta_app_name: 'Mail',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      person_name: 'Grace',
      person_email: 'grace@example.com',
      person_info: { identifier: Number(personId) },
      device_info: { identifier: Number(deviceId) },
      result: null,
      initial_status: 'blocked',
      ip_address: '2001:db8::7',
      agent_version: '5.21.0',
      country: 'Norway',
      browser_name: 'Firefox',
      okta_app_name: 'Mail',
      events: [{ event_type: 'sign_in_attempt' }],
    })
    const { body: read } = await api.request(`/auth_logs/${body.id}`)
    expect(read).toEqual(body)
    expect(await listAudit(body.id)).toMatchObject([
      { action: 'auth_log.opened', after: { person_id: personId, device_id: deviceId } },
    ])
  })

  it('creates a person whom nobody knows', async () => {
    // As a SCIM client or a sign-in may have made it.
    await post('/auth_logs', { person_email: 'jörg@müller.example', person_name: 'New Person' })
    const person = await api.db
      .selectFrom('person')
      .select('name')
      .where('email', '=', 'jörg@müller.example')
      .executeTakeFirst()
    expect(person).toEqual({ name: 'New Person' })
  })

  it.each([
    ['nobody', {}, 'person_id'],
    ['two who', { person_id: 1, person_email: 'ada@example.com' }, 'person_id'],
    ['a person that is none', { person_id: 999_999 }, 'person_id'],
    ['a broken address', { person_email: 'ada' }, 'person_email'],
    ['a device that is none', { person_email: 'ada@example.com', device_id: 999_999 }, 'device_id'],
    [
      'an address that is none',
      { person_email: 'ada@example.com', ip_address: '1.2.3' },
      'ip_address',
    ],
    ['no time', { person_email: 'ada@example.com', timeout_seconds: 1 }, 'timeout_seconds'],
    ['what does not exist', { person_email: 'ada@example.com', result: 'Success' }, 'result'],
  ])('refuses %s and writes nothing', async (_what, payload, path) => {
    const before = await countSessions()
    const { status, body } = await post<TestRefusal>('/auth_logs', payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.message).toContain(path)
    expect(await countSessions()).toBe(before)
  })
})

describe('PATCH /auth_logs/{id}', () => {
  let id: string
  beforeAll(async () => {
    id = await open()
  })

  describeWriteContract({
    api: () => api,
    method: 'PATCH',
    path: () => `/auth_logs/${id}`,
    payload: () => ({ events: [] }),
    permission: 'Record Sign-ins',
    missingPaths: () => ['/auth_logs/999999', '/auth_logs/abc'],
  })

  it('adds facts and steps; the status is that of the device when it becomes known', async () => {
    const session = await open()
    const deviceId = await insertDevice(api.db, {
      auth_state: 'Will Block',
      will_block_at: new Date('2026-03-01'),
    })
    const { status, body } = await extend(session, {
      device_id: deviceId,
      city: 'Oslo',
      events: [
        {
          event_type: 'agent_detection_success',
          event_description: 'The agent answered.',
          timestamp: '2026-01-02T03:04:05+01:00',
        },
      ],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      initial_status: 'will_block',
      city: 'Oslo',
      events: [
        { event_type: 'sign_in_attempt' },
        { event_type: 'agent_detection_success', timestamp: '2026-01-02T02:04:05.000Z' },
      ],
    })
    expect((await listAudit(session)).at(-1)).toMatchObject({
      action: 'auth_log.extended',
      before: { device_id: null, event_count: 1 },
      after: { device_id: deviceId, event_count: 2 },
    })
    const other = await extend<TestRefusal>(session, { device_id: await insertDevice(api.db) })
    expect([other.status, other.body.code]).toEqual([409, 'conflict'])
  })

  it('holds a bounded number of events, and has always room for the end', async () => {
    const session = await open()
    const events = Array.from({ length: 50 }, () => ({
      event_type: 'push_notification_sent',
      event_description: 'Once more.',
    }))
    const statuses: number[] = []
    for (let round = 0; round < 4; round += 1) {
      statuses.push((await extend(session, { events })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 409])
    const { body } = await post(`/auth_logs/${session}/close`, { result: 'Fail' })
    expect(body.events.length).toBeLessThanOrEqual(SESSION_EVENTS_MAX)
  })

  it.each([
    ['a type of another form', { events: [{ event_type: 'Ünfit', event_description: 'x' }] }],
    ['an empty description', { events: [{ event_type: 'x', event_description: ' ' }] }],
    [
      'a time without a zone',
      { events: [{ event_type: 'x', event_description: 'x', timestamp: '2026-01-01T00:00:00' }] },
    ],
    ['a device that is none', { device_id: 999_999 }],
  ])('refuses %s and changes nothing', async (_what, payload) => {
    const before = await api.request(`/auth_logs/${id}`)
    const { status, body } = await extend<TestRefusal>(id, payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect((await api.request(`/auth_logs/${id}`)).body).toEqual(before.body)
  })
})

describe('POST /auth_logs/{id}/close', () => {
  let id: string
  beforeAll(async () => {
    id = await open()
  })

  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: () => `/auth_logs/${id}/close`,
    payload: () => ({ result: 'Fail' }),
    permission: 'Record Sign-ins',
    missingPaths: () => ['/auth_logs/999999/close'],
  })

  it('notes a success on the person and the device, once', async () => {
    const personId = await insertPerson(api.db)
    const deviceId = await insertDevice(api.db)
    const { body } = await post('/auth_logs', { person_id: personId, device_id: deviceId })
    const closed = await post(`/auth_logs/${body.id}/close`, { result: 'Success' })
    expect(closed.status).toBe(200)
    expect(closed.body.result).toBe('Success')
    expect(closed.body.events.at(-1)?.event_type).toBe('sign_in_success')
    for (const [table, recordId] of [
      ['person', personId],
      ['device', deviceId],
    ] as const) {
      const row = await api.db
        .selectFrom(table)
        .select('last_authenticated_at')
        .where('id', '=', recordId)
        .executeTakeFirstOrThrow()
      expect(row.last_authenticated_at).toEqual(api.clock.now())
    }
    expect((await listAudit(body.id)).at(-1)).toMatchObject({
      action: 'auth_log.closed',
      before: { result: null },
      after: { result: 'Success' },
    })
    const again = await post<TestRefusal>(`/auth_logs/${body.id}/close`, { result: 'Fail' })
    expect([again.status, again.body.code]).toEqual([409, 'conflict'])
    const late = await extend<TestRefusal>(body.id, { events: [] })
    expect(late.status).toBe(409)
  })

  it('notes a failure in the words of whoever led the sign-in, on nobody', async () => {
    const personId = await insertPerson(api.db)
    const { body } = await post('/auth_logs', { person_id: personId })
    const closed = await post(`/auth_logs/${body.id}/close`, {
      result: 'Fail',
      event_description: 'The password was wrong.',
    })
    expect(closed.body.events.at(-1)).toMatchObject({
      event_type: 'sign_in_failure',
      event_description: 'The password was wrong.',
    })
    const person = await api.db
      .selectFrom('person')
      .select('last_authenticated_at')
      .where('id', '=', personId)
      .executeTakeFirstOrThrow()
    expect(person.last_authenticated_at).toBeNull()
  })
})

describe('a sign-in that nobody finishes', () => {
  const run = () => abandonSessions({ db: api.db, runChange: api.runChange })

  it('fails at the exact end of its time, and not before', async () => {
    await run()
    const startedAt = api.clock.now()
    const id = await open({ timeout_seconds: 60 })
    api.clock.advance(59 * SECOND_MS)
    expect(await run()).toEqual(new Date(startedAt.getTime() + 60 * SECOND_MS))
    expect((await api.request<Session>(`/auth_logs/${id}`)).body.result).toBeNull()
    // However late the worker comes, the time is the one at which it was over.
    api.clock.advance(90 * SECOND_MS)
    await run()
    const { body } = await api.request<Session>(`/auth_logs/${id}`)
    expect(body.result).toBe('Fail')
    expect(body.events.at(-1)).toEqual({
      event_type: 'sign_in_abandoned',
      event_description: 'The sign-in was never finished.',
      timestamp: new Date(startedAt.getTime() + 60 * SECOND_MS).toISOString(),
    })
    expect((await listAudit(id)).at(-1)).toMatchObject({
      action: 'auth_log.abandoned',
      actor_type: 'System',
    })
    expect((await post(`/auth_logs/${id}/close`, { result: 'Success' })).status).toBe(409)
  })

  it('has its whole time again after each step', async () => {
    const id = await open({ timeout_seconds: 60 })
    api.clock.advance(50 * SECOND_MS)
    await extend(id, { events: [] })
    api.clock.advance(50 * SECOND_MS)
    await run()
    expect((await api.request<Session>(`/auth_logs/${id}`)).body.result).toBeNull()
    api.clock.advance(11 * SECOND_MS)
    await run()
    expect((await api.request<Session>(`/auth_logs/${id}`)).body.result).toBe('Fail')
  })

  it('is ended once by several workers', async () => {
    const ids = [await open({ timeout_seconds: 60 }), await open({ timeout_seconds: 60 })]
    api.clock.advance(61 * SECOND_MS)
    await Promise.all([run(), run(), run()])
    for (const id of ids) {
      const actions = (await listAudit(id)).map(({ action }) => action)
      expect(actions).toEqual(['auth_log.opened', 'auth_log.abandoned'])
    }
  })
})
