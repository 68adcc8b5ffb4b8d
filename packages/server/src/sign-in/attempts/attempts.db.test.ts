import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type Change, type RunChange } from '../../changes/change.ts'
import type { DomainEvent } from '../../changes/domain-event.ts'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
  insertPersonGroup,
} from '../../../test/support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { listAuditEntries } from '../../../test/support/write-contract.ts'
import {
  beginTestAttempt,
  identifyTestPerson,
  inOrder,
  insertApplication,
  proveTestDevice,
} from '../../../test/support/sign-in-fixtures.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'
import { openDatabase } from '../../platform/db/database.ts'
import type { Schema } from '../../schema/schema.ts'
import { createSessionEnder } from '../sessions/end-sessions.ts'
import { updateSignInPolicy } from '../policy/policy-store.ts'
import { ATTEMPTS_PER_ADDRESS_MAX, isBrowserOf } from './begin-attempt.ts'
import { ATTEMPT_CHANNEL, findAttempt, updateAttemptReturned } from './attempt-store.ts'
import { continueAttempt, postureKnown } from './decide-posture.ts'
import { abandonAttempts } from './end-attempt.ts'
import { ATTEMPT_LIFETIME_MS } from './move-attempt.ts'
import { deviceNotProven, deviceProven, deviceRegistered, type NotProven } from './know-device.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import { viewOfAttempt } from './view-attempt.ts'
import { refuseAttempt } from './refuse-attempt.ts'

let database: TestDatabase
let clock: ManualClock
let runChange: RunChange
let events: DomainEvent[]
let application: string
let person: { readonly id: string; readonly email: string }

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

beforeEach(async () => {
  const { db } = database
  clock = new ManualClock()
  events = []
  runChange = createChangeRunner(db, clock, [async (record) => void events.push(...record.events)])
  await db.deleteFrom('sign_in_attempt').execute()
  await db.deleteFrom('sign_in_policy').execute()
  application = await insertApplication(db)
  const email = `ada.${clock.now().getTime()}.${application}@example.com`
  person = { id: await insertPerson(db, { email }), email }
})

const make = async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> =>
  runChange({ actor: SYSTEM_ACTOR }, work)

const decide = async (id: string, isFresh = true) =>
  make((change) => postureKnown(change, id, { isFresh }))

const ownDevice = async (values: object = {}) =>
  insertDevice(database.db, { ...inOrder(), owner_person_id: person.id, ...values })

async function identified(applicationId: string | null = application): Promise<string> {
  const { attempt } = await beginTestAttempt(runChange, applicationId)
  expect((await identifyTestPerson(runChange, attempt.id, person.email)).stage).toBe('device')
  return attempt.id
}

async function atDevice(deviceId: string): Promise<string> {
  const id = await identified()
  await proveTestDevice(runChange, id, deviceId)
  return id
}

async function readLog(attemptId: string) {
  const attempt = await findAttempt(database.db, attemptId)
  return database.db
    .selectFrom('auth_log_session')
    .selectAll()
    .where('id', '=', attempt?.authLogSessionId ?? '0')
    .executeTakeFirst()
}

const listGranted = async (attemptId: string) =>
  database.db
    .selectFrom('sign_in_granted_session')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .execute()

