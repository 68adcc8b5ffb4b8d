import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** How much of each there shall be. */
export interface RecordsSize {
  /** People and devices that exist already, with ids from 1. */
  readonly people: number
  readonly devices: number
  /**
   * Groups of devices and as many of people. The first of each has every second one as a member, the
   * others every thousandth and the first person.
   */
  readonly groups: number
  /** Requests for exemptions, and as many for registrations. */
  readonly requests: number
  /** Live query campaigns, the first of them answered by every device. */
  readonly campaigns: number
  /** Rows of the reporting table `users`. */
  readonly reportingRecords: number
}

/** The tables that `insertRecords` fills. */
export const RECORDS_TABLES = [
  'device_group',
  'device_group_member',
  'person_group',
  'person_group_member',
  'exemption_request',
  'exemption_request_issue',
  'registration_request',
  'custom_check_draft',
  'live_query_campaign',
  'live_query_target',
  'live_query_result',
  'live_query_counter',
  'reporting_record',
]

/** Inserts what admins and end users made: groups, requests, drafts, live queries and reports. */
export async function insertRecords(db: Kysely<Schema>, size: RecordsSize): Promise<void> {
  await insertGroups(db, size)
  await insertRequests(db, size)
  await insertDrafts(db, size.campaigns)
  await insertCampaigns(db, size)
  await insertReportingRecords(db, size)
  await insertReportingQueries(db)
}

async function insertGroups(db: Kysely<Schema>, { groups }: RecordsSize): Promise<void> {
  await sql`
    insert into device_group (name, description, created_at, updated_at)
    select 'Group ' || n || ' of ' || (array['field', 'office', 'lab'])[1 + n % 3],
      'Devices that belong to part ' || n, now() - n % 900 * interval '1 day',
      now() - n % 90 * interval '1 hour'
    from generate_series(1, ${groups}::int) n`.execute(db)
  await sql`
    insert into device_group_member (device_group_id, device_id, added_at)
    select grouping.id, device.id, now()
    from (select min(id) as id from device_group) grouping cross join device where device.id % 2 = 0
    union all
    select grouping.id, device.id, now() from device_group grouping cross join device
    where grouping.id > (select min(id) from device_group) and device.id % 1000 = 0`.execute(db)
  await sql`
    insert into person_group (name, created_at, updated_at)
    select 'Team ' || n, now() - n % 900 * interval '1 day', now() - n % 90 * interval '1 hour'
    from generate_series(1, ${groups}::int) n`.execute(db)
  await sql`
    insert into person_group_member (person_group_id, person_id, added_at)
    select grouping.id, person.id, now()
    from (select min(id) as id from person_group) grouping cross join person where person.id % 2 = 0
    union all
    select grouping.id, person.id, now() from person_group grouping cross join person
    where grouping.id > (select min(id) from person_group)
      and (person.id % 1000 = 0 or person.id = 1)`.execute(db)
}

async function insertRequests(
  db: Kysely<Schema>,
  { requests, devices, people }: RecordsSize,
): Promise<void> {
  const message = sql`'I need it for the project ' || n || ', please.'`
  const requestedAt = sql`now() - (${requests}::int - n) * interval '20 minutes'`
  const decided = sql`case when n % 10 <> 0 then ${requestedAt} + interval '1 hour' end`
  await sql`
    insert into exemption_request (device_id, requester_person_id, requester_message, status,
      internal_explanation, denial_explanation, requested_at, decided_at, decided_by, updated_at)
    select 1 + n * 7919 % ${devices}::int, 1 + n % ${people}::int, ${message},
      case when n % 10 = 0 then 'open' when n % 10 < 7 then 'approved' else 'denied' end,
      'It is known', case when n % 10 >= 7 then 'It is not needed' end,
      ${requestedAt}, ${decided}, 'Ada Lovelace', ${requestedAt}
    from generate_series(1, ${requests}::int) n`.execute(db)
  await sql`
    insert into exemption_request_issue (exemption_request_id, issue_id)
    select request.id, issue.id
    from (select id, row_number() over (order by id) as number from exemption_request) request
    join (select id, row_number() over (order by id) as number from issue) issue
      on issue.number = request.number`.execute(db)
  await sql`
    insert into registration_request (device_id, requester_person_id, requester_message, status,
      requested_at, decided_at, decided_by, updated_at)
    select 1 + n * 7919 % ${devices}::int, 1 + n % ${people}::int, ${message},
      case when n % 10 = 0 then 'pending' when n % 10 < 7 then 'approved' else 'denied' end,
      ${requestedAt}, ${decided}, 'Ada Lovelace', ${requestedAt}
    from generate_series(1, ${requests}::int) n
    on conflict do nothing`.execute(db)
}

