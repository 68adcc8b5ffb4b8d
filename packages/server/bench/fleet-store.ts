import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** How much of each there shall be. */
export interface FleetSize {
  readonly devices: number
  readonly people: number
  /** Checks of each device whose results are stored. */
  readonly resultsPerDevice: number
  /** Issues, of which every fifth is open. */
  readonly issues: number
  readonly transitions: number
}

/** The tables that `insertFleet` fills. */
export const FLEET_TABLES = [
  'person',
  'device',
  'device_contact',
  'device_round',
  'check_result',
  'check_counter',
  'check_transition',
  'issue',
]

/**
 * Inserts an organisation as years of use would leave it: people, devices in every state, last
 * contacts, check results, and issues, open and resolved. The n-th device has the serial `SN` and n in
 * eight digits; ids of people and devices begin with 1.
 */
export async function insertFleet(db: Kysely<Schema>, size: FleetSize): Promise<void> {
  await insertPeople(db, size.people)
  await insertDevices(db, size)
  await insertChecks(db, size.resultsPerDevice)
  await insertResults(db, size.resultsPerDevice)
  await insertIssues(db, size)
  await insertTransitions(db, size)
}

const FIRST_NAMES = ['Robin', 'Alex', 'Kim', 'Sam', 'Noor', 'Jules', 'Mika', 'Toni', 'Lee', 'Ada']
const LAST_NAMES = ['Sparrow', 'Finch', 'Heron', 'Wren', 'Crane', 'Teal', 'Swift', 'Lark', 'Rook']

async function insertPeople(db: Kysely<Schema>, count: number): Promise<void> {
  await sql`
    insert into person (name, email, usernames, last_authenticated_at, deprovisioned_at, created_at,
      updated_at)
    select first || ' ' || last, lower(first || '.' || last || n || '@example.com'),
      array[lower(first || n)], now() - n % 90 * interval '1 day',
      case when n % 50 = 0 then now() - interval '40 days' end,
      now() - interval '1 year', now() - n % 30 * interval '1 day'
    from (
      select n, (${FIRST_NAMES}::text[])[1 + n % 10] as first,
        (${LAST_NAMES}::text[])[1 + n % 9] as last
      from generate_series(1, ${count}::int) n
    ) one order by n`.execute(db)
}

async function insertDevices(db: Kysely<Schema>, { devices, people }: FleetSize): Promise<void> {
  await sql`
    insert into device (host_identifier, hardware_uuid, serial, name, platform, operating_system,
      hardware_model, osquery_version, note, owner_person_id, registered_at, last_authenticated_at,
      enrolled_at, auth_state, will_block_at, compliance, evaluated_at, status_changed_at,
      checks_ran_at, created_at, updated_at)
    select upper(uuid), upper(uuid), 'SN' || lpad(n::text, 8, '0'),
      split_part(owner.name, ' ', 2) || case platform when 'darwin' then '''s MacBook Pro '
        when 'windows' then '-LAPTOP-' else '-workstation-' end || n,
      platform,
      case platform when 'darwin' then 'macOS 26.1' when 'windows' then 'Windows 11 Enterprise 25H2'
        else 'Ubuntu 24.04.3 LTS' end,
      case platform when 'darwin' then 'MacBookPro18,3' when 'windows' then 'Latitude 7440'
        else 'ThinkPad P14s Gen 5' end,
      '5.19.0', case when n % 20 = 0 then 'Lent to a contractor until the end of the quarter' end,
      owner.id, now() - n % 700 * interval '1 day', now() - n % 60 * interval '1 hour',
      now() - n % 700 * interval '1 day', state,
      case when state = 'Will Block' then now() + n % 480 * interval '1 hour' end,
      case when state = 'Blocked' then 'not-compliant' else 'compliant' end,
      now(), now() - n % 30 * interval '1 day', now(), now() - n % 700 * interval '1 day',
      now() - n % 10 * interval '1 hour'
    from (
      select n, md5(n::text)::uuid::text as uuid,
        case when n % 10 < 6 then 'darwin' when n % 10 < 9 then 'windows' else 'linux' end as platform,
        case n % 20 when 0 then 'Blocked' when 1 then 'Will Block' when 2 then 'Will Block'
          when 3 then 'Notified' else 'Good' end as state
      from generate_series(1, ${devices}::int) n
    ) one
    join person owner on owner.id = 1 + n % ${people}::int
    order by n`.execute(db)
  await sql`
    insert into device_contact (device_id, last_seen_at, ip_address)
    select id, now() - id % 600 * interval '1 second', '203.0.113.' || id % 250
    from device`.execute(db)
  await sql`
    insert into device_round (device_id, ran_at)
    select id, now() - id * 31 % 3600 * interval '1 second' from device`.execute(db)
}

