import fc from 'fast-check'
import { sql, type Selectable } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { insertDeviceGroup, insertPerson } from '../../../../test/support/factories.ts'
import {
  createPosture,
  FAIL,
  PASS,
  type Posture,
} from '../../../../test/support/posture-fixtures.ts'
import { settleDueDevices } from '../../devices/settle-due-devices.ts'
import { createExemptionRequest } from '../../issues/exemptions/create-exemption-request.ts'
import { decideExemptionRequest } from '../../issues/exemptions/decide-exemption-request.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts'
import { applyCheckScope } from '../apply-check-scope.ts'
import { listCounterDrift } from '../../../../test/support/list-counter-drift.ts'
import { holdCheckScope } from '../check-scope-store.ts'
import type { ConfigurationInput } from './check-configuration-input.ts'
import { configureCheck } from './configure-check.ts'
import type { Schema } from '../../../schema/schema.ts'
import { countRuns } from '../../../../test/support/count-runs.ts'
import { emptyTables } from '../../../../test/support/empty-tables.ts'
import { waitForLock } from '../../../../test/support/wait-for-lock.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check', 'device_group', 'person')
  posture = createPosture(db)
})

const configure = (checkId: string, input: ConfigurationInput) =>
  posture.change((change) => configureCheck(change, checkId, input))

interface ExpectedDevice {
  readonly id: string
  readonly auth_state: string
  readonly compliance: string
  readonly will_block_at: Date | null
}

/** The status of every evaluated device from nothing but configurations, issues and requests. */
async function recomputeStatuses(now: Date): Promise<ExpectedDevice[]> {
  const devices = await db
    .selectFrom('device')
    .selectAll()
    .where('evaluated_at', 'is not', null)
    .orderBy('id')
    .execute()
  const checks = await db.selectFrom('posture_check').selectAll().execute()
  const rules = await db.selectFrom('check_group_rule').selectAll().execute()
  const members = await db.selectFrom('device_group_member').selectAll().execute()
  const issues = await db.selectFrom('issue').selectAll().where('resolved_at', 'is', null).execute()
  const exempted = await listExemptedIssueIds(now)
  return devices.map((device) => {
    const isMember = (groupId: string | null) =>
      members.some((entry) => entry.device_id === device.id && entry.device_group_id === groupId)
    const matches = (checkId: string, rule: string) =>
      rules
        .filter((entry) => entry.check_id === checkId && entry.rule === rule)
        .map((entry) => entry.platform === device.platform || isMember(entry.device_group_id))
    const outcomes = issues
      .filter((issue) => issue.device_id === device.id && !exempted.has(issue.id))
      .map((issue) => {
        const check = checks.find(({ id }) => id === issue.check_id)
        if (check === undefined || check.paused_at !== null) return { state: 0 }
        const allowed = matches(check.id, 'blocking_allowed')
        const isSpared =
          (allowed.length > 0 && !allowed.includes(true)) ||
          matches(check.id, 'blocking_excluded').includes(true)
        return toOutcome(check, issue.detected_at, isSpared, now)
      })
    const state = Math.max(0, ...outcomes.map((outcome) => outcome.state))
    const times = outcomes.flatMap(({ blocksAt }) => blocksAt ?? [])
    return {
      id: device.id,
      auth_state: ['Good', 'Notified', 'Will Block', 'Blocked'][state] ?? '',
      compliance: state === 3 ? 'not-compliant' : 'compliant',
      will_block_at: state === 2 ? new Date(Math.min(...times)) : null,
    }
  })
}

type Check = Selectable<Schema['posture_check']>

function toOutcome(
  check: Check,
  detectedAt: Date,
  isSpared: boolean,
  now: Date,
): { state: number; blocksAt?: number } {
  if (check.remediation_strategy === 'report_only') return { state: 0 }
  if (isSpared || check.remediation_strategy === 'notify_only') return { state: 1 }
  const graceDays = check.remediation_strategy === 'warn_then_block' ? check.grace_period_days : 0
  const blocksAt = Math.max(
    detectedAt.getTime() + graceDays * DAY_MS,
    check.begins_blocking_on?.getTime() ?? 0,
  )
  return { state: blocksAt <= now.getTime() ? 3 : 2, blocksAt }
}

