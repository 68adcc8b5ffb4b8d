import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import {
  createPosture,
  ERROR,
  FAIL,
  PASS,
  type Posture,
} from '../../../test/support/posture-fixtures.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { unawaitedStatement } from '../../platform/db/unawaited.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import { ISSUE_LIST } from '../issues/issue-read.ts'
import { recordCheckResults } from './record-check-results.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check')
  posture = createPosture(db)
})

const listIssues = () =>
  ISSUE_LIST.listPage(db, { search: undefined, window: { afterId: undefined, limit: 100 } })
const readDevice = (id: string) =>
  db.selectFrom('device').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const readResult = (deviceId: string, checkId: string) =>
  db
    .selectFrom('check_result')
    .selectAll()
    .where('device_id', '=', deviceId)
    .where('check_id', '=', checkId)
    .executeTakeFirstOrThrow()
const fail = (path: string) => ({ KOLIDE_CHECK_STATUS: 'FAIL', path })

describe('issues', () => {
  test('a failing row opens one issue per primary key, which stays open and is resolved', async () => {
    const check = await posture.insertCheck({ primary_key_column: 'path' })
    const device = await posture.insertDevice()
    const detected = posture.clock.now()
    await posture.report(device, { [check]: [fail('/a'), fail('/b'), fail('/a')] })
    posture.clock.advance(HOUR_MS)
    const rechecked = posture.clock.now()
    await posture.report(device, { [check]: [fail('/a'), fail('/c')] })

    expect(await listIssues()).toMatchObject([
      {
        issueKey: 'path',
        issueValue: '/a',
        value: fail('/a'),
        detectedAt: detected,
        lastRecheckedAt: rechecked,
        resolvedAt: null,
        blocksDeviceAt: detected,
      },
      {
        issueValue: '/b',
        detectedAt: detected,
        lastRecheckedAt: rechecked,
        resolvedAt: rechecked,
      },
      { issueValue: '/c', detectedAt: rechecked, resolvedAt: null },
    ])
    posture.clock.advance(HOUR_MS)
    await posture.report(device, { [check]: PASS })
    expect((await listIssues()).map((issue) => issue.resolvedAt)).toEqual([
      posture.clock.now(),
      rechecked,
      posture.clock.now(),
    ])
  })

  test.each([
    ['errored', ERROR],
    ['errored', []],
    ['unknown', [{ KOLIDE_CHECK_STATUS: 'UNKNOWN' }]],
  ])('an answer that is %s neither opens nor resolves', async (status, rows) => {
    const [failed, untouched] = [await posture.insertCheck(), await posture.insertCheck()]
    const device = await posture.insertDevice()
    await posture.report(device, { [failed]: FAIL, [untouched]: PASS })
    const failingSince = posture.clock.now()
    posture.clock.advance(HOUR_MS)
    await posture.report(device, { [failed]: rows, [untouched]: rows })
    expect(await listIssues()).toMatchObject([{ checkId: failed, resolvedAt: null }])
    expect(await readResult(device, failed)).toMatchObject({ status, failing_since: failingSince })
    expect((await readDevice(device)).auth_state).toBe('Blocked')
  })

  test('inapplicability resolves', async () => {
    const check = await posture.insertCheck()
    const device = await posture.insertDevice()
    await posture.report(device, { [check]: FAIL })
    await posture.report(device, { [check]: [{ KOLIDE_CHECK_STATUS: 'INAPPLICABLE' }] })
    expect(await listIssues()).toMatchObject([{ resolvedAt: posture.clock.now() }])
  })

  test('an issue whose row reports an error of its own stays open beside a failing one', async () => {
    const check = await posture.insertCheck({ primary_key_column: 'path' })
    const device = await posture.insertDevice()
    await posture.report(device, { [check]: [fail('/a'), fail('/b'), fail('/c')] })
    await posture.report(device, {
      [check]: [fail('/a'), { KOLIDE_CHECK_STATUS: 'ERROR', path: '/b' }],
    })
    const open = (await listIssues()).filter((issue) => issue.resolvedAt === null)
    expect(open.map((issue) => issue.issueValue)).toEqual(['/a', '/b'])
  })

  test('a group that is excluded from blocking is notified and not blocked', async () => {
    const check = await posture.insertCheck()
    await db
      .insertInto('check_group_rule')
      .values({
        check_id: check,
        rule: 'blocking_excluded',
        device_group_id: null,
        platform: 'darwin',
      })
      .execute()
    const mac = await posture.insertDevice()
    const windows = await posture.insertDevice({ platform: 'windows' })
    await posture.report(mac, { [check]: FAIL })
    await posture.report(windows, { [check]: FAIL })
    expect((await readDevice(mac)).auth_state).toBe('Notified')
    expect((await readDevice(windows)).auth_state).toBe('Blocked')
    expect((await listIssues()).map((issue) => issue.blocksDeviceAt)).toEqual([
      null,
      posture.clock.now(),
    ])
  })

  test('no issue blocks before the check begins to block', async () => {
    const beginsAt = new Date(posture.clock.now().getTime() + 3 * DAY_MS)
    const check = await posture.insertCheck({ begins_blocking_on: beginsAt })
    const device = await posture.insertDevice()
    await posture.report(device, { [check]: FAIL })
    expect(await readDevice(device)).toMatchObject({
      auth_state: 'Will Block',
      will_block_at: beginsAt,
      reevaluate_at: beginsAt,
    })
  })
})

