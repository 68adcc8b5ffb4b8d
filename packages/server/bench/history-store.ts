import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** How much of each there shall be. */
export interface HistorySize {
  /** People and devices that exist already, with ids from 1. */
  readonly people: number
  readonly devices: number
  readonly authLogs: number
  readonly auditEntries: number
}

/** The tables that `insertHistory` fills. */
export const HISTORY_TABLES = ['auth_log_session', 'audit_entry']

const CITIES = [
  'Lisbon',
  'Graz',
  'Aarhus',
  'Ghent',
  'Tartu',
  'Porto',
  'Turin',
  'Brno',
  'Cork',
  'Nice',
]
const COUNTRIES = ['Portugal', 'Austria', 'Denmark', 'Belgium', 'Estonia', 'Italy', 'Czechia']
const BROWSERS = ['Chrome', 'Safari', 'Firefox', 'Edge']
const ACTORS = ['Ada Lovelace', 'Grace Hopper', 'Automation key', 'Heliograph', 'Directory']
const ACTIONS = [
  'changed the owner of the device',
  'approved an exemption for',
  'asked for the deletion of the device',
  'renamed the device group',
  'changed the configuration of the check',
]

/** Inserts sign-ins, of nearly as long as they are kept, and two years of audit entries, in the order of their time. */
export async function insertHistory(db: Kysely<Schema>, size: HistorySize): Promise<void> {
  await insertAuthLogs(db, size)
  await insertAuditEntries(db, size.auditEntries)
}

async function insertAuthLogs(db: Kysely<Schema>, size: HistorySize): Promise<void> {
  const { authLogs, people, devices } = size
  await sql`
    insert into auth_log_session (started_at, finished_at, person_id, person_name, person_email,
      device_id, result, initial_status, ip_address, agent_version, country, city, browser_name,
      browser_version, browser_user_agent, issues_displayed, events, txn, updated_at)
    select at, at + interval '9 seconds', person.id, person.name, person.email,
      1 + n * 7919 % ${devices}::bigint, case when n % 23 = 0 then 'Fail' else 'Success' end,
      case n % 23 when 0 then 'blocked' when 1 then 'will_block' else 'all_good' end,
      '198.51.' || n % 97 || '.' || n * 31 % 251, '5.' || 10 + n % 14 || '.' || n % 3,
      (${COUNTRIES}::text[])[1 + n % 7], (${CITIES}::text[])[1 + n % 10],
      (${BROWSERS}::text[])[1 + n % 4], 100 + n % 40 || '.0',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)',
      '[]', '[{"timestamp": "2026-01-02T03:04:05.678Z", "event_type": "sign_in_attempt",
        "event_description": "Began to sign in."}]',
      md5(n::text), at + interval '9 seconds'
    from (
      select n, now() - (${authLogs}::bigint - n) * (interval '350 days' / ${authLogs}::bigint) as at
      from generate_series(1, ${authLogs}::bigint) n
    ) one
    join person on person.id = 1 + n * 104729 % ${people}::bigint
    order by n`.execute(db)
}

/** As changes append them, and not chained yet. */
async function insertAuditEntries(db: Kysely<Schema>, count: number): Promise<void> {
  await sql`
    insert into audit_entry (sequence, recorded_at, actor_type, actor_id, actor_name, actor_email,
      action, target_type, target_id, description, before, after, txn, request_id)
    select nextval('audit_entry_number'), now() - (${count}::bigint - n) * (interval '730 days' / ${count}::bigint), 'User',
      (1 + n % 5)::text, actor, lower(split_part(actor, ' ', 1)) || '@example.com', 'device.updated',
      'device', (n * 31 % 50000)::text,
      actor || ' ' || (${ACTIONS}::text[])[1 + n % 5] || ' SN' || lpad((n * 31 % 50000)::text, 8, '0'),
      '{"owner": "robin.sparrow@example.com"}', '{"owner": "kim.heron@example.com"}',
      md5(n::text), md5(n::text || 'request')
    from (
      select n, (${ACTORS}::text[])[1 + n % 5] as actor
      from generate_series(1, ${count}::bigint) n
    ) one order by n`.execute(db)
}