async function listExemptedIssueIds(now: Date): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select distinct i.id from issue i join exemption_request r on r.device_id = i.device_id
    where r.status = 'approved' and (r.expires_at is null or r.expires_at > ${now})
      and (i.id in (select issue_id from exemption_request_issue where exemption_request_id = r.id)
        or r.covers_future_issues and i.check_id in
          (select check_id from exemption_request_check where exemption_request_id = r.id))
      and i.resolved_at is null
  `.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Pairs whose result says another scope than the groups do. */
async function listScopeDrift() {
  const { rows } = await sql`
    select r.device_id, r.check_id, r.status from check_result r
    join device d on d.id = r.device_id
    where (r.status = 'out_of_scope') = (
      (not exists (select from check_group_rule g where g.check_id = r.check_id and g.rule = 'targeted')
        or exists (select from check_group_rule g left join device_group_member m
          on m.device_group_id = g.device_group_id and m.device_id = d.id
          where g.check_id = r.check_id and g.rule = 'targeted'
            and (g.platform = d.platform or m.device_id is not null)))
      and not exists (select from check_group_rule g left join device_group_member m
        on m.device_group_id = g.device_group_id and m.device_id = d.id
        where g.check_id = r.check_id and g.rule = 'excluded'
          and (g.platform = d.platform or m.device_id is not null)))
  `.execute(db)
  return rows
}

describe('statuses and counters', () => {
  test('equal a recomputation from scratch after any configurations, exemptions and reports', async () => {
    const groups = fc.subarray(['macos', 'linux', '1', '2'])
    const configuration = fc.record(
      {
        paused: fc.boolean(),
        remediation_strategy: fc.constantFrom(
          ...(['block_immediately', 'warn_then_block', 'notify_only', 'report_only'] as const),
        ),
        block_auth_grace_period_days: fc.integer({ min: 0, max: 3 }),
        begins_blocking_on: fc.constantFrom(null, '2026-01-04T00:00:00.000Z'),
        targeted_groups: groups,
        excluded_groups: groups,
        blocking_allowed_groups: groups,
        blocking_excluded_groups: groups,
      },
      { requiredKeys: [] },
    )
    const index = fc.integer({ min: 0, max: 3 })
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constant('configure' as const), index, configuration) },
      {
        weight: 3,
        arbitrary: fc.tuple(
          fc.constant('report' as const),
          index,
          fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
        ),
      },
      { weight: 2, arbitrary: fc.tuple(fc.constant('ask' as const), index, fc.boolean()) },
      {
        weight: 3,
        arbitrary: fc.tuple(
          fc.constant('decide' as const),
          index,
          fc.constantFrom('approved', 'approved for a day', 'denied', 'open'),
        ),
      },
      { weight: 1, arbitrary: fc.tuple(fc.constant('wait' as const), index, fc.constant(0)) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        await emptyTables(db, 'device', 'posture_check', 'device_group', 'person')
        posture = createPosture(db)
        const world = await createWorld()
        for (const [kind, which, detail] of steps) await world.run(kind, which, detail)
        await world.settle()
        const now = posture.clock.now()
        const stored = await db
          .selectFrom('device')
          .select(['id', 'auth_state', 'compliance', 'will_block_at'])
          .where('evaluated_at', 'is not', null)
          .orderBy('id')
          .execute()
        expect(stored).toEqual(await recomputeStatuses(now))
        expect(await listCounterDrift(db)).toEqual([])
        expect(await listScopeDrift()).toEqual([])
        const told = await db
          .selectFrom('issue')
          .select('id')
          .where('exempted_at', 'is not', null)
          .where('resolved_at', 'is', null)
          .where('check_id', 'in', (query) =>
            query.selectFrom('posture_check').select('id').where('paused_at', 'is', null),
          )
          .execute()
        const exempted = await listExemptedIssueIds(now)
        expect(told.every(({ id }) => exempted.has(id))).toBe(true)
      }),
      { numRuns: countRuns(12) },
    )
  })
})

/** Three checks, four devices in two groups and somebody who asks for exemptions. */
async function createWorld() {
  const personId = await insertPerson(db)
  const groupIds = [await insertDeviceGroup(db), await insertDeviceGroup(db)]
  const checkIds: string[] = []
  for (let count = 0; count < 3; count += 1) checkIds.push(await posture.insertCheck())
  const deviceIds: string[] = []
  for (const platform of ['darwin', 'darwin', 'linux', 'linux'] as const) {
    deviceIds.push(await posture.insertDevice({ platform }))
  }
  await db
    .insertInto('device_group_member')
    .values([
      { device_group_id: groupIds[0] ?? '', device_id: deviceIds[0] ?? '', added_at: new Date(0) },
      { device_group_id: groupIds[1] ?? '', device_id: deviceIds[0] ?? '', added_at: new Date(0) },
      { device_group_id: groupIds[1] ?? '', device_id: deviceIds[2] ?? '', added_at: new Date(0) },
    ])
    .execute()
  const report = (deviceId: string, failing: readonly boolean[]) =>
    posture.report(
      deviceId,
      Object.fromEntries(checkIds.map((id, place) => [id, failing[place] === true ? FAIL : PASS])),
    )
  for (const id of deviceIds) await report(id, [true, true, false])

  async function ask(deviceId: string, coversFutureIssues: boolean): Promise<void> {
    const open = await db
      .selectFrom('issue')
      .select('id')
      .where('device_id', '=', deviceId)
      .where('resolved_at', 'is', null)
      .where('id', 'not in', (query) =>
        query
          .selectFrom('exemption_request_issue')
          .innerJoin('exemption_request', 'exemption_request.id', 'exemption_request_id')
          .where('status', '=', 'open')
          .select('issue_id'),
      )
      .orderBy('id')
      .limit(1)
      .execute()
    if (open.length === 0) return
    await posture.change((change) =>
      createExemptionRequest(change, {
        person_id: personId,
        issueIds: open.map(({ id }) => id),
        message: 'Please.',
        coversFutureIssues,
        expiresAt: null,
      }),
    )
  }

  async function decide(which: number, word: string): Promise<void> {
    const requests = await db.selectFrom('exemption_request').select(['id', 'status']).execute()
    const request = requests[which % Math.max(1, requests.length)]
    if (request === undefined || (word === 'open' && request.status === 'open')) return
    const now = posture.clock.now().getTime()
    await posture.change((change) =>
      decideExemptionRequest(
        change,
        request.id,
        word === 'denied'
          ? { status: 'denied', internalMessage: 'No.', denialExplanation: 'No.' }
          : word === 'open'
            ? { status: 'open' }
            : {
                status: 'approved',
                internalMessage: 'Yes.',
                expiresAt: word === 'approved' ? null : new Date(now + DAY_MS),
              },
      ),
    )
  }

  const logError = (error: unknown) => {
    throw error
  }

  return {
    settle: () => settleDueDevices({ db, runChange: posture.runChange, logError }),
    async run(kind: string, which: number, detail: unknown): Promise<void> {
      posture.clock.advance(HOUR_MS)
      const deviceId = deviceIds[which] ?? ''
      switch (kind) {
        case 'configure':
          return void (await configure(checkIds[which % 3] ?? '', detail as ConfigurationInput))
        case 'report':
          return void (await report(deviceId, detail as boolean[]))
        case 'ask':
          return ask(deviceId, detail as boolean)
        case 'decide':
          return decide(which, detail as string)
        default:
          posture.clock.advance((which + 1) * 8 * HOUR_MS)
      }
    },
  }
}

describe('changes at the same time', () => {
  test('a device that is added during a configuration gets the new one', async () => {
    const check = await posture.insertCheck()
    let added: Promise<void> = Promise.resolve()
    await posture.change(async (change) => {
      await configureCheck(change, check, { targeted_groups: ['linux'] })
      added = posture.change(async (other) => {
        await holdCheckScope(other.tx)
        const { id } = await other.tx
          .insertInto('device')
          .values({
            host_identifier: 'late',
            name: 'late',
            platform: 'darwin',
            created_at: other.at,
            updated_at: other.at,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        const cause = { initiatingEntity: 'system', reason: 'Added.' } as const
        await applyCheckScope(other, { deviceIds: [id] }, cause)
      })
      await waitForLock(db)
    })
    await added
    expect(await db.selectFrom('check_result').selectAll().execute()).toEqual([])
  })

  test('two configurations of one check both take effect', async () => {
    const check = await posture.insertCheck()
    await Promise.all([
      configure(check, { paused: true }),
      configure(check, { remediation_strategy: 'notify_only' }),
      configure(check, { block_auth_grace_period_days: 9 }),
    ])
    expect(
      await db.selectFrom('posture_check').selectAll().executeTakeFirstOrThrow(),
    ).toMatchObject({
      paused_at: posture.clock.now(),
      remediation_strategy: 'notify_only',
      grace_period_days: 9,
      configuration_revision: 4,
    })
  })

  test('more devices than a batch holds all follow', async () => {
    const check = await posture.insertCheck()
    await sql`
      with added as (
        insert into device (host_identifier, name, platform, evaluated_at, auth_state, compliance,
          created_at, updated_at)
        select 'bulk-' || n, 'bulk', 'darwin', now(), 'Blocked', 'not-compliant', now(), now()
        from generate_series(1, 1100) n returning id),
      failing as (
        insert into check_result (device_id, check_id, status, revision, ran_at, status_changed_at,
          updated_at)
        select id, ${check}, 'failing', 1, now(), now(), now() from added)
      insert into issue (check_id, device_id, title, value, detected_at, last_rechecked_at,
        blocks_device_at, updated_at)
      select ${check}, id, 'x', '{}', now(), now(), now(), now() from added
    `.execute(db)
    await sql`insert into check_counter (check_id, stripe, status, device_count)
      select check_id, device_id % 16, status, count(*) from check_result group by 1, 2, 3`.execute(
      db,
    )
    await configure(check, { excluded_groups: ['macos'] })
    const { rows } = await sql`
      select auth_state, count(*)::int as count from device group by auth_state`.execute(db)
    expect(rows).toEqual([{ auth_state: 'Good', count: 1100 }])
    expect(posture.announced).toHaveLength(1100)
    expect(await listCounterDrift(db)).toEqual([])
  })
})