describe('an attempt', () => {
  it('belongs to the browser that holds its secret, of which the hash alone is kept', async () => {
    const { attempt, secret } = await beginTestAttempt(runChange, application)
    expect(isBrowserOf(attempt, secret)).toBe(true)
    expect(isBrowserOf(attempt, `${secret}x`)).toBe(false)
    const row = JSON.stringify(await findAttempt(database.db, attempt.id))
    expect(row).not.toContain(secret)
  })

  it('lets a person in on a good device, and writes the record of it as it happens', async () => {
    const deviceId = await ownDevice({ name: 'ada-mbp' })
    const { attempt } = await beginTestAttempt(runChange, application)
    expect(await readLog(attempt.id)).toBeUndefined()
    await identifyTestPerson(runChange, attempt.id, person.email)
    expect(await readLog(attempt.id)).toMatchObject({
      person_email: person.email,
      result: null,
      ip_address: '192.0.2.1',
      device_id: null,
    })
    await proveTestDevice(runChange, attempt.id, deviceId)
    expect(await readLog(attempt.id)).toMatchObject({ device_id: deviceId, result: null })
    const { stage, assurance, endedAt } = await decide(attempt.id)
    expect({ stage, assurance, endedAt }).toEqual({
      stage: 'done',
      assurance: 'live',
      endedAt: clock.now(),
    })
    const log = await readLog(attempt.id)
    expect(log).toMatchObject({ result: 'Success', initial_status: 'all_good' })
    expect(log?.events.map(({ event_type }) => event_type)).toEqual([
      'sign_in_attempt',
      'agent_detection_success',
      'sign_in_success',
    ])
    const [granted] = await listGranted(attempt.id)
    expect(granted).toMatchObject({ person_id: person.id, device_id: deviceId, assurance: 'live' })
    expect(events.map(({ type }) => type)).toEqual(['sign_in_session.granted', 'auth_logs.success'])
  })

  it('warns once where the device will be blocked, and goes on when the person does', async () => {
    const deviceId = await ownDevice({
      auth_state: 'Will Block',
      will_block_at: new Date(clock.now().getTime() + MINUTE_MS),
    })
    const id = await atDevice(deviceId)
    expect((await decide(id)).stage).toBe('warned')
    expect((await decide(id)).stage).toBe('warned')
    expect(await listGranted(id)).toEqual([])
    const gone = await make((change) => continueAttempt(change, id, { isFresh: true }))
    expect(gone.stage).toBe('done')
  })

  describe('warns of what the person has put off', () => {
    const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
    const warnedOf = async (...snoozedUntil: readonly (Date | null)[]) => {
      const blocksAt = inDays(5)
      const deviceId = await ownDevice({ auth_state: 'Will Block', will_block_at: blocksAt })
      for (const until of snoozedUntil) {
        await insertIssue(database.db, {
          check_id: await insertCheck(database.db, { remediation_strategy: 'warn_then_block' }),
          device_id: deviceId,
          blocks_device_at: blocksAt,
          snoozed_at: until && clock.now(),
          snoozed_until: until,
        })
      }
      return deviceId
    }
    const stageOf = async (deviceId: string) => (await decide(await atDevice(deviceId))).stage

    it('not before that time is over', async () => {
      const deviceId = await warnedOf(inDays(3), inDays(3))
      expect(await stageOf(deviceId)).toBe('done')
      clock.advance(3 * DAY_MS)
      expect(await stageOf(deviceId)).toBe('warned')
    })

    it('together with what is not put off', async () => {
      expect(await stageOf(await warnedOf(inDays(3), null))).toBe('warned')
    })

    it('on the last day before the device blocks, however long it was put off', async () => {
      const deviceId = await warnedOf(inDays(30))
      expect(await stageOf(deviceId)).toBe('done')
      clock.advance(4 * DAY_MS)
      expect(await stageOf(deviceId)).toBe('warned')
    })

    it('never instead of blocking the device', async () => {
      const deviceId = await ownDevice({ auth_state: 'Blocked' })
      await insertIssue(database.db, {
        check_id: await insertCheck(database.db, { remediation_strategy: 'warn_then_block' }),
        device_id: deviceId,
        blocks_device_at: clock.now(),
        snoozed_at: clock.now(),
        snoozed_until: inDays(7),
      })
      expect(await stageOf(deviceId)).toBe('blocked')
    })
  })

  it('stops at a blocked device until nothing blocks it, and not before', async () => {
    const deviceId = await ownDevice({ auth_state: 'Blocked' })
    const id = await atDevice(deviceId)
    expect((await decide(id)).stage).toBe('blocked')
    const tried = await make((change) => continueAttempt(change, id, { isFresh: true }))
    expect(tried.stage).toBe('blocked')
    await database.db
      .updateTable('device')
      .set({ auth_state: 'Good' })
      .where('id', '=', deviceId)
      .execute()
    const gone = await make((change) => continueAttempt(change, id, { isFresh: true }))
    expect(gone.stage).toBe('done')
  })

  it('blocks by the second at which a grace period ends', async () => {
    const deviceId = await ownDevice({
      auth_state: 'Will Block',
      will_block_at: new Date(clock.now().getTime() - 1),
      reevaluate_at: new Date(clock.now().getTime() - 1),
    })
    const checkId = await insertCheck(database.db, { remediation_strategy: 'warn_then_block' })
    await insertIssue(database.db, {
      check_id: checkId,
      device_id: deviceId,
      blocks_device_at: new Date(clock.now().getTime() - 1),
    })
    expect((await decide(await atDevice(deviceId))).stage).toBe('blocked')
  })

  it('is blocked by an issue of the person too, on a device of somebody else', async () => {
    const owner = await insertPerson(database.db)
    const deviceId = await ownDevice({ owner_person_id: owner, authentication_mode: 'anyone' })
    await insertIssue(database.db, {
      check_id: await insertCheck(database.db, { remediation_strategy: 'block_immediately' }),
      person_id: person.id,
      blocks_device_at: clock.now(),
    })
    expect((await decide(await atDevice(deviceId))).stage).toBe('blocked')
  })

  it('refuses an unknown person whom nobody has proven, and creates one who is', async () => {
    const { attempt } = await beginTestAttempt(runChange, application)
    const email = `new.${application}@example.com`
    const refused = await identifyTestPerson(runChange, attempt.id, email, false)
    expect([refused.stage, refused.refusalCode]).toEqual(['refused', 'person_unknown'])
    expect(await readLog(attempt.id)).toBeUndefined()
    const other = await beginTestAttempt(runChange, application)
    expect((await identifyTestPerson(runChange, other.attempt.id, email)).stage).toBe('device')
  })

  it.each([
    ['only_registered_owner', 'refused'],
    ['only_registered_owner_or_group_members', 'posture'],
    ['anyone', 'posture'],
  ] as const)('on the device of another person, of the mode %s, is %s', async (mode, stage) => {
    const { db } = database
    const owner = await insertPerson(db)
    const deviceId = await ownDevice({ owner_person_id: owner, authentication_mode: mode })
    const group = await insertPersonGroup(db, {}, [person.id])
    await db
      .insertInto('device_authentication_group')
      .values({ device_id: deviceId, person_group_id: group })
      .execute()
    const id = await identified()
    expect((await proveTestDevice(runChange, id, deviceId)).stage).toBe(stage)
  })

  it('opens the pages of a person for whom only a browser speaks from a device of their own alone', async () => {
    const owner = await insertPerson(database.db)
    const shared = await ownDevice({ owner_person_id: owner, authentication_mode: 'anyone' })
    for (const [deviceId, stage] of [
      [shared, 'refused'],
      [await ownDevice({}), 'posture'],
    ] as const) {
      const { attempt } = await beginTestAttempt(runChange, null)
      await identifyTestPerson(runChange, attempt.id, person.email, false)
      expect((await proveTestDevice(runChange, attempt.id, deviceId)).stage).toBe(stage)
    }
  })

  it('goes through the registration of a device that nobody has, and not past it', async () => {
    const { db } = database
    const deviceId = await ownDevice({ owner_person_id: null, registered_at: null })
    const id = await atDevice(deviceId)
    await expect(decide(id)).rejects.toMatchObject({ code: 'conflict' })
    await db
      .updateTable('device')
      .set({ owner_person_id: person.id, registered_at: clock.now() })
      .where('id', '=', deviceId)
      .execute()
    const registered = await make((change) => deviceRegistered(change, id))
    expect(registered.stage).toBe('posture')
  })

  it('is not let in by a registration to somebody else', async () => {
    const deviceId = await ownDevice({ owner_person_id: null, registered_at: null })
    const id = await atDevice(deviceId)
    const registered = await make((change) => deviceRegistered(change, id))
    expect(registered.refusalCode).toBe('device_of_another_person')
  })

  it('says that the device was registered to the person before, to nobody else', async () => {
    const endedAt = new Date(clock.now().getTime() - MINUTE_MS)
    const former = { former_owner_person_id: person.id, registration_ended_at: endedAt }
    const nextOwner = await insertPerson(database.db)
    const moved = await atDevice(await ownDevice({ ...former, owner_person_id: nextOwner }))
    const refused = await findAttempt(database.db, moved)
    expect(refused?.refusalCode).toBe('device_reassigned')
    if (refused === undefined) throw new Error('the sign-in is gone')
    expect((await viewOfAttempt({ db: database.db, clock }, refused)).device).toBeUndefined()
    const freed = await atDevice(
      await ownDevice({ ...former, owner_person_id: null, registered_at: null }),
    )
    const attempt = await findAttempt(database.db, freed)
    if (attempt === undefined) throw new Error('the sign-in is gone')
    expect(attempt.stage).toBe('registration')
    const view = await viewOfAttempt({ db: database.db, clock }, attempt)
    expect(view.device?.ownUntil).toEqual(endedAt)
    const others = { ...former, former_owner_person_id: nextOwner }
    const elsewhere = await atDevice(
      await ownDevice({ ...others, owner_person_id: await insertPerson(database.db) }),
    )
    expect((await findAttempt(database.db, elsewhere))?.refusalCode).toBe(
      'device_of_another_person',
    )
  })

  it('ends where the registration ends while its issues are shown', async () => {
    const deviceId = await ownDevice()
    const id = await atDevice(deviceId)
    await make((change) => setDeviceOwner(change, deviceId, null))
    expect((await decide(id)).refusalCode).toBe('registration_ended')
  })

  it.each([
    [
      'a person who',
      'person_ended',
      () => sql`update person set deprovisioned_at = now() where id = ${person.id}`,
    ],
    [
      'an application that',
      'application_disabled',
      () => sql`update sign_in_application set is_enabled = false where id = ${application}`,
    ],
  ] as const)('grants nothing to %s is being switched off', async (_whom, code, toSwitchOff) => {
    const id = await atDevice(await ownDevice())
    const other = await database.db.startTransaction().execute()
    await toSwitchOff().execute(other)
    const deciding = decide(id)
    await waitForLock(database.db)
    await other.commit().execute()
    expect((await deciding).refusalCode).toBe(code)
    expect(await listGranted(id)).toEqual([])
  })

  it('asks for as strong a proof as its application', async () => {
    const { db } = database
    const deviceId = await ownDevice()
    for (const [minimum, assurance, stage] of [
      ['hardware', 'live', 'refused'],
      ['live', 'approved', 'refused'],
      ['live', 'hardware', 'posture'],
      ['approved', 'key', 'refused'],
      ['key', 'key', 'posture'],
    ] as const) {
      const id = await identified(await insertApplication(db, { minimum_assurance: minimum }))
      const known = { deviceId, assurance, evidence: {} }
      const { stage: reached } = await make((change) => deviceProven(change, id, known))
      expect([minimum, assurance, reached]).toEqual([minimum, assurance, stage])
    }
  })
})

