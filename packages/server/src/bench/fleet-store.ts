import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema.ts'

/** Checks of each device whose results are stored. */
const CHECKS_PER_DEVICE = 6

/**
 * Inserts an organisation of `count` devices as years of use would leave it: people, devices in every
 * state, last contacts, check results and issues, open and resolved. The n-th device has the serial
 * `SN` and n in eight digits. Statistics are up to date afterwards.
 */
export async function insertFleet(db: Kysely<Schema>, count: number): Promise<void> {
  await insertPeople(db, Math.ceil(count / 2))
  await insertDevices(db, count)
  await insertResults(db)
  await insertIssues(db)
  await sql`analyze person, device, device_contact, check_result, issue`.execute(db)
}

const FIRST_NAMES = ['Robin', 'Alex', 'Kim', 'Sam', 'Noor', 'Jules', 'Mika', 'Toni', 'Lee', 'Ada']
const LAST_NAMES = ['Sparrow', 'Finch', 'Heron', 'Wren', 'Crane', 'Teal', 'Swift', 'Lark', 'Rook']

async function insertPeople(db: Kysely<Schema>, count: number): Promise<void> {
  await sql`
    insert into person (name, email, usernames, last_authenticated_at, created_at, updated_at)
    select first || ' ' || last, lower(first || '.' || last || n || '@example.com'),
      array[lower(first || n)], now() - n % 90 * interval '1 day',
      now() - interval '1 year', now() - n % 30 * interval '1 day'
    from (
      select n, (${FIRST_NAMES}::text[])[1 + n % 10] as first,
        (${LAST_NAMES}::text[])[1 + n % 9] as last
      from generate_series(1, ${count}::int) n
    ) one`.execute(db)
}

async function insertDevices(db: Kysely<Schema>, count: number): Promise<void> {
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
      from generate_series(1, ${count}::int) n
    ) one
    join person owner on owner.id = (select min(id) from person) + n % ${Math.ceil(count / 2)}::int
    order by n`.execute(db)
  await sql`
    insert into device_contact (device_id, last_seen_at, ip_address)
    select id, now() - id % 600 * interval '1 second', '203.0.113.' || id % 250
    from device`.execute(db)
}

async function insertResults(db: Kysely<Schema>): Promise<void> {
  await sql`
    insert into check_result (device_id, check_id, status, revision, ran_at, status_changed_at,
      rows, updated_at)
    select device.id, one.id, case when device.auth_state <> 'Good' and one.number = 1
        then 'failing' else 'passing' end,
      one.revision, now(), now() - interval '3 days',
      '[{"KOLIDE_CHECK_STATUS": "PASS", "name": "filevault", "enabled": "1"}]', now()
    from device
    join lateral (
      select id, revision, row_number() over (order by id) as number
      from posture_check where device.platform = any(platforms)
      order by id limit ${CHECKS_PER_DEVICE}::int
    ) one on true`.execute(db)
}

async function insertIssues(db: Kysely<Schema>): Promise<void> {
  await sql`
    insert into issue (check_id, device_id, title, value, detected_at, last_rechecked_at,
      resolved_at, blocks_device_at, updated_at)
    select result.check_id, device.id, 'The disk is not encrypted', '{"name": "filevault"}',
      now() - interval '20 days', now() - interval '1 hour',
      case when result.status = 'passing' then now() - interval '2 days' end,
      case device.auth_state when 'Blocked' then now() - interval '1 day'
        else device.will_block_at end, now()
    from check_result result join device on device.id = result.device_id
    where result.status = 'failing' or result.id % 5 = 0`.execute(db)
}