describe('what is left out', () => {
  test('an answer to another revision', async () => {
    const check = await posture.insertCheck({ revision: 2 })
    const device = await posture.insertDevice()
    const recorded = await posture.report(device, { [check]: FAIL })
    expect(recorded).toMatchObject({ acceptedCheckIds: [], isWholeRound: false })
    expect(await listIssues()).toEqual([])
    expect((await readResult(device, check)).status).toBe('pending')
  })

  test('an answer to a paused check', async () => {
    const check = await posture.insertCheck()
    const device = await posture.insertDevice()
    await db.updateTable('posture_check').set({ paused_at: posture.clock.now() }).execute()
    expect(await posture.report(device, { [check]: FAIL })).toMatchObject({ acceptedCheckIds: [] })
    expect(await listIssues()).toEqual([])
  })

  test('an answer to a check that does not target the device', async () => {
    const check = await posture.insertCheck({ platforms: ['windows'] })
    const device = await posture.insertDevice()
    expect(await posture.report(device, { [check]: FAIL })).toMatchObject({ acceptedCheckIds: [] })
    expect(await listIssues()).toEqual([])
  })

  test('a repeated report: no second issue, transition, announcement or audit entry', async () => {
    const check = await posture.insertCheck()
    const device = await posture.insertDevice()
    await posture.report(device, { [check]: PASS })
    posture.clock.advance(MINUTE_MS)
    const count = async () => ({
      issues: (await listIssues()).length,
      transitions: (await db.selectFrom('check_transition').select('id').execute()).length,
      statuses: (await db.selectFrom('device_status_transition').select('id').execute()).length,
      audit: (await db.selectFrom('audit_entry').select('sequence').execute()).length,
      announced: posture.announced.length,
    })
    await posture.report(device, { [check]: FAIL })
    const once = await count()
    await posture.report(device, { [check]: FAIL })
    expect(await count()).toEqual(once)
    expect(once).toMatchObject({ issues: 1, transitions: 2, statuses: 2, announced: 2 })
  })

  test('the report of a device that does not exist', async () => {
    expect(await posture.report('999', {})).toEqual({ kind: 'unknown_device' })
  })
})

describe('the order of results', () => {
  test('an answer counts although the clock was set back since the one before', async () => {
    const check = await posture.insertCheck()
    const device = await posture.insertDevice()
    await posture.report(device, { [check]: PASS })
    posture.clock.advance(-HOUR_MS)
    const recorded = await posture.report(device, { [check]: FAIL })
    expect(recorded).toMatchObject({ acceptedCheckIds: [check], authState: 'Blocked' })
    expect((await readResult(device, check)).status).toBe('failing')
    expect(await listIssues()).toHaveLength(1)
    expect(posture.announced.at(-1)?.current.authState).toBe('Blocked')
  })

  test('of two reports the one that gets the device last counts, whichever began first', async () => {
    const check = await posture.insertCheck()
    const device = await posture.insertDevice()
    await posture.change(async (begunFirst) => {
      posture.clock.advance(5_000)
      await posture.report(device, { [check]: PASS })
      const results = [
        { checkId: check, revision: 1, rows: FAIL, statusCode: 0, message: '' },
      ] as const
      expect(await recordCheckResults(begunFirst, { deviceId: device, results })).toMatchObject({
        acceptedCheckIds: [check],
        ranAt: posture.clock.now(),
      })
    })
    expect((await readResult(device, check)).status).toBe('failing')
  })

  test('a request for a rerun from before the clock was set back ends with the next answer', async () => {
    const check = await posture.insertCheck()
    const device = await posture.insertDevice()
    await db
      .insertInto('check_refresh')
      .values({ device_id: device, check_id: check, requested_at: posture.clock.now() })
      .execute()
    posture.clock.advance(-HOUR_MS)
    await posture.report(device, { [check]: PASS }, { askedAt: posture.clock.now() })
    expect(await db.selectFrom('check_refresh').selectAll().execute()).toEqual([])
  })
})

