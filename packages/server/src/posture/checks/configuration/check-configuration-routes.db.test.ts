import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApi, TestRefusal } from '../../../../test/support/api-app.ts'
import { listAuditEntries } from '../../../../test/support/write-contract.ts'
import { insertDeviceGroup } from '../../../../test/support/factories.ts'
import { createPostureApi, type PostureApi } from '../../../../test/support/posture-api.ts'
import { FAIL, PASS, type Posture } from '../../../../test/support/posture-fixtures.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts'
import { listCounterDrift } from '../../../../test/support/list-counter-drift.ts'
import { checkConfigurationRoutes } from './check-configuration-routes.ts'

interface ConfigurationBody {
  readonly revision: string
  readonly paused: boolean
  readonly options: string
  readonly [name: string]: unknown
}

let api: TestApi
let posture: Posture
let key: string
let advance: PostureApi['advance']

beforeAll(async () => {
  ;({ api, posture, key, advance } = await createPostureApi('Manage Checks', ({ db, runChange }) =>
    checkConfigurationRoutes({ db, runChange }),
  ))
})

afterAll(() => api.close())

const url = (checkId: string) => `/checks/${checkId}/configurations`
const read = async (checkId: string) => (await api.request<ConfigurationBody>(url(checkId))).body
const patch = (checkId: string, payload: object) =>
  api.request<ConfigurationBody>(url(checkId), { method: 'PATCH', key, payload })
const refuse = (checkId: string, payload: object) =>
  api.request<TestRefusal>(url(checkId), { method: 'PATCH', key, payload })
const readDevice = (id: string) =>
  api.db.selectFrom('device').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const readIssue = (deviceId: string) =>
  api.db.selectFrom('issue').selectAll().where('device_id', '=', deviceId).executeTakeFirstOrThrow()
const listAudit = (checkId: string) =>
  listAuditEntries(api, { type: 'check', id: checkId }, 'check.configured')

/** A check that blocks at once, failing on a device of its own. */
async function addFailure(values: Parameters<Posture['insertCheck']>[0] = {}) {
  const checkId = await posture.insertCheck({ platforms: ['darwin'], ...values })
  const deviceId = await posture.insertDevice()
  const checks = await api.db.selectFrom('posture_check').select('id').execute()
  const rows = Object.fromEntries(checks.map(({ id }) => [id, id === checkId ? FAIL : PASS]))
  await posture.report(deviceId, rows)
  return { checkId, deviceId }
}

describe('GET /checks/{id}/configurations', () => {
  it('answers the whole configuration, with numbers as ids', async () => {
    const checkId = await posture.insertCheck({
      slug: 'of-interest',
      options: JSON.stringify({ days: 3 }),
    })
    const { status, body } = await api.request(url(checkId))
    expect(status).toBe(200)
    expect(body).toEqual({
      id: Number(checkId),
      organization_id: 1,
      check_id: Number(checkId),
      name: 'Disk encryption',
      check_slug: 'of-interest',
      issue_title: 'A disk is not encrypted',
      options: '{"days":3}',
      use_custom_rationale_template: false,
      use_custom_fix_instructions_template: false,
      paused: false,
      paused_by: null,
      paused_at: null,
      revision: '1',
      block_auth_grace_period_days: 0,
      auth_check_run_shelf_life_seconds: 3600,
      begins_blocking_on: null,
      snooze_disallowed: false,
      exemptions_disallowed: false,
      customized_remediation_targeting: false,
      customized_run_targeting: false,
      remediation_strategy: 'block_immediately',
      rollout_percent: 100,
      targeted_groups: [],
      excluded_groups: [],
      blocking_allowed_groups: [],
      blocking_excluded_groups: [],
    })
  })

  it.each(['999999', 'x', '0'])('answers 404 for the check %s', async (id) => {
    expect((await api.request(url(id))).status).toBe(404)
  })
})

