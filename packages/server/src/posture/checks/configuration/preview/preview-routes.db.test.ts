import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApi, TestRefusal } from '../../../../../test/support/api-app.ts'
import { insertDeviceGroup, insertPerson } from '../../../../../test/support/factories.ts'
import { createPostureApi, type PostureApi } from '../../../../../test/support/posture-api.ts'
import { FAIL, PASS, type Posture } from '../../../../../test/support/posture-fixtures.ts'
import { DAY_MS } from '../../../../platform/clock.ts'
import { checkConfigurationRoutes } from '../check-configuration-routes.ts'
import { configurationPreviewRoutes } from './preview-routes.ts'
import { createPreviewer } from './shared-previews.ts'

interface Status {
  readonly auth_state: string
  readonly compliance: string
  readonly will_block_at: string | null
}
interface Preview {
  readonly stages: readonly { stage: string; current: number; proposed: number }[]
  readonly moving_count: number
  readonly newly_checked_count: number
  readonly no_longer_checked_count: number
  readonly moves: readonly { device_id: string; from: Status; to: Status }[]
  readonly next_after: string | null
  readonly [name: string]: unknown
}

let api: TestApi
let posture: Posture
let key: string
let advance: PostureApi['advance']

beforeAll(async () => {
  ;({ api, posture, key, advance } = await createPostureApi(
    'Manage Checks',
    ({ db, clock, runChange }) => [
      ...checkConfigurationRoutes({ db, runChange }),
      ...configurationPreviewRoutes(createPreviewer({ db, clock, freshMs: 0 })),
    ],
  ))
})

afterAll(() => api.close())

const url = (checkId: string) => `/checks/${checkId}/configurations`
const preview = async (checkId: string, payload: object, query = '') => {
  const path = `${url(checkId)}/preview${query}`
  const answer = await api.request<Preview>(path, { method: 'POST', key, payload })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}
const configure = (checkId: string, payload: object) =>
  api.request(url(checkId), { method: 'PATCH', key, payload })

async function readStatuses(): Promise<Map<string, Status>> {
  const rows = await api.db
    .selectFrom('device')
    .select(['id', 'auth_state', 'compliance', 'will_block_at'])
    .execute()
  return new Map(
    rows.map(({ id, will_block_at: at, ...status }) => [
      id,
      { ...status, will_block_at: at?.toISOString() ?? null },
    ]),
  )
}

const stageOf = ({ auth_state: state, will_block_at: at }: Status) => {
  if (state === 'Good') return 'no_notice'
  if (state !== 'Will Block') return state.toLowerCase()
  const days = (Date.parse(at ?? '') - api.clock.now().getTime()) / DAY_MS
  if (days <= 1) return 'blocks_within_a_day'
  return days <= 7 ? 'blocks_within_seven_days' : 'blocks_later'
}

const countStages = (statuses: Map<string, Status>) =>
  Object.fromEntries(
    [...Map.groupBy(statuses.values(), stageOf)].map(([stage, of]) => [stage, of.length]),
  )

/** What a preview says of stages, without those at which nobody is. */
const stagesOf = ({ stages }: Preview, when: 'current' | 'proposed') =>
  Object.fromEntries(
    stages.flatMap((at) => (at[when] === 0 ? [] : [[at.stage, at[when]] as const])),
  )

/** Two checks of which devices fail some, in groups and with owners, one of them new. */
async function addFleet() {
  const checkId = await posture.insertCheck({ remediation_strategy: 'report_only' })
  const otherId = await posture.insertCheck({
    remediation_strategy: 'warn_then_block',
    grace_period_days: 5,
  })
  const groupId = await insertDeviceGroup(api.db)
  const deviceIds: string[] = []
  for (const [platform, answers, isMember] of [
    ['darwin', [FAIL, PASS], true],
    ['darwin', [FAIL, FAIL], false],
    ['linux', [FAIL, PASS], true],
    ['linux', [PASS, PASS], true],
    ['windows', [PASS, FAIL], false],
    ['windows', undefined, false],
  ] as const) {
    const owner_person_id = await insertPerson(api.db)
    const registered_at = posture.clock.now()
    const deviceId = await posture.insertDevice({ platform, owner_person_id, registered_at })
    deviceIds.push(deviceId)
    if (isMember) {
      const member = { device_group_id: groupId, device_id: deviceId, added_at: registered_at }
      await api.db.insertInto('device_group_member').values(member).execute()
    }
    const checks = await api.db.selectFrom('posture_check').select('id').execute()
    const passes = Object.fromEntries(checks.map(({ id }) => [id, PASS]))
    if (answers === undefined) continue
    const [own, other] = answers
    await posture.report(deviceId, {
      ...passes,
      [checkId]: [...own],
      [otherId]: [...other],
    })
  }
  return { checkId, otherId, groupId, deviceIds }
}