describe('a device that is not proven', () => {
  const fail = async (id: string, reason: NotProven) =>
    make((change) => deviceNotProven(change, id, { reason, evidence: {} }))

  it('is refused by default, and goes to the fallbacks that the policy has', async () => {
    expect((await fail(await identified(), 'no_match')).refusalCode).toBe('device_unknown')
    await updateSignInPolicy(database.db, { fallbacks: ['admin_approval'] }, clock.now())
    expect((await fail(await identified(), 'no_match')).stage).toBe('fallback')
  })

  it('is refused whatever the policy has where somebody relays, or is another user', async () => {
    await updateSignInPolicy(database.db, { fallbacks: ['browser_key'] }, clock.now())
    for (const reason of ['relayed', 'other_os_user'] as const) {
      expect((await fail(await identified(), reason)).refusalCode).toBe(reason)
    }
  })

  it('stops nobody of the break-glass group, which is told loudly, and never one who relays', async () => {
    const group = await insertPersonGroup(database.db, {}, [person.id])
    await updateSignInPolicy(database.db, { breakGlassGroupId: group }, clock.now())
    const id = await identified()
    const passed = await fail(id, 'unreachable')
    expect([passed.stage, passed.assurance]).toEqual(['done', 'none'])
    const told = await listAuditEntries({ db: database.db }, { type: 'person', id: person.id })
    expect(told.map(({ action }) => action)).toContain('sign_in.glass_broken')
    expect((await fail(await identified(), 'relayed')).stage).toBe('refused')
  })

  it.each([
    ['at an application, whom only a browser names', { isOwnPages: false, isProven: false }],
    ['to the pages of a person, whom only a browser names', { isOwnPages: true, isProven: false }],
    ['to the pages of a person, whoever proves it', { isOwnPages: true, isProven: true }],
  ])('stops whom the break-glass group has %s', async (_, { isOwnPages, isProven }) => {
    const group = await insertPersonGroup(database.db, {}, [person.id])
    const policy = { breakGlassGroupId: group, fallbacks: ['admin_approval' as const] }
    await updateSignInPolicy(database.db, policy, clock.now())
    const begun = async () => {
      const { attempt } = await beginTestAttempt(runChange, isOwnPages ? null : application)
      await identifyTestPerson(runChange, attempt.id, person.email, isProven)
      return attempt.id
    }
    const id = await begun()
    expect((await fail(id, 'unreachable')).stage).toBe('fallback')
    const refused = await proveTestDevice(runChange, await begun(), '0')
    expect([refused.stage, refused.refusalCode]).toEqual(['refused', 'device_unknown'])
    expect(await listGranted(id)).toEqual([])
  })
})

