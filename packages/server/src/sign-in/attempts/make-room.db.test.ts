import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import {
  beginTestAttempt,
  identifyTestPerson,
  inOrder,
  insertApplication,
  proveTestDevice,
} from '../../../test/support/sign-in-fixtures.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from '../../changes/change.ts'
import { newSecret } from '../../platform/ids.ts'
import { findAttempt } from './attempt-store.ts'
import { postureKnown } from './decide-posture.ts'
import { ATTEMPTS_MAX, ATTEMPTS_PER_PERSON_MAX } from './make-room.ts'

const HONEST = '192.0.2.1'

let database: TestDatabase
let clock: ManualClock
let runChange: RunChange
let application: string
let email: string
let personId: string

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  clock = new ManualClock()
  runChange = createChangeRunner(database.db, clock, [])
  await database.db.deleteFrom('sign_in_attempt').execute()
  application = await insertApplication(database.db)
  email = `${newSecret(6)}@example.com`
  personId = await insertPerson(database.db, { email })
})

/** Sign-ins that nobody finishes, as many from each of so many addresses. */
async function flood(count: number, addresses: number): Promise<void> {
  const now = clock.now()
  await sql`
    insert into sign_in_attempt (id, secret_hash, application_id, interaction, stage, language,
      ip_address, address_bucket, started_at, expires_at, fallback_state, evidence)
    select gen_random_uuid(), decode(md5(n::text), 'hex'), ${application}, '{"kind":"oidc","uid":"x"}',
      'person', 'en', '198.51.100.' || (n % ${addresses}::int),
      'address:198.51.100.' || (n % ${addresses}::int), ${now}::timestamptz,
      ${now}::timestamptz + interval '10 minutes', '{}', '{}'
    from generate_series(1, ${count}::int) n`.execute(database.db)
}

const countUnderWay = async () => {
  const { count } = await database.db
    .selectFrom('sign_in_attempt')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function finish(attemptId: string): Promise<string> {
  const deviceId = await insertDevice(database.db, { ...inOrder(), owner_person_id: personId })
  await identifyTestPerson(runChange, attemptId, email)
  await proveTestDevice(runChange, attemptId, deviceId)
  const decided = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    postureKnown(change, attemptId, { isFresh: true }),
  )
  return decided.stage
}

it('keeps 10,000 unfinished sign-ins from growing, and lets an honest one through', async () => {
  const { attempt: early } = await beginTestAttempt(runChange, application, HONEST)
  clock.advance(1_000)
  await flood(ATTEMPTS_MAX, 40)
  for (let begun = 0; begun < 120; begun += 1) {
    await beginTestAttempt(runChange, application, `198.51.100.${begun % 40}`)
    if (begun % 40 === 0) expect(await countUnderWay()).toBeLessThanOrEqual(ATTEMPTS_MAX + 1)
  }
  expect(await countUnderWay()).toBeLessThanOrEqual(ATTEMPTS_MAX + 1)
  const { attempt: late } = await beginTestAttempt(runChange, application, HONEST)
  expect(await finish(early.id)).toBe('done')
  expect(await finish(late.id)).toBe('done')
  // What ended so leaves no row behind: nobody ever knew whose it was.
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from sign_in_attempt where stage = 'abandoned'`.execute(
    database.db,
  )
  expect(rows[0]?.count).toBe(0)
})

it('refuses more than one address may have under way, and nobody else', async () => {
  await flood(500, 1)
  await expect(beginTestAttempt(runChange, application, '198.51.100.0')).rejects.toMatchObject({
    code: 'rate_limited',
  })
  const { attempt } = await beginTestAttempt(runChange, application, HONEST)
  expect(await finish(attempt.id)).toBe('done')
})

it('keeps those who begin sign-ins of somebody else from piling them up, and from ending the own one', async () => {
  const { attempt: own } = await beginTestAttempt(runChange, application, HONEST)
  await identifyTestPerson(runChange, own.id, email)
  for (let begun = 0; begun < ATTEMPTS_PER_PERSON_MAX + 20; begun += 1) {
    const { attempt } = await beginTestAttempt(runChange, application, `198.51.100.${begun % 3}`)
    await identifyTestPerson(runChange, attempt.id, email, false)
  }
  expect(await countUnderWay()).toBeLessThanOrEqual(ATTEMPTS_PER_PERSON_MAX)
  expect((await findAttempt(database.db, own.id))?.stage).toBe('device')
  const ended = await database.db
    .selectFrom('sign_in_attempt as t')
    .innerJoin('auth_log_session as l', 'l.id', 't.auth_log_session_id')
    .select(['t.stage', 'l.result'])
    .where('t.ended_at', 'is not', null)
    .execute()
  expect(ended.length).toBeGreaterThanOrEqual(20)
  expect(new Set(ended.map(({ stage, result }) => `${stage} ${result}`))).toEqual(
    new Set(['abandoned Fail']),
  )
})