/** Custom checks beside those that are built in, until devices of a platform run so many. */
export async function insertChecksUpTo(
  db: Kysely<Schema>,
  { platform, count }: { readonly platform: string; readonly count: number },
): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from posture_check
    where paused_at is null and type <> 'external' and ${platform} = any(platforms)
      and coalesce(queries ->> ${platform}, '') <> ''`.execute(db)
  await insertChecks(db, Math.max(0, count - (rows[0]?.count ?? 0)))
}

/** Custom checks for every platform. */
async function insertChecks(db: Kysely<Schema>, count: number): Promise<void> {
  await sql`
    insert into posture_check (slug, name, description, issue_title, type, is_built_in, platforms,
      queries, remediation_strategy, created_at, updated_at)
    select 'custom-' || n, 'Custom check ' || n, 'What the organisation expects of devices, part ' || n,
      'The expectation ' || n || ' is not met', 'custom', false, '{darwin,windows,linux}',
      '{"darwin": "select 1", "windows": "select 1", "linux": "select 1"}', 'notify_only', now(), now()
    from generate_series(1, ${count}::int) n`.execute(db)
}

/** As rounds leave them: they were written when they changed last, and have followed the rounds since. */
async function insertResults(db: Kysely<Schema>, resultsPerDevice: number): Promise<void> {
  await sql`
    insert into check_result (device_id, check_id, status, revision, ran_at, status_changed_at,
      rows, updated_at, follows_round, content_hash)
    select device.id, one.id, case when device.auth_state <> 'Good' and one.number = 1 then 'failing'
        when (device.id + one.id * 7) % 997 = 0 then 'errored' else 'passing' end,
      one.revision, now() - (device.id * 31 + one.id * 17) % 720 * interval '1 hour',
      now() - interval '40 days',
      '[{"KOLIDE_CHECK_STATUS": "PASS", "name": "filevault", "enabled": "1"}]',
      now() - (device.id * 31 + one.id * 17) % 720 * interval '1 hour', true,
      decode(md5(device.id || ' ' || one.id), 'hex')
    from device
    join lateral (
      select id, revision, row_number() over (order by id) as number
      from posture_check where device.platform = any(platforms)
      order by id desc limit ${resultsPerDevice}::int
    ) one on true`.execute(db)
  await sql`
    insert into check_counter (check_id, stripe, status, device_count)
    select check_id, device_id % 16, status, count(*) from check_result group by 1, 2, 3`.execute(
    db,
  )
}

/**
 * In the order of their detection, over a year; open ones are those of the last weeks, which have followed the
 * rounds of their devices since.
 */
async function insertIssues(db: Kysely<Schema>, { issues, devices }: FleetSize): Promise<void> {
  await sql`
    insert into issue (check_id, device_id, title, issue_key, issue_value, value, detected_at,
      last_rechecked_at, resolved_at, blocks_device_at, exempted_at, updated_at, follows_round)
    select checks.id, 1 + n * 7919 % ${devices}::int, checks.issue_title,
      case n % 4 when 0 then 'path' when 1 then 'name' end,
      case n % 4 when 0 then '/Users/user' || n || '/Library/Keychains/login' || n % 77
        when 1 then 'Extension ' || md5(n::text) end,
      '{"KOLIDE_CHECK_STATUS": "FAIL", "name": "filevault"}', at,
      case when is_open then at else at + interval '5 days' end,
      case when not is_open then at + interval '5 days' end,
      case n % 3 when 0 then at + interval '7 days' end,
      case when n % 400 = 0 then at + interval '1 day' end,
      case when is_open then at else at + interval '5 days' end, is_open
    from (
      select n, n > ${issues}::int * 0.8 as is_open,
        now() - (${issues}::int - n) * (interval '365 days' / ${issues}::int) as at
      from generate_series(1, ${issues}::bigint) n
    ) one
    join (
      select id, issue_title, row_number() over (order by id) - 1 as number, count(*) over () as total
      from posture_check
    ) checks on checks.number = n % checks.total
    order by n`.execute(db)
}

/** Over less than a year: retention deletes older ones, which would be measured with the units. */
async function insertTransitions(
  db: Kysely<Schema>,
  { transitions, devices }: FleetSize,
): Promise<void> {
  await sql`
    insert into check_transition (device_id, check_id, occurred_at, from_status, to_status, revision,
      initiating_entity, actor_name, reason, txn)
    select 1 + n % ${devices}::int, (select min(id) from posture_check) + n / ${devices}::int,
      now() - (${transitions}::int - n) * (interval '350 days' / ${transitions}::int), 'passing', 'failing', 1, 'policy',
      'Heliograph', 'The check failed', md5(n::text)
    from generate_series(0, ${transitions}::int - 1) n`.execute(db)
}
