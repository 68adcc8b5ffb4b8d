import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../../test/support/api-app.ts'
import { insertAuthLogSession } from '../../../../test/support/factories.ts'
import {
  createPosture,
  FAIL,
  PASS,
  type Posture,
} from '../../../../test/support/posture-fixtures.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts'
import { deviceExplanationRoutes } from './explanation-routes.ts'

let api: TestApi
let posture: Posture

beforeAll(async () => {
  api = await createTestApi(({ db, clock }) => {
    posture = createPosture(db)
    return deviceExplanationRoutes({ db, clock })
  })
})

afterAll(() => api.close())

const explain = async (id: string) =>
  (await api.request<Record<string, unknown>>(`/devices/${id}/status_explanation`)).body
const later = (ms: number) => new Date(api.clock.now().getTime() + ms)

/** A device that fails checks with these strategies, and no others. */
async function addDevice(
  strategies: Readonly<
    Record<string, 'block_immediately' | 'warn_then_block' | 'notify_only' | 'report_only'>
  >,
) {
  await api.db.updateTable('posture_check').set({ paused_at: api.clock.now() }).execute()
  const rows: Record<string, Record<string, string>[]> = {}
  for (const [title, strategy] of Object.entries(strategies)) {
    const values = { remediation_strategy: strategy, issue_title: title, grace_period_days: 3 }
    rows[await posture.insertCheck(values)] = FAIL
  }
  const passing = await posture.insertCheck()
  const deviceId = await posture.insertDevice()
  await posture.report(deviceId, { ...rows, [passing]: PASS })
  return deviceId
}

describe('GET /devices/{id}/status_explanation', () => {
  it('says why a device is Good', async () => {
    expect(await explain(await addDevice({ 'Only reported': 'report_only' }))).toMatchObject({
      auth_state: 'Good',
      compliance: 'compliant',
      sentence: 'Good: no open issue counts against the device.',
      since: api.clock.now().toISOString(),
      failing_since: null,
      evaluated: true,
      issues: [{ issue_title: 'Only reported', effect: 'reports', state_without: 'Good' }],
      next_change: null,
      what_changes_it: [],
    })
  })

  it('names what blocks a device, since when, and what it would be without', async () => {
    const deviceId = await addDevice({
      'No disk encryption': 'block_immediately',
      'No firewall': 'warn_then_block',
    })
    expect(await explain(deviceId)).toMatchObject({
      auth_state: 'Blocked',
      sentence: 'Blocked: "No disk encryption" blocks the device.',
      failing_since: api.clock.now().toISOString(),
      issues: [
        { issue_title: 'No disk encryption', effect: 'decides', state_without: 'Will Block' },
        { issue_title: 'No firewall', effect: 'counts', state_without: 'Blocked' },
      ],
      what_changes_it: [
        '"No disk encryption" is resolved or exempted: the status becomes Will Block.',
      ],
    })
  })

  it('says that all must be resolved where none alone changes the status', async () => {
    const deviceId = await addDevice({ A: 'block_immediately', B: 'block_immediately' })
    expect(await explain(deviceId)).toMatchObject({
      sentence: 'Blocked: "A" blocks the device; 1 more issue does so too.',
      what_changes_it: ['All of these are resolved or exempted: "A", "B".'],
    })
  })

  it('tells what time alone will change: the end of a grace period, and of an exemption', async () => {
    const deviceId = await addDevice({ 'No firewall': 'warn_then_block' })
    const blocksAt = later(3 * DAY_MS).toISOString()
    expect(await explain(deviceId)).toMatchObject({
      auth_state: 'Will Block',
      sentence: 'Will Block: "No firewall" will block the device.',
      will_block_at: blocksAt,
      next_change: { at: blocksAt, auth_state: 'Blocked' },
    })
    await api.db
      .updateTable('issue')
      .set({ exempted_at: api.clock.now(), exemption_expires_at: later(HOUR_MS) })
      .where('device_id', '=', deviceId)
      .execute()
    expect(await explain(deviceId)).toMatchObject({
      auth_state: 'Good',
      issues: [{ effect: 'exempted', exemption_expires_at: later(HOUR_MS).toISOString() }],
      next_change: { at: later(HOUR_MS).toISOString(), auth_state: 'Will Block' },
    })
  })

  it('says of a new device how many checks it owes', async () => {
    await api.db.updateTable('posture_check').set({ paused_at: api.clock.now() }).execute()
    await posture.insertCheck()
    const deviceId = await posture.insertDevice()
    expect(await explain(deviceId)).toMatchObject({
      auth_state: 'Blocked',
      evaluated: false,
      unanswered_checks_count: 1,
      sentence: 'Blocked: the device has not answered its checks yet.',
      what_changes_it: ['The device answers its checks; 1 of them waits.'],
    })
  })

  it.each(['999999', 'x'])('answers 404 for the device %s', async (id) => {
    expect((await api.request(`/devices/${id}/status_explanation`)).status).toBe(404)
    expect((await api.request(`/devices/${id}/check_ins`)).status).toBe(404)
  })
})

describe('GET /devices/{id}/check_ins', () => {
  it('says when a device was last heard of, by what it did', async () => {
    const at = api.clock.now()
    const deviceId = await posture.insertDevice({ enrolled_at: at, last_authenticated_at: at })
    const read = async () =>
      (await api.request<Record<string, unknown>>(`/devices/${deviceId}/check_ins`)).body
    expect(await read()).toEqual({
      device_id: deviceId,
      last_contact_at: null,
      ip_address: null,
      enrolled_at: at.toISOString(),
      last_round_at: null,
      last_result_at: null,
      last_report_at: null,
      last_sign_in_at: null,
      last_authenticated_at: at.toISOString(),
    })
    const contact = { device_id: deviceId, last_seen_at: at, ip_address: '192.0.2.4' }
    await api.db.insertInto('device_contact').values(contact).execute()
    await api.db.insertInto('device_round').values({ device_id: deviceId, ran_at: at }).execute()
    await insertAuthLogSession(api.db, { device_id: deviceId, started_at: later(-HOUR_MS) })
    expect(await read()).toMatchObject({
      last_contact_at: at.toISOString(),
      ip_address: '192.0.2.4',
      last_round_at: at.toISOString(),
      last_result_at: at.toISOString(),
      last_sign_in_at: later(-HOUR_MS).toISOString(),
    })
  })
})