async function insertDrafts(db: Kysely<Schema>, count: number): Promise<void> {
  await sql`
    insert into custom_check_draft (name, slug, description, osquery_sql, created_at, updated_at)
    select 'Draft ' || n, 'draft-' || n, 'What draft ' || n || ' looks for',
      'select version from os_version', now() - n % 900 * interval '1 day',
      now() - n % 90 * interval '1 hour'
    from generate_series(1, ${count}::int) n`.execute(db)
}

async function insertCampaigns(db: Kysely<Schema>, { campaigns }: RecordsSize): Promise<void> {
  await sql`
    insert into live_query_campaign (name, sql, tables_used, target_all_devices, published, asked_at,
      created_at, updated_at)
    select 'Question ' || n, 'select version from os_version',
      array[(array['os_version', 'uptime', 'users', 'apps'])[1 + n % 4]], true, n % 7 <> 0,
      now() - n * interval '3 hours', now() - n * interval '3 hours', now() - n * interval '3 hours'
    from generate_series(1, ${campaigns}::int) n`.execute(db)
  const first = sql`(select min(id) from live_query_campaign)`
  const isError = sql`id % 50 = 0`
  await sql`
    insert into live_query_target (campaign_id, device_id, revision, state)
    select ${first}, id, 1, case when ${isError} then 'errored' else 'successful' end from device
  `.execute(db)
  await sql`
    insert into live_query_result (campaign_id, device_id, revision, rows, row_count, error_message,
      warning_message, answered_at)
    select ${first}, id, 1, '[{"version": "26.1"}]', case when ${isError} then 0 else 1 end,
      case when ${isError} then 'no such table: os_version on ' || name end,
      case when id % 70 = 0 then 'More than 1000 rows; the first ' || id % 900 || ' were kept.' end,
      now() - id * interval '1 second'
    from device order by id`.execute(db)
  await sql`
    insert into live_query_counter (campaign_id, stripe, successful, errored)
    select campaign_id, device_id % 16, count(*) filter (where state = 'successful'),
      count(*) filter (where state = 'errored')
    from live_query_target group by 1, 2`.execute(db)
}

async function insertReportingRecords(
  db: Kysely<Schema>,
  { reportingRecords, devices }: RecordsSize,
): Promise<void> {
  await sql`
    insert into reporting_record (table_name, device_id, columns, collected_at)
    select 'users', 1 + n % ${devices}::int,
      jsonb_build_object('uid', (500 + n % 4)::text, 'gid', '20', 'username', 'user' || n,
        'description', (array['Robin', 'Alex', 'Kim', 'Sam'])[1 + n % 4] || ' ' || n,
        'directory', '/Users/user' || n, 'shell', '/bin/zsh', 'type', '', 'uuid', md5(n::text)),
      now() - n % 1440 * interval '1 minute'
    from generate_series(1, ${reportingRecords}::int) n`.execute(db)
}

async function insertReportingQueries(db: Kysely<Schema>): Promise<void> {
  await sql`
    insert into reporting_query (name, sql, created_at, updated_at)
    select 'Accounts ' || n, 'select shell, count(*) as accounts from users where uid = ' || 499 + n
      || ' group by shell', now(), now()
    from generate_series(1, 4) n`.execute(db)
}
