import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema.ts'
import { bulkLoad } from './bulk-load.ts'

const CITIES = [
  ...[
    'Berlin',
    'Hamburg',
    'Lyon',
    'Paris',
    'Porto',
    'Lisboa',
    'Oslo',
    'Bergen',
    'Turku',
    'Helsinki',
  ],
  ...['Boston', 'Denver', 'Austin', 'Seattle', 'Toronto', 'Montréal', 'Osaka', 'Kyoto', 'Perth'],
]
const COUNTRIES = [
  ...[
    'Germany',
    'Germany',
    'France',
    'France',
    'Portugal',
    'Portugal',
    'Norway',
    'Norway',
    'Finland',
  ],
  ...['Finland', 'United States', 'United States', 'United States', 'United States', 'Canada'],
  ...['Canada', 'Japan', 'Japan', 'Australia'],
]
const BROWSERS = ['Chrome', 'Chrome', 'Chrome', 'Safari', 'Safari', 'Firefox', 'Edge']

/**
 * Inserts sign-ins of a year in the order of time, by people and devices whose ids begin with 1. The
 * version of the agent rises with time, so that each version is found in one stretch of the list.
 */
export async function insertAuthLogs(
  db: Kysely<Schema>,
  { count, people, devices }: { count: number; people: number; devices: number },
): Promise<void> {
  await bulkLoad(db, ['auth_log_session'], async (tx) => {
    await sql`
      insert into auth_log_session (started_at, finished_at, person_id, person_name, person_email,
        device_id, result, initial_status, ip_address, agent_version, country, city, browser_name,
        browser_version, browser_user_agent, events, app_name, txn, updated_at)
      select at, at + interval '20 seconds', person.id, person.name, person.email,
        1 + n * 7919 % ${devices}::int,
        case when n % 1000 = 0 then null when n % 40 = 0 then 'Fail' else 'Success' end,
        case when n % 40 = 0 then 'blocked' else 'all_good' end,
        '198.51.' || n % 100 || '.' || n * 31 % 250,
        '1.' || n * 12 / ${count}::int || '.' || n * 240 / ${count}::int % 20,
        (${COUNTRIES}::text[])[1 + person.id % 19], (${CITIES}::text[])[(1 + person.id % 19)::int],
        (${BROWSERS}::text[])[1 + person.id % 7], '140.0',
        'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)',
        '[{"timestamp": "2026-01-02T03:04:05.678Z", "event_type": "session_started", "event_description": "The sign-in began"}]',
        'Payroll', md5(n::text), at + interval '20 seconds'
      from (
        select n, now() - (${count}::int - n) * (interval '365 days' / ${count}::int) as at
        from generate_series(1, ${count}::bigint) n
      ) one
      join person on person.id = 1 + n * 31 % ${people}::int
      order by n`.execute(tx)
  })
}

/**
 * Inserts audit entries of a year in the order of time. Their hashes chain nothing: the lists do not
 * read them.
 */
export async function insertAuditEntries(db: Kysely<Schema>, count: number): Promise<void> {
  await bulkLoad(db, ['audit_entry'], async (tx) => {
    await sql`
      insert into audit_entry (sequence, recorded_at, actor_type, actor_name, action, target_type,
        target_id, description, before, after, txn, previous_hash, hash)
      select (select coalesce(max(sequence), 0) from audit_entry) + n,
        now() - (${count}::int - n) * (interval '365 days' / ${count}::int),
        case when n % 10 < 7 then 'System' else 'User' end,
        case when n % 10 < 7 then 'Heliograph' when n % 5000 = 9 then 'Winter Warden'
          else 'Admin ' || n % 37 end,
        'device.status_changed', 'Device', (n % 50000)::text,
        case n % 10 when 0 then 'Created the API key "Export ' || n || '"'
          when 1 then 'Changed the check "Custom check ' || n % 40 || '"'
          else 'The status of device ' || n % 50000 || ' changed from Good to Notified' end,
        '{"auth_state": "Good"}', '{"auth_state": "Notified"}', md5(n::text),
        sha256(n::text::bytea), sha256((n + 1)::text::bytea)
      from generate_series(1, ${count}::int) n
      order by n`.execute(tx)
  })
}