describe('PATCH /checks/{id}/configurations', () => {
  it('changes what is given, raises the revision and records old and new values', async () => {
    const checkId = await posture.insertCheck()
    const { status, body } = await patch(checkId, {
      remediation_strategy: 'warn_then_block',
      block_auth_grace_period_days: 7,
      snooze_disallowed: true,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      remediation_strategy: 'warn_then_block',
      block_auth_grace_period_days: 7,
      snooze_disallowed: true,
      exemptions_disallowed: false,
      revision: '2',
    })
    expect(await read(checkId)).toEqual(body)
    expect(await listAudit(checkId)).toMatchObject([
      {
        actor_type: 'ApiKey',
        before: {
          remediation_strategy: 'block_immediately',
          block_auth_grace_period_days: 0,
          snooze_disallowed: false,
          revision: 1,
        },
        after: {
          remediation_strategy: 'warn_then_block',
          block_auth_grace_period_days: 7,
          snooze_disallowed: true,
          revision: 2,
        },
      },
    ])
  })

  it('answers PUT as well', async () => {
    const checkId = await posture.insertCheck()
    const payload = { exemptions_disallowed: true }
    const { status, body } = await api.request(url(checkId), { method: 'PUT', key, payload })
    expect(status).toBe(200)
    expect(body).toMatchObject({ exemptions_disallowed: true })
  })

  it('does nothing when nothing changes', async () => {
    const checkId = await posture.insertCheck()
    for (const payload of [{}, { paused: false, targeted_groups: [] }]) {
      const { status, body } = await patch(checkId, payload)
      expect(status).toBe(200)
      expect(body.revision).toBe('1')
    }
    expect(await listAudit(checkId)).toEqual([])
  })

  it('pauses: issues stop to count at once, and count again afterwards', async () => {
    const { checkId, deviceId } = await addFailure()
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    const announcedBefore = posture.announced.length
    const { body } = await patch(checkId, { paused: true })
    expect(body).toMatchObject({ paused: true, paused_at: api.clock.now().toISOString() })
    expect(body['paused_by']).toMatch(/^key /)
    expect(await readDevice(deviceId)).toMatchObject({
      auth_state: 'Good',
      compliance: 'compliant',
    })
    await patch(checkId, { paused: false })
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    const announced = posture.announced.slice(announcedBefore)
    expect(announced).toMatchObject([
      { device: { id: deviceId }, initiatingEntity: 'admin', current: { authState: 'Good' } },
      { device: { id: deviceId }, initiatingEntity: 'admin', current: { authState: 'Blocked' } },
    ])
  })

  it('moves blocking times and the status with strategy, grace period and begin of blocking', async () => {
    const { checkId, deviceId } = await addFailure()
    const { detected_at: detectedAt } = await readIssue(deviceId)
    const inDays = (days: number) => new Date(detectedAt.getTime() + days * DAY_MS)
    await patch(checkId, {
      remediation_strategy: 'warn_then_block',
      block_auth_grace_period_days: 3,
    })
    expect(await readDevice(deviceId)).toMatchObject({
      auth_state: 'Will Block',
      will_block_at: inDays(3),
    })
    await patch(checkId, { begins_blocking_on: inDays(5).toISOString() })
    expect((await readIssue(deviceId)).blocks_device_at).toEqual(inDays(5))
    expect((await readDevice(deviceId)).will_block_at).toEqual(inDays(5))
    await patch(checkId, { begins_blocking_on: null, remediation_strategy: 'notify_only' })
    expect(await readDevice(deviceId)).toMatchObject({
      auth_state: 'Notified',
      will_block_at: null,
      reevaluate_at: null,
    })
    await patch(checkId, { remediation_strategy: 'report_only' })
    expect((await readDevice(deviceId)).auth_state).toBe('Good')
  })

  it('takes groups by id and by platform, and changes who runs the check and who is blocked', async () => {
    const { checkId, deviceId } = await addFailure()
    const groupId = await insertDeviceGroup(api.db, { name: 'Kiosks' })
    await api.db
      .insertInto('device_group_member')
      .values({ device_group_id: groupId, device_id: deviceId, added_at: api.clock.now() })
      .execute()
    const spared = await patch(checkId, { blocking_excluded_groups: [Number(groupId), 'linux'] })
    expect(spared.body).toMatchObject({
      blocking_excluded_groups: [groupId, 'linux'],
      customized_remediation_targeting: true,
      customized_run_targeting: false,
    })
    expect((await readDevice(deviceId)).auth_state).toBe('Notified')
    const excluded = await patch(checkId, { excluded_groups: [groupId, groupId] })
    expect(excluded.body).toMatchObject({
      excluded_groups: [groupId],
      customized_run_targeting: true,
    })
    expect(await readIssue(deviceId)).toMatchObject({ resolved_at: api.clock.now() })
    const result = await api.db
      .selectFrom('check_result')
      .select('status')
      .where('device_id', '=', deviceId)
      .where('check_id', '=', checkId)
      .executeTakeFirstOrThrow()
    expect(result.status).toBe('out_of_scope')
    expect((await readDevice(deviceId)).auth_state).toBe('Good')
    expect(await listCounterDrift(api.db)).toEqual([])
  })

  it('settles a grace period that ended before the change at its own time', async () => {
    const { checkId, deviceId } = await addFailure({
      remediation_strategy: 'warn_then_block',
      grace_period_days: 1,
    })
    const { blocks_device_at: endsAt } = await readIssue(deviceId)
    advance(DAY_MS + HOUR_MS)
    await patch(checkId, { remediation_strategy: 'report_only' })
    const transitions = await api.db
      .selectFrom('device_status_transition')
      .select(['to_state', 'occurred_at', 'initiating_entity'])
      .where('device_id', '=', deviceId)
      .orderBy('id')
      .execute()
    expect(transitions.slice(-2)).toEqual([
      { to_state: 'Blocked', occurred_at: endsAt, initiating_entity: 'policy' },
      { to_state: 'Good', occurred_at: api.clock.now(), initiating_entity: 'admin' },
    ])
  })

  it.each([
    ['a text', '{"a": {"b": [1]}}'],
    ['an object', { a: { b: [1] } }],
  ])('replaces the options by %s', async (_name, options) => {
    const checkId = await posture.insertCheck({ options: JSON.stringify({ old: true }) })
    const { body } = await patch(checkId, { options })
    expect(body.options).toBe('{"a":{"b":[1]}}')
  })

  it.each([
    ['paused', 'yes'],
    ['remediation_strategy', 'block'],
    ['block_auth_grace_period_days', -1],
    ['block_auth_grace_period_days', 366],
    ['block_auth_grace_period_days', 1.5],
    ['auth_check_run_shelf_life_seconds', 2_592_001],
    ['begins_blocking_on', 'tomorrow'],
    ['snooze_disallowed', null],
    ['exemptions_disallowed', 1],
    ['targeted_groups', 'macos'],
    ['options', '[1]'],
    ['options', '{'],
    ['options', 7],
    ['options', { text: 'x'.repeat(17_000) }],
    ['options', JSON.parse('{"a":'.repeat(20) + '1' + '}'.repeat(20)) as object],
    ['unknown_member', true],
  ])('refuses a bad %s (case %#), and changes nothing', async (name, value) => {
    const checkId = await posture.insertCheck()
    const payload = { snooze_disallowed: true, [name]: value }
    const { status, body } = await refuse(checkId, payload)
    expect(status).toBe(422)
    expect(body.code).toBe('invalid_body')
    expect(body.details?.some(({ path }) => path.startsWith(name))).toBe(true)
    expect((await read(checkId)).revision).toBe('1')
    expect(await listAudit(checkId)).toEqual([])
  })

  it.each(['darwin', '999999', 'Sales', '0', '9'.repeat(30)])(
    'refuses the unknown group %s and names those that exist',
    async (group) => {
      const checkId = await posture.insertCheck()
      const groupId = await insertDeviceGroup(api.db, {})
      const { status, body } = await refuse(checkId, {
        paused: true,
        targeted_groups: ['macos', groupId],
        excluded_groups: [group],
      })
      expect(status).toBe(422)
      expect(body.details).toMatchObject([{ path: 'excluded_groups.0' }])
      expect(body.message).toContain(`"${group}"`)
      expect(body.message).toContain('macos, windows, linux')
      expect(await read(checkId)).toMatchObject({ paused: false, targeted_groups: [] })
    },
  )

  it('refuses without a key and without the permission, which it names', async () => {
    const checkId = await posture.insertCheck()
    const payload = { paused: true }
    const anonymous = await api.request<TestRefusal>(url(checkId), {
      method: 'PATCH',
      key: null,
      payload,
    })
    expect(anonymous.status).toBe(401)
    const other = await api.createKey(['Update Devices'])
    const forbidden = await api.request<TestRefusal>(url(checkId), {
      method: 'PATCH',
      key: other,
      payload,
    })
    expect(forbidden.status).toBe(403)
    expect(forbidden.body.message).toContain('Manage Checks')
    expect((await read(checkId)).paused).toBe(false)
  })

  it.each(['999999', 'x'])('answers 404 for the check %s', async (id) => {
    const { status, body } = await refuse(id, { paused: true })
    expect(status).toBe(404)
    expect(body.code).toBe('not_found')
  })
})