describe('a device that does not answer', () => {
  it('is refused by default, and let in by what was last known for as long as the policy says', async () => {
    const deviceId = await ownDevice()
    expect((await decide(await atDevice(deviceId), false)).refusalCode).toBe('device_unreachable')
    await updateSignInPolicy(
      database.db,
      { unreachableDevice: 'last_known', lastKnownMinutes: 30 },
      clock.now(),
    )
    expect((await decide(await atDevice(deviceId), false)).refusalCode).toBe('device_unreachable')
    const seen = { device_id: deviceId, last_seen_at: clock.now() }
    await database.db.insertInto('device_contact').values(seen).execute()
    expect((await decide(await atDevice(deviceId), false)).stage).toBe('done')
    clock.advance(31 * MINUTE_MS)
    expect((await decide(await atDevice(deviceId), false)).refusalCode).toBe('device_unreachable')
  })
})

describe('the end of an attempt', () => {
  it('is one: nothing moves it on afterwards, and its outcome is taken once', async () => {
    const id = await atDevice(await ownDevice())
    await decide(id)
    await expect(decide(id)).rejects.toMatchObject({ code: 'conflict' })
    const refused = make((change) => refuseAttempt(change, id, 'cancelled'))
    await expect(refused).rejects.toMatchObject({ code: 'conflict' })
    const take = async () => make(({ tx, at }) => updateAttemptReturned(tx, id, at))
    expect([await take(), await take()]).toEqual([true, false])
  })

  it('comes by time, is told as a failure at that time, and leaves nothing of somebody unknown', async () => {
    const known = await identified()
    const { attempt: unknown } = await beginTestAttempt(runChange, application)
    clock.advance(10 * MINUTE_MS)
    const over = clock.now()
    await expect(make((change) => refuseAttempt(change, known, 'cancelled'))).rejects.toMatchObject(
      { code: 'conflict' },
    )
    clock.advance(MINUTE_MS)
    expect(await abandonAttempts({ db: database.db, runChange })).toBeUndefined()
    expect(await findAttempt(database.db, unknown.id)).toBeUndefined()
    expect((await findAttempt(database.db, known))?.stage).toBe('abandoned')
    expect(await readLog(known)).toMatchObject({ result: 'Fail', finished_at: over })
    expect(events.map(({ type }) => type)).toEqual(['auth_logs.failure'])
  })

  it('of a refusal says why in the record', async () => {
    const id = await identified()
    await make((change) => refuseAttempt(change, id, 'not_my_device'))
    const log = await readLog(id)
    expect(log?.result).toBe('Fail')
    expect(log?.events.at(-1)?.event_description).toContain('not_my_device')
  })
})

