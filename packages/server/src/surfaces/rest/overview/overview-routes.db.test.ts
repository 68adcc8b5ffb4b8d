import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../../test/support/api-app.ts'
import {
  insertAuthLogSession,
  insertDevice,
  insertPerson,
  insertReenrollmentRequest,
} from '../../../../test/support/factories.ts'
import {
  createPosture,
  FAIL,
  PASS,
  type Posture,
} from '../../../../test/support/posture-fixtures.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/clock.ts'
import { recordStatusCounts } from '../../../posture/overview/count-statuses.ts'
import { overviewRoutes } from './overview-routes.ts'

let api: TestApi
/** Of whoever may see everything that is shown. */
let key: string
let posture: Posture

beforeAll(async () => {
  api = await createTestApi(({ db, clock }) => {
    posture = createPosture(db)
    return overviewRoutes({ db, clock, freshMs: 0 })
  })
  key = await api.createKey(['Manage Shared Signals Framework Streams', 'Manage Webhooks'])
})

afterAll(() => api.close())

type Body = Readonly<Record<string, never>>
const read = async (query = '') => (await api.request<Body>(`/overview${query}`, { key })).body
const refuse = (url: string) => api.request<TestRefusal>(url)
const later = (ms: number) => new Date(api.clock.now().getTime() + ms)
const advance = (ms: number) => {
  api.clock.advance(ms)
  posture.clock.advance(ms)
}