describe('the status of the device', () => {
  test('stays Blocked until every check has answered, then each change is announced once', async () => {
    const [first, second] = [await posture.insertCheck(), await posture.insertCheck()]
    const device = await posture.insertDevice()
    await posture.report(device, { [first]: PASS })
    expect(await readDevice(device)).toMatchObject({ auth_state: 'Blocked', evaluated_at: null })
    expect(posture.announced).toEqual([])

    posture.clock.advance(MINUTE_MS)
    const evaluatedAt = posture.clock.now()
    await posture.report(device, { [first]: PASS, [second]: PASS })
    expect(await readDevice(device)).toMatchObject({
      auth_state: 'Good',
      compliance: 'compliant',
      evaluated_at: evaluatedAt,
      checks_ran_at: evaluatedAt,
    })
    posture.clock.advance(MINUTE_MS)
    await posture.report(device, { [first]: FAIL, [second]: PASS })
    expect(posture.announced).toMatchObject([
      {
        previous: { authState: 'Blocked', compliance: 'not-compliant' },
        current: { authState: 'Good', compliance: 'compliant' },
        occurredAt: evaluatedAt,
        initiatingEntity: 'policy',
        reasons: [],
      },
      {
        previous: { authState: 'Good' },
        current: { authState: 'Blocked' },
        occurredAt: posture.clock.now(),
        reasons: [{ checkId: first, issueTitle: 'A disk is not encrypted' }],
      },
    ])
    const audit = await db
      .selectFrom('audit_entry')
      .select(['action', 'description'])
      .where('action', '=', 'device.status_changed')
      .orderBy('sequence')
      .execute()
    expect(audit.at(-1)?.description).toBe(
      'changed the status of mac-1 from Good to Blocked: A disk is not encrypted',
    )
  })

  test('a device that no check targets is evaluated when it is added', async () => {
    const device = await posture.insertDevice()
    expect((await readDevice(device)).auth_state).toBe('Good')
    expect(posture.announced).toHaveLength(1)
  })

  test('a grace period that ended before the report is settled first and at its own time', async () => {
    const check = await posture.insertCheck({
      remediation_strategy: 'warn_then_block',
      grace_period_days: 2,
    })
    const device = await posture.insertDevice()
    await posture.report(device, { [check]: FAIL })
    const graceEnd = new Date(posture.clock.now().getTime() + 2 * DAY_MS)
    posture.clock.advance(3 * DAY_MS)
    await posture.report(device, { [check]: PASS })
    expect(posture.announced.map((item) => [item.current.authState, item.occurredAt])).toEqual([
      ['Will Block', new Date(graceEnd.getTime() - 2 * DAY_MS)],
      ['Blocked', graceEnd],
      ['Good', posture.clock.now()],
    ])
  })

  test('concurrent reports of one device are taken one after another', async () => {
    const checks = [await posture.insertCheck(), await posture.insertCheck()]
    const device = await posture.insertDevice()
    await posture.report(device, Object.fromEntries(checks.map((id) => [id, PASS])))
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        posture.report(device, { [checks[index % 2] ?? '']: FAIL }),
      ),
    )
    expect((await listIssues()).length).toBe(2)
    expect(posture.announced.map((item) => item.current.authState)).toEqual(['Good', 'Blocked'])
    expect(await listCounterDrift(db)).toEqual([])
  })
})

