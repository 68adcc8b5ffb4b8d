-- The records of the service: organisation, admins, keys, audit, people, devices, checks, issues,
-- sign-ins, reporting, streams and deliveries. Tables are singular; times are timestamptz.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Organisation ---------------------------------------------------------------------------------

create table organisation (
  id smallint primary key default 1 check (id = 1),
  name text not null,
  compliance_threshold text not null default 'blocked'
    check (compliance_threshold in ('blocked', 'will_block', 'notified')),
  api_writes_enabled boolean not null default true,
  ssf_enabled boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Admins and API keys --------------------------------------------------------------------------

create table admin_user (
  id bigint generated always as identity primary key,
  first_name text not null,
  last_name text not null,
  email text not null,
  access text not null check (access in ('full', 'limited', 'billing_only')),
  restrictions text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index admin_user_email_key on admin_user (lower(email));

create table api_key (
  id bigint generated always as identity primary key,
  name text not null,
  responsible_admin_id bigint not null references admin_user (id) on delete restrict,
  -- SHA-256 of the whole key; the sealed copy lets a Full Access admin reveal it.
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  secret_sealed bytea not null,
  secret_last_four text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- The key that this one replaces; both work until the older one expires.
  rotated_from_id bigint references api_key (id) on delete set null
);

create table api_key_permission (
  api_key_id bigint not null references api_key (id) on delete cascade,
  permission text not null,
  rationale text not null check (rationale <> ''),
  granted_at timestamptz not null,
  primary key (api_key_id, permission)
);

-- Audit ----------------------------------------------------------------------------------------

create table audit_entry (
  sequence bigint primary key,
  recorded_at timestamptz not null,
  actor_type text not null check (actor_type in ('User', 'ApiKey', 'System', 'Person')),
  actor_id text,
  actor_name text not null,
  actor_email text,
  action text not null,
  target_type text,
  target_id text,
  description text not null,
  before jsonb,
  after jsonb,
  txn text not null,
  request_id text,
  ip_address text,
  previous_hash bytea not null check (octet_length(previous_hash) = 32),
  hash bytea not null check (octet_length(hash) = 32)
);
create index audit_entry_recorded_at on audit_entry (recorded_at, sequence);
create index audit_entry_target on audit_entry (target_type, target_id, sequence);
create index audit_entry_txn on audit_entry (txn);
create index audit_entry_actor_name_trgm on audit_entry using gin (actor_name gin_trgm_ops);
create index audit_entry_description_trgm on audit_entry using gin (description gin_trgm_ops);

create function audit_entry_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries are append-only';
end
$$;
create trigger audit_entry_append_only before update or delete or truncate on audit_entry
  for each statement execute function audit_entry_is_append_only();

-- Appends entries to the chain. `entries` is a JSON array; each element carries the columns and
-- `canonical`, the text that is hashed. The advisory lock orders the writers of the chain and is
-- held until commit.
create function append_audit_entries(entries jsonb) returns bigint language plpgsql as $$
declare
  entry jsonb;
  last_sequence bigint;
  last_hash bytea;
  next_hash bytea;
begin
  perform pg_advisory_xact_lock(7201, 1);
  select sequence, hash into last_sequence, last_hash
    from audit_entry order by sequence desc limit 1;
  if last_sequence is null then
    last_sequence := 0;
    last_hash := decode(repeat('00', 32), 'hex');
  end if;
  for entry in select * from jsonb_array_elements(entries) loop
    last_sequence := last_sequence + 1;
    next_hash := sha256(
      last_hash || convert_to(last_sequence::text || E'\n' || (entry->>'canonical'), 'UTF8'));
    insert into audit_entry (sequence, recorded_at, actor_type, actor_id, actor_name, actor_email,
      action, target_type, target_id, description, before, after, txn, request_id, ip_address,
      previous_hash, hash)
    values (last_sequence, (entry->>'recorded_at')::timestamptz, entry->>'actor_type',
      entry->>'actor_id', entry->>'actor_name', entry->>'actor_email', entry->>'action',
      entry->>'target_type', entry->>'target_id', entry->>'description',
      nullif(entry->'before', 'null'::jsonb), nullif(entry->'after', 'null'::jsonb),
      entry->>'txn', entry->>'request_id', entry->>'ip_address', last_hash, next_hash);
    last_hash := next_hash;
  end loop;
  return last_sequence;
end
$$;

-- What a transaction has to say. The rows reach the chain when the transaction commits: the lock of
-- the chain is then held for the commit alone and not while the server waits for its client, which
-- let changes of status queue for seconds at 200 a second. Empty outside of transactions.
create unlogged table audit_pending (
  id bigint generated always as identity primary key,
  entries jsonb not null
);

create function append_pending_audit_entries() returns trigger language plpgsql as $$
begin
  perform append_audit_entries(new.entries);
  delete from audit_pending where id = new.id;
  return null;
end
$$;
create constraint trigger audit_pending_append after insert on audit_pending
  deferrable initially deferred for each row execute function append_pending_audit_entries();

-- People ---------------------------------------------------------------------------------------

create table person (
  id bigint generated always as identity primary key,
  name text not null,
  email text not null,
  usernames text[] not null default '{}',
  last_authenticated_at timestamptz,
  deprovisioned_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index person_email_key on person (lower(email)) where deprovisioned_at is null;
create index person_name_trgm on person using gin (name gin_trgm_ops);
create index person_email_trgm on person using gin (email gin_trgm_ops);
create index person_last_authenticated_at on person (last_authenticated_at);
create index person_updated_at on person (updated_at);

-- Devices --------------------------------------------------------------------------------------

create table enrollment_secret (
  id bigint generated always as identity primary key,
  name text not null,
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  secret_sealed bytea not null,
  -- A device that enrolls with this secret is registered to this person.
  person_id bigint references person (id) on delete restrict,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  use_count bigint not null default 0
);

create table device (
  id bigint generated always as identity primary key,
  -- What osquery calls itself by (`--host_identifier`).
  host_identifier text not null,
  hardware_uuid text,
  serial text,
  name text not null,
  platform text not null check (platform in ('darwin', 'windows', 'linux', 'ios', 'android')),
  form_factor text not null default 'computer'
    check (form_factor in ('computer', 'tablet', 'phone')),
  operating_system text not null default '',
  hardware_model text not null default '',
  osquery_version text,
  note text,
  owner_person_id bigint references person (id) on delete set null,
  registered_at timestamptz,
  last_authenticated_at timestamptz,
  authentication_mode text not null default 'only_registered_owner'
    check (authentication_mode in
      ('only_registered_owner', 'only_registered_owner_or_group_members', 'anyone')),
  enrollment_secret_id bigint references enrollment_secret (id) on delete set null,
  enrolled_at timestamptz,
  -- SHA-256 of the node key; null once the key is revoked.
  node_key_hash bytea unique check (octet_length(node_key_hash) = 32),
  agent_disabled_at timestamptz,
  -- A device that was never evaluated is Blocked: nothing is known in its favour.
  auth_state text not null default 'Blocked'
    check (auth_state in ('Good', 'Notified', 'Will Block', 'Blocked')),
  will_block_at timestamptz,
  compliance text not null default 'not-compliant'
    check (compliance in ('compliant', 'not-compliant')),
  evaluated_at timestamptz,
  status_changed_at timestamptz,
  -- The next moment at which the status can change by itself: a grace period or an exemption ends.
  reevaluate_at timestamptz,
  -- When the last whole round of checks was received; decides when the next one is due.
  checks_ran_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((auth_state = 'Will Block') = (will_block_at is not null))
);
create unique index device_host_identifier_key on device (host_identifier);
create index device_owner on device (owner_person_id, id);
create index device_registered_at on device (registered_at);
create index device_last_authenticated_at on device (last_authenticated_at);
create index device_will_block_at on device (will_block_at);
create index device_reevaluate_at on device (reevaluate_at) where reevaluate_at is not null;
create index device_updated_at on device (updated_at);
create index device_platform on device (platform, id);
create index device_hardware_uuid on device (hardware_uuid);
create index device_serial_lower on device (lower(serial));
create index device_name_trgm on device using gin (name gin_trgm_ops);
create index device_serial_trgm on device using gin (serial gin_trgm_ops);
create index device_hardware_uuid_trgm on device using gin (hardware_uuid gin_trgm_ops);
create index device_note_trgm on device using gin (note gin_trgm_ops);

-- Written in batches by the agent intake, apart from `device` so that check-ins and evaluations do
-- not wait for one another.
create table device_contact (
  device_id bigint primary key references device (id) on delete cascade,
  last_seen_at timestamptz not null,
  ip_address text
) with (fillfactor = 70);

create table device_status_transition (
  id bigint generated always as identity primary key,
  device_id bigint not null references device (id) on delete cascade,
  occurred_at timestamptz not null,
  from_state text not null,
  to_state text not null,
  from_compliance text not null,
  to_compliance text not null,
  initiating_entity text not null check (initiating_entity in ('admin', 'user', 'policy', 'system')),
  actor_name text not null,
  reason text not null,
  txn text not null
);
create index device_status_transition_device on device_status_transition (device_id, id);

create table device_group (
  id bigint generated always as identity primary key,
  name text not null,
  description text not null default '',
  members_count integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index device_group_name_key on device_group (lower(name));

create table device_group_member (
  device_group_id bigint not null references device_group (id) on delete cascade,
  device_id bigint not null references device (id) on delete cascade,
  added_at timestamptz not null,
  primary key (device_group_id, device_id)
);
create index device_group_member_device on device_group_member (device_id, device_group_id);

-- Checks ---------------------------------------------------------------------------------------

create table check_tag (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text not null default '',
  color text not null
);

create table posture_check (
  id bigint generated always as identity primary key,
  slug text not null unique,
  name text not null,
  description text not null,
  issue_title text not null,
  type text not null check (type in ('osquery', 'custom', 'external')),
  is_built_in boolean not null,
  target_type text not null default 'devices' check (target_type in ('devices', 'people')),
  platforms text[] not null,
  topics text[] not null default '{}',
  -- osquery SQL by platform; empty for external checks.
  queries jsonb not null default '{}',
  -- Raised with every change of the queries; a result of an older revision is ignored.
  revision integer not null default 1 check (revision > 0),
  primary_key_column text,
  rationale_template text not null default '',
  fix_instructions_template text not null default '',
  privacy_info text not null default '',
  -- Configuration.
  remediation_strategy text not null
    check (remediation_strategy in
      ('block_immediately', 'warn_then_block', 'notify_only', 'report_only')),
  grace_period_days integer not null default 0 check (grace_period_days between 0 and 365),
  shelf_life_seconds integer not null default 3600 check (shelf_life_seconds between 0 and 2592000),
  begins_blocking_on timestamptz,
  snooze_disallowed boolean not null default false,
  exemptions_disallowed boolean not null default false,
  options jsonb not null default '{}',
  custom_rationale_template text,
  custom_fix_instructions_template text,
  configuration_revision integer not null default 1,
  paused_at timestamptz,
  paused_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index posture_check_updated_at on posture_check (updated_at);

create table posture_check_tag (
  check_id bigint not null references posture_check (id) on delete cascade,
  tag_id bigint not null references check_tag (id) on delete cascade,
  primary key (check_id, tag_id)
);

-- Which devices a check runs on (`targeted`, `excluded`) and blocks (`blocking_allowed`,
-- `blocking_excluded`): by device group or by platform. No `targeted` row means every device.
create table check_group_rule (
  id bigint generated always as identity primary key,
  check_id bigint not null references posture_check (id) on delete cascade,
  rule text not null check (rule in ('targeted', 'excluded', 'blocking_allowed', 'blocking_excluded')),
  device_group_id bigint references device_group (id) on delete cascade,
  platform text check (platform in ('darwin', 'windows', 'linux')),
  check (num_nonnulls(device_group_id, platform) = 1)
);
create unique index check_group_rule_key
  on check_group_rule (check_id, rule, device_group_id, platform) nulls not distinct;

-- The present state of one check on one device.
create table check_result (
  id bigint generated always as identity primary key,
  device_id bigint not null references device (id) on delete cascade,
  check_id bigint not null references posture_check (id) on delete cascade,
  status text not null check (status in
    ('unknown', 'passing', 'failing', 'errored', 'inapplicable', 'stale', 'pending', 'out_of_scope')),
  revision integer not null,
  ran_at timestamptz,
  status_changed_at timestamptz not null,
  -- Since when the check has been failing without a pass in between.
  failing_since timestamptz,
  rows jsonb not null default '[]',
  error_message text,
  updated_at timestamptz not null,
  unique (device_id, check_id)
) with (fillfactor = 85);
create index check_result_check on check_result (check_id, id);
create index check_result_check_status on check_result (check_id, status, id);
create index check_result_ran_at on check_result (ran_at);

-- How many devices are in each status of a check, kept in the transaction of every transition.
-- Striped by device so that devices which report at the same time do not wait for one row.
create table check_counter (
  check_id bigint not null references posture_check (id) on delete cascade,
  stripe smallint not null check (stripe between 0 and 15),
  status text not null,
  device_count bigint not null,
  primary key (check_id, stripe, status)
) with (fillfactor = 50);

create table check_transition (
  id bigint generated always as identity primary key,
  device_id bigint not null references device (id) on delete cascade,
  check_id bigint not null references posture_check (id) on delete cascade,
  occurred_at timestamptz not null,
  from_status text not null,
  to_status text not null,
  revision integer not null,
  initiating_entity text not null check (initiating_entity in ('admin', 'user', 'policy', 'system')),
  actor_name text not null,
  reason text not null,
  rows jsonb,
  txn text not null
);
create index check_transition_device_check on check_transition (device_id, check_id, id);

-- Results vanish with their device; the counters lose them in the same transaction.
create function check_result_leaves_counter() returns trigger language plpgsql as $$
begin
  update check_counter set device_count = device_count - 1
    where check_id = old.check_id and stripe = old.device_id % 16 and status = old.status;
  return null;
end
$$;
create trigger check_result_deleted after delete on check_result
  for each row execute function check_result_leaves_counter();

-- A check that shall run on a device at its next check-in, whatever its schedule says.
create table check_refresh (
  device_id bigint not null references device (id) on delete cascade,
  check_id bigint not null references posture_check (id) on delete cascade,
  requested_at timestamptz not null,
  primary key (device_id, check_id)
);

-- Issues ---------------------------------------------------------------------------------------

create table issue (
  id bigint generated always as identity primary key,
  check_id bigint not null references posture_check (id) on delete cascade,
  device_id bigint references device (id) on delete cascade,
  person_id bigint references person (id) on delete cascade,
  title text not null,
  issue_key text,
  issue_value text,
  value jsonb not null,
  detected_at timestamptz not null,
  last_rechecked_at timestamptz not null,
  resolved_at timestamptz,
  blocks_device_at timestamptz,
  exempted_at timestamptz,
  exemption_expires_at timestamptz,
  exemption_reason text,
  updated_at timestamptz not null,
  check (num_nonnulls(device_id, person_id) = 1)
);
create unique index issue_open_key
  on issue (device_id, person_id, check_id, issue_value) nulls not distinct where resolved_at is null;
create index issue_device on issue (device_id, id);
create index issue_check on issue (check_id, id);
create index issue_open on issue (device_id, id) where resolved_at is null;
create index issue_detected_at on issue (detected_at);
create index issue_resolved_at on issue (resolved_at);
create index issue_blocks_device_at on issue (blocks_device_at);
create index issue_last_rechecked_at on issue (last_rechecked_at);
create index issue_updated_at on issue (updated_at);
create index issue_title_trgm on issue using gin (title gin_trgm_ops);
create index issue_key_trgm on issue using gin (issue_key gin_trgm_ops);
create index issue_value_trgm on issue using gin (issue_value gin_trgm_ops);

-- Sign-ins -------------------------------------------------------------------------------------

create table auth_log_session (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz,
  person_id bigint references person (id) on delete set null,
  person_name text not null,
  person_email text not null,
  device_id bigint references device (id) on delete set null,
  result text check (result in ('Success', 'Fail')),
  initial_status text not null default 'unknown'
    check (initial_status in ('all_good', 'will_block', 'blocked', 'unknown')),
  ip_address text,
  agent_version text,
  country text,
  city text,
  browser_name text,
  browser_version text,
  browser_user_agent text,
  issues_displayed jsonb not null default '[]',
  events jsonb not null default '[]',
  app_instance_id text,
  app_name text,
  txn text,
  updated_at timestamptz not null
);
create index auth_log_session_started_at on auth_log_session (started_at);
create index auth_log_session_person on auth_log_session (person_id, id);
create index auth_log_session_device on auth_log_session (device_id, id);
create index auth_log_session_result on auth_log_session (result, id);
create index auth_log_session_updated_at on auth_log_session (updated_at);
create index auth_log_session_person_name_trgm on auth_log_session using gin (person_name gin_trgm_ops);
create index auth_log_session_person_email_trgm on auth_log_session using gin (person_email gin_trgm_ops);
create index auth_log_session_ip_address_trgm on auth_log_session using gin (ip_address gin_trgm_ops);
create index auth_log_session_city_trgm on auth_log_session using gin (city gin_trgm_ops);
create index auth_log_session_country_trgm on auth_log_session using gin (country gin_trgm_ops);
create index auth_log_session_agent_version_trgm on auth_log_session using gin (agent_version gin_trgm_ops);
create index auth_log_session_browser_name_trgm on auth_log_session using gin (browser_name gin_trgm_ops);

-- Reporting ------------------------------------------------------------------------------------

-- Rows of osquery tables that devices report by schedule: the latest snapshot of each device.
create table reporting_record (
  id bigint generated always as identity primary key,
  table_name text not null,
  device_id bigint not null references device (id) on delete cascade,
  columns jsonb not null,
  collected_at timestamptz not null
);
create index reporting_record_table on reporting_record (table_name, id);
create index reporting_record_device on reporting_record (device_id, table_name);

-- The snapshot that `reporting_record` holds for a device and table; makes late and repeated log
-- lines harmless.
create table reporting_snapshot (
  device_id bigint not null references device (id) on delete cascade,
  table_name text not null,
  unix_time bigint not null,
  epoch bigint not null,
  counter bigint not null,
  primary key (device_id, table_name)
);

create table reporting_query (
  id bigint generated always as identity primary key,
  name text not null,
  sql text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Signing keys, deliveries, streams --------------------------------------------------------------

create table signing_key (
  kid text primary key,
  algorithm text not null check (algorithm in ('RS256')),
  public_jwk jsonb not null,
  private_key_sealed bytea not null,
  created_at timestamptz not null,
  -- Published from creation on; signs from `active_from` until a newer key is active; stays
  -- published until `retired_at`.
  active_from timestamptz not null,
  retired_at timestamptz
);

-- A place that events are delivered to: a stream or a webhook endpoint.
create table delivery_destination (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('ssf_push', 'ssf_poll', 'webhook')),
  -- active: sent; held: kept and not sent; stopped: nothing is sent and nothing new is kept; deleted:
  -- its owner is gone, a sweep removes it with its deliveries.
  state text not null check (state in ('active', 'held', 'stopped', 'deleted')),
  -- Circuit breaker: no attempt before this time while the receiver is failing.
  retry_not_before timestamptz,
  consecutive_failures integer not null default 0,
  failing_since timestamptz,
  last_success_at timestamptz
);

create table delivery (
  id bigint generated always as identity primary key,
  destination_id bigint not null references delivery_destination (id) on delete cascade,
  -- The `jti` of a SET, the id of a webhook message.
  event_id text not null unique,
  event_type text not null,
  -- Deliveries of one destination and subject go out one after another, by id. Null: no order.
  subject_key text,
  -- The exact bytes that are signed or sent.
  body text not null,
  signing_kid text,
  token text,
  state text not null check (state in ('queued', 'delivered', 'dead', 'discarded')),
  attempt_count integer not null default 0,
  next_attempt_at timestamptz not null,
  claimed_by uuid,
  claim_expires_at timestamptz,
  last_error text,
  txn text not null,
  created_at timestamptz not null,
  finished_at timestamptz
) with (fillfactor = 80);
create index delivery_due on delivery (destination_id, next_attempt_at, id) where state = 'queued';
create index delivery_subject on delivery (destination_id, subject_key, id) where state = 'queued';
create index delivery_dead on delivery (destination_id, id) where state = 'dead';
create index delivery_finished_at on delivery (finished_at) where finished_at is not null;
create index delivery_destination_id on delivery (destination_id, id);

create table delivery_attempt (
  id bigint generated always as identity primary key,
  delivery_id bigint not null references delivery (id) on delete cascade,
  number integer not null,
  started_at timestamptz not null,
  -- Milliseconds by phase: dns, connect, tls, first_byte, total.
  timings jsonb not null,
  outcome text not null check (outcome in ('accepted', 'rejected', 'retry')),
  status_code integer,
  error_code text,
  error text,
  response_headers jsonb,
  response_body text,
  remote_address text,
  next_attempt_at timestamptz
);
create index delivery_attempt_delivery on delivery_attempt (delivery_id, number);

create table ssf_stream (
  id bigint generated always as identity primary key,
  stream_id uuid not null unique,
  destination_id bigint not null unique references delivery_destination (id) on delete restrict,
  face text not null check (face in ('root', 'strict')),
  issuer text not null,
  audience text not null,
  name text not null,
  description text,
  delivery_method text not null check (delivery_method in ('push', 'poll')),
  endpoint_url text,
  authorization_header_sealed bytea,
  events_requested text[] not null,
  spec_version text not null default '1.0' check (spec_version in ('1.0', 'draft', 'both')),
  subject_form text not null default 'complex'
    check (subject_form in ('complex', 'iss_sub', 'email')),
  status text not null default 'enabled' check (status in ('enabled', 'paused', 'disabled')),
  status_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (delivery_method = 'poll' or endpoint_url is not null)
);