it('of many that nobody finishes, those of other addresses go on', async () => {
  // No more at once than there are connections: those that wait too long for one are refused.
  const some = Array.from({ length: 10 })
  for (let begun = 0; begun < ATTEMPTS_PER_ADDRESS_MAX; begun += some.length) {
    await Promise.all(
      some.map(async () => beginTestAttempt(runChange, application, '198.51.100.7')),
    )
  }
  const more = beginTestAttempt(runChange, application, '198.51.100.7')
  await expect(more).rejects.toMatchObject({ code: 'rate_limited' })
  await beginTestAttempt(runChange, application, '198.51.100.8')
})

it('of many that come to nothing lately, those of other addresses go on', async () => {
  const begin = async () => beginTestAttempt(runChange, application, '2001:db8:7::1')
  await database.db.deleteFrom('sign_in_attempt').execute()
  const { attempt } = await begin()
  await make((change) => refuseAttempt(change, attempt.id, 'cancelled'))
  await sql`
    insert into sign_in_attempt (id, secret_hash, interaction, stage, language, address_bucket,
      started_at, expires_at, ended_at)
    select gen_random_uuid(), secret_hash, interaction, stage, language, address_bucket,
      started_at, expires_at, ended_at
    from sign_in_attempt, generate_series(2, ${ATTEMPTS_PER_ADDRESS_MAX}::int)
    where id = ${attempt.id}`.execute(database.db)
  await expect(beginTestAttempt(runChange, application, '2001:db8:7::2')).rejects.toMatchObject({
    code: 'rate_limited',
  })
  await beginTestAttempt(runChange, application, '2001:db8:8::1')
  clock.advance(ATTEMPT_LIFETIME_MS)
  await begin()
})

it('tells other processes after its commits, so that those of sign-ins do not wait for each other', async () => {
  const device = await ownDevice()
  const told: string[] = []
  const service = openDatabase<Schema>(database.connection, {
    network: database.network,
    poolMax: 1,
    logError: () => undefined,
  })
  runChange = createChangeRunner(service.preparedDb, clock, [createSessionEnder()], {
    tell: (channel) => void told.push(channel),
  })
  const statements = await recordStatements(async () => decide(await atDevice(device)))
  await service.close()
  expect(statements.length).toBeGreaterThan(0)
  expect(statements.filter(({ text }) => text.includes('pg_notify'))).toEqual([])
  // That of each step after the first; the ends of their times are found by jobs.
  expect(new Set(told)).toEqual(new Set([ATTEMPT_CHANNEL]))
})
