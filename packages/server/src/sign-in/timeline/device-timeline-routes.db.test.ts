import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import {
  insertAuthLogSession,
  insertPerson,
  insertReenrollmentRequest,
} from '../../../test/support/factories.ts'
import { createPosture, FAIL, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { checkConfigurationRoutes } from '../../posture/checks/configuration/check-configuration-routes.ts'
import { deviceTimelineRoutes } from './device-timeline-routes.ts'

interface Entry {
  readonly kind: string
  readonly description: string
  readonly occurred_at: string
  readonly [name: string]: unknown
}
interface Page {
  readonly data: readonly Entry[]
  readonly pagination: { readonly next: string; readonly next_cursor: string }
}

let api: TestApi
let posture: Posture

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) => {
    posture = createPosture(db)
    return [...deviceTimelineRoutes(db, BASE_URL), ...checkConfigurationRoutes({ db, runChange })]
  })
})

afterAll(() => api.close())

const advance = () => {
  api.clock.advance(MINUTE_MS)
  posture.clock.advance(MINUTE_MS)
}
const read = async (id: string, query = '') =>
  (await api.request<Page>(`/devices/${id}/timeline?${query}`)).body

/** A device of which every source tells something, a minute apart. */
async function addEventfulDevice() {
  const key = await api.createKey(['Manage Checks'])
  const ownerId = await insertPerson(api.db, { name: 'Grace Hopper' })
  const checkId = await posture.insertCheck({ name: 'Encryption', issue_title: 'Not encrypted' })
  const at = posture.clock.now()
  const owner = { owner_person_id: ownerId, registered_at: at, enrolled_at: at }
  const deviceId = await posture.insertDevice(owner)
  for (const rows of [FAIL, PASS]) {
    advance()
    await posture.report(deviceId, { [checkId]: rows })
  }
  advance()
  await insertAuthLogSession(api.db, {
    ...{ device_id: deviceId, started_at: api.clock.now(), result: 'Fail' },
    ...{ initial_status: 'blocked', app_name: 'Payroll' },
  })
  advance()
  const request = {
    ...{ device_id: deviceId, requester_message: 'Please.', requested_at: api.clock.now() },
    updated_at: api.clock.now(),
  }
  const decided = { decided_at: new Date(api.clock.now().getTime() + 1), decided_by: 'Ada' }
  await api.db
    .insertInto('exemption_request')
    .values({ ...request, ...decided, status: 'denied' })
    .execute()
  await api.db.insertInto('registration_request').values(request).execute()
  advance()
  await posture.report(deviceId, { [checkId]: FAIL })
  advance()
  const payload = { remediation_strategy: 'report_only' }
  const url = `/checks/${checkId}/configurations`
  await api.request(url, { method: 'PATCH', key, payload })
  return { deviceId, checkId }
}

describe('GET /devices/{id}/timeline', () => {
  it('tells everything in one list, the latest first, each with its record', async () => {
    const { deviceId, checkId } = await addEventfulDevice()
    await insertReenrollmentRequest(api.db, deviceId)
    const { data } = await read(deviceId, 'per_page=100')
    const times = data.map(({ occurred_at: at }) => at)
    expect(times).toEqual(times.toSorted().reverse())
    expect(data[0]).toMatchObject({
      kind: 'status_changed',
      from_state: 'Blocked',
      to_state: 'Good',
      configured_check_id: checkId,
      record_type: 'device_status_transition',
      link: null,
    })
    expect(new Set(data.map(({ kind }) => kind))).toEqual(
      new Set([
        ...['status_changed', 'check_result_changed', 'issue_opened', 'issue_resolved', 'sign_in'],
        ...['exemption_requested', 'exemption_decided', 'registration_requested'],
        ...['registered', 'reenrollment_requested', 'enrolled'],
      ]),
    )
    const of = (kind: string) => data.find((entry) => entry.kind === kind)
    expect(of('sign_in')).toMatchObject({
      description: 'A sign-in to Payroll was stopped.',
      from_state: 'blocked',
      link: expect.stringMatching(/\/auth_logs\/\d+$/) as unknown,
    })
    expect(of('issue_opened')).toMatchObject({
      description: 'The issue "Not encrypted" was opened.',
      record_type: 'issue',
      link: expect.stringMatching(/\/issues\/\d+$/) as unknown,
    })
    expect(of('check_result_changed')?.description).toBe(
      'The check Encryption went from passing to failing.',
    )
    expect(of('exemption_decided')).toMatchObject({ to_state: 'denied', actor_name: 'Ada' })
    expect(of('registered')?.description).toBe('The device was registered to Grace Hopper.')
  })

  it('is the same page by page, also where much happened at the same time', async () => {
    const { deviceId } = await addEventfulDevice()
    const whole = await read(deviceId, 'per_page=100')
    const paged: Entry[] = []
    let url = `/devices/${deviceId}/timeline?per_page=2`
    while (url !== '') {
      const { body } = await api.request<Page>(url)
      paged.push(...body.data)
      url = body.pagination.next.replace(BASE_URL, '')
    }
    expect(paged).toEqual(whole.data)
    expect(paged.length).toBeGreaterThan(10)
  })

  it('tells nothing of other devices', async () => {
    await addEventfulDevice()
    const deviceId = await posture.insertDevice()
    const { data } = await read(deviceId)
    expect(data.every(({ kind }) => kind === 'status_changed')).toBe(true)
    expect(data.length).toBeLessThan(2)
  })

  it.each(['999999', 'x'])('answers 404 for the device %s', async (id) => {
    expect((await api.request(`/devices/${id}/timeline`)).status).toBe(404)
  })
})
