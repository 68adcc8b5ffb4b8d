import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createTestDatabase, setTimeAhead } from '../../../test/support/database.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import { DatabaseClock } from './database-clock.ts'

const database = await createTestDatabase({ hasSettableClock: true })
const { db, pool } = database
afterEach(async () => {
  await setTimeAhead(database, 0)
  await db.deleteFrom('database_clock').execute()
})
afterAll(() => database.close())

/** Looks once and answers by how many hours the clock was set back, 0 when it was not. */
async function look(clock: DatabaseClock, warn: ReturnType<typeof vi.fn>): Promise<number> {
  warn.mockClear()
  await clock.follow()
  const [fields] = (warn.mock.calls[0] ?? []) as { step_ms: number }[]
  return Math.round(((fields?.step_ms ?? 0) / HOUR_MS) * 100) / 100
}

function startLooking() {
  const warn = vi.fn()
  const log = { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() }
  const clock = new DatabaseClock({ db, log, leaseMs: 1_000 })
  return async (aheadMs: number) => {
    await setTimeAhead(database, aheadMs)
    return look(clock, warn)
  }
}

test('a clock that goes on as time does was not set back', async () => {
  const at = startLooking()
  expect([await at(0), await at(0), await at(HOUR_MS)]).toEqual([0, 0, 0])
})

test('a clock that was set back says by how much, once', async () => {
  const at = startLooking()
  expect([await at(0), await at(-6 * HOUR_MS), await at(-6 * HOUR_MS)]).toEqual([0, 6, 0])
})

test('a clock that was set forward, or loses a little to be right, was not set back', async () => {
  const at = startLooking()
  expect([await at(6 * HOUR_MS), await at(6 * HOUR_MS - 1_500)]).toEqual([0, 0])
})

test('a clock that was set forward and back again says how far it went back', async () => {
  const at = startLooking()
  expect([await at(0), await at(HOUR_MS), await at(0)]).toEqual([0, 0, 1])
})

test('a job that has run is due after its interval, not when the clock is as late again', async () => {
  const at = startLooking()
  await at(0)
  await pool.query(
    `insert into job_run (name, started_at, finished_at)
     values ('some job', now() - interval '2 s', now() - interval '1 s')`,
  )
  await at(-6 * HOUR_MS)
  const { rows } = await pool.query(
    `select extract(epoch from clock_timestamp() - finished_at) between 1 and 60 as "isKept"
     from job_run where name = 'some job'`,
  )
  expect(rows).toEqual([{ isKept: true }])
})

test('a device stays Blocked, and a grace period ends when it would have', async () => {
  const at = startLooking()
  await at(0)
  await pool.query(
    `with checks as (
       insert into posture_check (slug, name, description, issue_title, type, is_built_in, platforms,
         remediation_strategy, grace_period_days, created_at, updated_at)
       values ('a', 'A', '', 'a', 'external', false, '{darwin}', 'block_immediately', 0, now(), now()),
         ('b', 'B', '', 'b', 'external', false, '{darwin}', 'warn_then_block', 1, now(), now()),
         ('c', 'C', '', 'c', 'external', false, '{darwin}', 'notify_only', 0, now(), now())
       returning id, slug, grace_period_days),
     devices as (
       insert into device (host_identifier, name, platform, auth_state, status_changed_at, evaluated_at,
         reevaluate_at, created_at, updated_at)
       values ('host', 'mac', 'darwin', 'Blocked', now(), now(), now() + interval '1 day', now(), now())
       returning id)
     insert into issue (check_id, device_id, title, value, detected_at, last_rechecked_at,
       blocks_device_at, updated_at)
     select checks.id, devices.id, slug, '{}', now(), now(),
       case when slug <> 'c' then now() + grace_period_days * interval '1 day' end, now()
     from checks, devices`,
  )
  // As much as a look may be ago when something happens.
  await pool.query('select pg_sleep(0.5)')
  await pool.query(
    `insert into device_contact (device_id, last_seen_at, ip_address)
     select id, now(), '127.0.0.1' from device`,
  )
  await at(-6 * HOUR_MS)
  const { rows } = await pool.query(
    `select slug, detected_at <= now() as "isPast",
       round(extract(epoch from blocks_device_at - now()) / 3600)::int as "blocksInHours"
     from issue join posture_check on posture_check.id = check_id order by slug`,
  )
  expect(rows).toEqual([
    { slug: 'a', isPast: true, blocksInHours: 0 },
    { slug: 'b', isPast: true, blocksInHours: 24 },
    { slug: 'c', isPast: true, blocksInHours: null },
  ])
  const { rows: devices } = await pool.query(
    `select status_changed_at <= now() as "hasChanged", reevaluate_at <= now() as "isDue",
       last_seen_at <= now() as "wasSeen"
     from device join device_contact on device_id = device.id`,
  )
  expect(devices).toEqual([{ hasChanged: true, isDue: true, wasSeen: true }])
})

test('a stream can be verified and its receiver tested as soon as before, and what is heard of it counts', async () => {
  const at = startLooking()
  await at(0)
  await pool.query(
    `with destination as (
       insert into delivery_destination (kind, state) values ('ssf_poll', 'active') returning id),
     stream as (
       insert into ssf_stream (stream_id, destination_id, face, issuer, audience, name, delivery_method,
         events_requested, spec_version, subject_form, status, created_at, updated_at,
         verification_requested_at, last_activity_at)
       select gen_random_uuid(), id, 'root', 'https://a.example', 'https://b.example', 'Log', 'poll',
         '{}', '1.0', 'complex', 'enabled', now(), now(), now(), now() from destination
       returning id)
     insert into stream_self_test (stream_id, started_at) select id, now() from stream`,
  )
  await at(-6 * HOUR_MS)
  const { rows } = await pool.query(
    `select verification_requested_at <= now() as "wasVerified", last_activity_at <= now() as "wasHeard",
       started_at <= now() as "wasTested"
     from ssf_stream join stream_self_test on stream_self_test.stream_id = ssf_stream.id`,
  )
  expect(rows).toEqual([{ wasVerified: true, wasHeard: true, wasTested: true }])
  await pool.query('delete from ssf_stream')
  await pool.query('delete from delivery_destination')
})

test('a clock that is set back again and again shifts every time once, also in late writes', async () => {
  const at = startLooking()
  await at(0)
  await pool.query(`insert into delivery_destination (kind, state) values ('webhook', 'active')`)
  await pool.query(
    `insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn, created_at)
     select id, 'event', 'test', '{}', 'queued', now() + interval '40 h', 'txn', now()
     from delivery_destination`,
  )
  for (const aheadMs of [-6, -6, -6, -8, -8]) await at(aheadMs * HOUR_MS)
  const { rows } = await pool.query(
    `select round(extract(epoch from next_attempt_at - now()) / 36)::int as due from delivery`,
  )
  expect(rows).toEqual([{ due: 4_000 }])
})