describe('GET /overview', () => {
  it('of an empty installation says that nothing needs attention', async () => {
    const { status, body } = await api.request<Body>('/overview', { key })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      as_of: api.clock.now().toISOString(),
      devices: { total: 0, good: 0, notified: 0, will_block: 0, blocked: 0 },
      failing_checks: [],
      stopped_sign_ins: {
        today: { count: 0, exact: true },
        last_seven_days: { count: 0, exact: true },
        latest: [],
      },
      streams: [],
      webhooks: [],
      waiting_requests: {
        exemption: { count: 0, oldest_requested_at: null },
        registration: { count: 0, oldest_requested_at: null },
        reenrollment: { count: 0, oldest_requested_at: null },
      },
    })
    expect(body['blocking_days']).toHaveLength(7)
    expect(body['blocking_days']).toMatchObject(Array(7).fill({ device_count: 0, devices: [] }))
  })

  it('counts devices by status, names the checks that most fail, and leaves paused ones out', async () => {
    const [checkId, rareId, pausedId] = [
      await posture.insertCheck({ remediation_strategy: 'warn_then_block', grace_period_days: 3 }),
      await posture.insertCheck({ remediation_strategy: 'report_only', name: 'Firewall' }),
      await posture.insertCheck({ remediation_strategy: 'report_only', paused_at: null }),
    ]
    const ownerId = await insertPerson(api.db, { name: 'Grace Hopper' })
    const deviceIds = [
      await posture.insertDevice({ owner_person_id: ownerId, registered_at: posture.clock.now() }),
      await posture.insertDevice(),
      await posture.insertDevice(),
    ]
    for (const [index, deviceId] of deviceIds.entries()) {
      await posture.report(deviceId, {
        [checkId]: index < 2 ? FAIL : PASS,
        [rareId]: index === 0 ? FAIL : PASS,
        [pausedId]: FAIL,
      })
    }
    await api.db
      .updateTable('posture_check')
      .set({ paused_at: posture.clock.now() })
      .where('id', '=', pausedId)
      .execute()
    const body = await read()
    expect(body).toMatchObject({
      devices: { total: 3, good: 1, notified: 0, will_block: 2, blocked: 0 },
      failing_checks: [
        {
          id: checkId,
          name: 'Disk encryption',
          remediation_strategy: 'warn_then_block',
          failing_count: 2,
          passing_count: 1,
        },
        { id: rareId, name: 'Firewall', failing_count: 1, passing_count: 2 },
      ],
    })
    const days = body['blocking_days'] as unknown as { date: string; device_count: number }[]
    const blocksAt = later(3 * DAY_MS).toISOString()
    expect(days.map(({ device_count: count }) => count)).toEqual([0, 0, 0, 2, 0, 0, 0])
    expect(days[3]).toMatchObject({
      date: blocksAt.slice(0, 10),
      devices: [
        {
          id: deviceIds[0],
          will_block_at: blocksAt,
          owner_person_id: ownerId,
          owner_name: 'Grace Hopper',
        },
        { id: deviceIds[1], will_block_at: blocksAt, owner_person_id: null, owner_name: null },
      ],
    })
  })

  it('tells days of the zone that is asked for, what is overdue as today, and five devices of a day', async () => {
    const willBlock = async (at: Date) =>
      insertDevice(api.db, { auth_state: 'Will Block', will_block_at: at, compliance: 'compliant' })
    const overdueId = await willBlock(later(-2 * DAY_MS))
    for (let count = 0; count < 6; count += 1) await willBlock(later(5 * DAY_MS + count))
    const body = await read('?time_zone=Asia/Kolkata')
    const days = body['blocking_days'] as unknown as {
      date: string
      device_count: number
      devices: { id: string }[]
    }[]
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Kolkata' })
    expect(days[0]).toMatchObject({
      date: today.format(api.clock.now()),
      device_count: 1,
      devices: [{ id: overdueId }],
    })
    expect(days[5]).toMatchObject({ device_count: 6 })
    expect(days[5]?.devices).toHaveLength(5)
  })

  it('refuses a zone that does not exist', async () => {
    for (const zone of ['Mars', '', 'x'.repeat(65)]) {
      const { status, body } = await refuse(`/overview?time_zone=${zone}`)
      expect([status, body.code]).toEqual([400, 'invalid_parameter'])
    }
    expect((await api.request('/overview', { key: null })).status).toBe(401)
  })

  it('counts the sign-ins that were stopped today and in seven days', async () => {
    const at = (ms: number, result: 'Fail' | 'Success' | null) =>
      insertAuthLogSession(api.db, { started_at: later(ms), result, initial_status: 'blocked' })
    await at(-8 * DAY_MS, 'Fail')
    await at(-6 * DAY_MS, 'Fail')
    await at(0, 'Success')
    await at(0, null)
    const lastId = await at(0, 'Fail')
    expect(await read()).toMatchObject({
      stopped_sign_ins: {
        today: { count: 1, exact: true },
        last_seven_days: { count: 2, exact: true },
        latest: [
          { id: lastId, person_name: 'Ada Lovelace', device_id: null, initial_status: 'blocked' },
          { started_at: later(-6 * DAY_MS).toISOString() },
        ],
      },
    })
  })

  it('names streams and webhooks that fail or were stopped, and no webhook that an admin switched off', async () => {
    const failure = {
      consecutive_failures: 3,
      failing_since: later(-HOUR_MS),
      last_failure: 'The receiver answered 503',
    }
    const addDestination = async (kind: 'ssf_push' | 'webhook', values = {}) => {
      const { id } = await api.db
        .insertInto('delivery_destination')
        .values({ kind, state: 'active', ...values })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    }
    const times = { created_at: api.clock.now(), updated_at: api.clock.now() }
    const addWebhook = async (name: string, values: object, destination = {}) => {
      await api.db
        .insertInto('webhook')
        .values({
          destination_id: await addDestination('webhook', destination),
          identifier: name,
          name,
          url: 'http://127.0.0.1:9',
          events: [],
          signing: 'standard',
          ...times,
          ...values,
        })
        .execute()
    }
    await addWebhook('well', {})
    await addWebhook('failing', {}, failure)
    await addWebhook('gone', { enabled: false, disabled_reason: 'gone', disabled_at: later(0) })
    await addWebhook('off', { enabled: false, disabled_reason: 'admin', disabled_at: later(0) })
    const body = await read()
    expect(body['streams']).toEqual([])
    expect(body['webhooks']).toMatchObject([
      {
        name: 'failing',
        state: 'failing',
        stop_reason: null,
        failing_since: later(-HOUR_MS).toISOString(),
        last_failure: 'The receiver answered 503',
      },
      { name: 'gone', state: 'stopped', stop_reason: 'gone', last_failure: null },
    ])
  })

  it('counts requests that wait, and says since when the oldest does', async () => {
    const device_id = await insertDevice(api.db)
    const request = { device_id, requester_message: 'Please.', updated_at: later(0) }
    for (const status of ['open', 'denied', 'open'] as const) {
      const requested_at = later(-HOUR_MS)
      const decided_at = status === 'open' ? null : later(0)
      const values = { ...request, status, requested_at, decided_at }
      await api.db.insertInto('exemption_request').values(values).execute()
    }
    const values = { ...request, requested_at: later(-MINUTE_MS) }
    await api.db.insertInto('registration_request').values(values).execute()
    await insertReenrollmentRequest(api.db, device_id)
    expect(await read()).toMatchObject({
      waiting_requests: {
        exemption: { count: 2, oldest_requested_at: later(-HOUR_MS).toISOString() },
        registration: { count: 1, oldest_requested_at: later(-MINUTE_MS).toISOString() },
        reenrollment: { count: 1, oldest_requested_at: '2026-01-02T03:04:05.678Z' },
      },
    })
  })
})