describe('statements and requests for a rerun', () => {
  test('a report takes eleven statements at most, three when nothing changes, whatever the number of checks', async () => {
    const checks: string[] = []
    for (let index = 0; index < 30; index += 1) checks.push(await posture.insertCheck())
    const device = await posture.insertDevice()
    const rows = (value: typeof PASS) => Object.fromEntries(checks.map((id) => [id, value]))
    await posture.report(device, rows(PASS))
    // The lock, what is stored, and the time of the round.
    expect(await countStatements(() => posture.report(device, rows(PASS)))).toBeLessThanOrEqual(3)
    // Thirty issues, thirty transitions and a changed status, the audit chain included.
    expect(await countStatements(() => posture.report(device, rows(FAIL)))).toBeLessThanOrEqual(11)
  })

  test('a change of status waits for five answers of the database, and for one more where it opens an issue', async () => {
    const [check, device] = [await posture.insertCheck(), await posture.insertDevice()]
    await posture.report(device, { [check]: PASS })
    const countAwaited = async (answer: typeof PASS) => {
      const statements = await recordStatements(() => posture.report(device, { [check]: answer }))
      const awaited = statements.filter(({ text }) => unawaitedStatement(text) === undefined)
      // Nobody waits for what other processes are told after the commit.
      return awaited.filter(({ text }) => text !== 'begin' && !text.includes('pg_notify')).length
    }
    expect(await countAwaited(FAIL)).toBe(6)
    expect(await countAwaited(PASS)).toBe(5)
  })

  test('an answer fulfils the requests made before its run and keeps later ones', async () => {
    const [early, late] = [await posture.insertCheck(), await posture.insertCheck()]
    const device = await posture.insertDevice()
    const askedAt = posture.clock.now()
    const request = (check_id: string, requested_at: Date) =>
      db.insertInto('check_refresh').values({ device_id: device, check_id, requested_at }).execute()
    await request(early, askedAt)
    await request(late, new Date(askedAt.getTime() + 1))
    posture.clock.advance(MINUTE_MS)
    await posture.report(device, { [early]: PASS, [late]: PASS }, { askedAt })
    const left = await db.selectFrom('check_refresh').select('check_id').execute()
    expect(left).toEqual([{ check_id: late }])
  })
})

async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const statements = await recordStatements(work)
  return statements.filter(({ text }) => !/^(begin|commit|start transaction)/i.test(text)).length
}

describe('counters', () => {
  test('equal a fresh count after any order of reports, reconfigurations and removals', async () => {
    const statuses = ['PASS', 'FAIL', 'ERROR', 'UNKNOWN', 'INAPPLICABLE']
    const operation = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant('report' as const),
          device: fc.nat(5),
          answers: fc.dictionary(fc.constantFrom('0', '1', '2'), fc.constantFrom(...statuses)),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('retarget' as const), check: fc.nat(2) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('remove' as const), device: fc.nat(5) }),
      },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 40, maxLength: 60 }),
        async (operations) => {
          await emptyTables(db, 'device', 'posture_check')
          const checks = [
            await posture.insertCheck(),
            await posture.insertCheck(),
            await posture.insertCheck(),
          ]
          const devices: string[] = []
          for (let index = 0; index < 6; index += 1) devices.push(await posture.insertDevice())
          for (const item of operations) {
            posture.clock.advance(1_000)
            if (item.kind === 'report') {
              const answers = Object.entries(item.answers).map(([index, status]) => [
                checks[Number(index)] ?? '',
                [{ KOLIDE_CHECK_STATUS: status }],
              ])
              await posture.report(
                devices[item.device] ?? '',
                Object.fromEntries(answers) as Record<string, Record<string, string>[]>,
              )
            } else if (item.kind === 'remove') {
              await db
                .deleteFrom('device')
                .where('id', '=', devices[item.device] ?? '')
                .execute()
              devices[item.device] = await posture.insertDevice()
            } else {
              await toggleTarget(checks[item.check] ?? '')
            }
          }
          expect(await listCounterDrift(db)).toEqual([])
        },
      ),
      { numRuns: 6 },
    )
  })

  test('a recount says which counter went wrong', async () => {
    const check = await posture.insertCheck()
    await posture.insertDevice()
    await db.updateTable('check_counter').set({ device_count: 5 }).execute()
    expect(await listCounterDrift(db)).toMatchObject([
      { check_id: check, status: 'pending', counted: '5', actual: '1' },
    ])
  })
})

async function toggleTarget(checkId: string): Promise<void> {
  const { applyCheckScope } = await import('./apply-check-scope.ts')
  await posture.change(async (change) => {
    await sql`update posture_check
      set platforms = case when 'darwin' = any(platforms) then '{windows}'::text[] else '{darwin}' end
      where id = ${checkId}`.execute(change.tx)
    const cause = { initiatingEntity: 'admin', reason: 'Targets changed.' } as const
    await applyCheckScope(change, { checkIds: [checkId] }, cause)
  })
}