describe('POST /checks/{id}/configurations/preview', () => {
  it('says who would move from which status to which, by stage, platform and group', async () => {
    const { checkId, groupId, deviceIds } = await addFleet()
    const body = await preview(checkId, {
      remediation_strategy: 'block_immediately',
      blocking_excluded_groups: ['linux'],
    })
    expect(body).toMatchObject({
      as_of: api.clock.now().toISOString(),
      changes: ['remediation_strategy', 'blocking_excluded_groups'],
      newly_checked_count: 0,
      no_longer_checked_count: 0,
      moving_count: 3,
      transitions: expect.arrayContaining([
        { from: 'Good', to: 'Blocked', device_count: 1 },
        { from: 'Will Block', to: 'Blocked', device_count: 1 },
        { from: 'Good', to: 'Notified', device_count: 1 },
      ]) as unknown,
      by_device_type: expect.arrayContaining([
        { device_type: 'Mac', from: 'Good', to: 'Blocked', device_count: 1 },
        { device_type: 'Linux', from: 'Good', to: 'Notified', device_count: 1 },
      ]) as unknown,
      by_group: [
        {
          device_group_id: groupId,
          transitions: [
            { from: 'Good', to: 'Blocked', device_count: 1 },
            { from: 'Good', to: 'Notified', device_count: 1 },
          ],
        },
      ],
      next_after: null,
    })
    expect(body.moves[1]).toMatchObject({
      device_id: deviceIds[1],
      device_type: 'Mac',
      from: { auth_state: 'Will Block', compliance: 'compliant' },
      to: { auth_state: 'Blocked', compliance: 'not-compliant', will_block_at: null },
    })
  })

  it('counts devices that would run the check newly, or no longer', async () => {
    const { checkId, groupId, deviceIds } = await addFleet()
    const body = await preview(checkId, { excluded_groups: [groupId] })
    expect(body).toMatchObject({ newly_checked_count: 0, no_longer_checked_count: 3 })
    await configure(checkId, { excluded_groups: [groupId] })
    const all = await api.db.selectFrom('device').select('id').execute()
    expect(await preview(checkId, { excluded_groups: [] })).toMatchObject({
      newly_checked_count: 3,
      no_longer_checked_count: 0,
    })
    expect(await preview(checkId, { paused: true })).toMatchObject({
      no_longer_checked_count: all.length - 3,
    })
    expect(deviceIds).toHaveLength(6)
  })

  it('shows the devices that move page by page', async () => {
    const { checkId } = await addFleet()
    const payload = { remediation_strategy: 'notify_only' }
    const all = await preview(checkId, payload)
    expect(all.moving_count).toBeGreaterThan(1)
    const first = await preview(checkId, payload, '?per_page=1')
    expect(first.moves).toEqual(all.moves.slice(0, 1))
    const rest = await preview(checkId, payload, `?per_page=100&after=${String(first.next_after)}`)
    expect([...first.moves, ...rest.moves]).toEqual(all.moves)
    expect(rest.next_after).toBeNull()
  })

  it('changes nothing', async () => {
    const { checkId } = await addFleet()
    const read = async () => ({
      checks: await api.db.selectFrom('posture_check').selectAll().orderBy('id').execute(),
      rules: await api.db.selectFrom('check_group_rule').selectAll().orderBy('id').execute(),
      issues: await api.db.selectFrom('issue').selectAll().orderBy('id').execute(),
      statuses: await readStatuses(),
    })
    const before = await read()
    await preview(checkId, {
      remediation_strategy: 'block_immediately',
      excluded_groups: ['linux'],
    })
    expect(await read()).toEqual(before)
  })

  it('refuses what configures no check, and callers without the permission', async () => {
    const { checkId } = await addFleet()
    const send = (path: string, payload: object, caller = key) =>
      api.request<TestRefusal>(path, { method: 'POST', key: caller, payload })
    const path = `${url(checkId)}/preview`
    expect(await send(path, { excluded_groups: ['999999'] })).toMatchObject({ status: 422 })
    expect(await send(path, { remediation_strategy: 'shout' })).toMatchObject({ status: 422 })
    expect(await send(`${path}?after=x`, {})).toMatchObject({ status: 400 })
    expect(await send(`${path}?per_page=101`, {})).toMatchObject({ status: 400 })
    expect(await send(`${url('999999')}/preview`, {})).toMatchObject({ status: 404 })
    expect(await send(path, {}, api.key)).toMatchObject({ status: 403 })
  })

  it('tells what then really happens, whatever is configured', { timeout: 120_000 }, async () => {
    await api.db.deleteFrom('device').execute()
    await api.db.deleteFrom('posture_check').execute()
    const { checkId, otherId, groupId } = await addFleet()
    const groups = fc.uniqueArray(fc.constantFrom('macos', 'linux', 'windows', groupId), {
      maxLength: 2,
    })
    const change = fc.record(
      {
        paused: fc.boolean(),
        remediation_strategy: fc.constantFrom(
          'report_only',
          'notify_only',
          'warn_then_block',
          'block_immediately',
        ),
        rollout_percent: fc.constantFrom(0, 25, 50, 100),
        block_auth_grace_period_days: fc.constantFrom(0, 1, 3, 10),
        begins_blocking_on: fc.constantFrom(null, '2026-01-04T00:00:00.000Z'),
        targeted_groups: groups,
        excluded_groups: groups,
        blocking_allowed_groups: groups,
        blocking_excluded_groups: groups,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.boolean(), change, fc.nat(DAY_MS), async (isOwn, payload, waitMs) => {
        advance(waitMs)
        const id = isOwn ? checkId : otherId
        const told = await preview(id, payload, '?per_page=100')
        expect((await configure(id, payload)).status).toBe(200)
        const after = await readStatuses()
        expect(stagesOf(told, 'proposed')).toEqual(countStages(after))
        for (const { device_id: deviceId, to } of told.moves) {
          expect([deviceId, to]).toEqual([deviceId, after.get(deviceId)])
        }
        const still = await preview(id, payload)
        expect(still).toMatchObject({ moving_count: 0, changes: [] })
        expect(stagesOf(still, 'current')).toEqual(stagesOf(told, 'proposed'))
      }),
      { numRuns: 20 },
    )
  })
})