describe('GET /overview/device_statuses', () => {
  interface Course {
    readonly step: string
    readonly points: readonly { readonly at: string; readonly [status: string]: number | string }[]
  }
  const readCourse = async (query: string) =>
    (await api.request<Course>(`/overview/device_statuses?${query}`)).body

  it('makes the time before the first count of transitions, and counts on from there', async () => {
    await api.db.deleteFrom('device').execute()
    await api.db.updateTable('posture_check').set({ paused_at: posture.clock.now() }).execute()
    const checkId = await posture.insertCheck()
    advance(HOUR_MS - (api.clock.now().getTime() % HOUR_MS) + 10 * MINUTE_MS)
    const beganAt = api.clock.now()
    const deviceId = await posture.insertDevice()
    advance(HOUR_MS)
    await posture.report(deviceId, { [checkId]: PASS })
    advance(HOUR_MS)
    await posture.insertDevice()
    advance(HOUR_MS)
    await posture.report(deviceId, { [checkId]: FAIL })
    advance(10 * MINUTE_MS)
    await recordStatusCounts(api.db, api.clock.now())
    await recordStatusCounts(api.db, api.clock.now())
    advance(5 * MINUTE_MS)
    await posture.report(deviceId, { [checkId]: PASS })
    await recordStatusCounts(api.db, api.clock.now())
    advance(2 * MINUTE_MS)

    const full = new Date(beganAt.getTime() - 10 * MINUTE_MS)
    const course = await readCourse(`from=${full.toISOString()}&step=1h`)
    expect(course.step).toBe('1h')
    const atHour = (hours: number, good: number, blocked: number) => ({
      at: new Date(full.getTime() + hours * HOUR_MS).toISOString(),
      ...{ good, notified: 0, will_block: 0, blocked },
    })
    expect(course.points).toEqual([
      atHour(1, 0, 1),
      atHour(2, 1, 0),
      atHour(3, 1, 1),
      { ...atHour(0, 1, 1), at: api.clock.now().toISOString() },
    ])
    const fine = await readCourse(`from=${later(-10 * MINUTE_MS).toISOString()}&step=5m`)
    expect(fine.points.map(({ good, blocked }) => [good, blocked])).toEqual([
      [1, 1],
      [0, 2],
      [1, 1],
    ])
  })

  it('shows a week in the shortest step that gives at most 200 points, up to a past time as well', async () => {
    expect(await readCourse('')).toMatchObject({
      step: '1h',
      from: later(-7 * DAY_MS).toISOString(),
      to: api.clock.now().toISOString(),
    })
    const to = later(-MINUTE_MS).toISOString()
    const { points } = await readCourse(`from=${later(-5 * MINUTE_MS).toISOString()}&to=${to}`)
    expect(points.at(-1)?.at).toBe(to)
  })

  it('refuses a time without length, too many points, and words that mean nothing', async () => {
    const now = api.clock.now().toISOString()
    for (const query of [
      `from=${now}`,
      `from=${later(-30 * DAY_MS).toISOString()}&step=5m`,
      'step=2h',
      'from=yesterday',
      'until=now',
    ]) {
      const { status, body } = await refuse(`/overview/device_statuses?${query}`)
      expect([query, status, body.code]).toEqual([query, 400, 'invalid_parameter'])
    }
  })
})
