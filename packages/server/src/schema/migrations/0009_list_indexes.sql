-- Indexes of the lists, as platform/search/record-list.ts and field-index.ts ask for them.

-- One and two characters in a row of a text, in lower case; what trigrams cannot find.
create function short_grams(value text) returns text[] language sql immutable parallel safe
  return string_to_array(lower(value), null)
    || string_to_array(
      rtrim(regexp_replace(lower(value), '(..)', E'\\1\u0001', 'g'), E'\u0001'), E'\u0001')
    || string_to_array(
      rtrim(regexp_replace(substr(lower(value), 2), '(..)', E'\\1\u0001', 'g'), E'\u0001'),
      E'\u0001');

-- Timelines: the earliest and the latest time of every 4096 rows.
create index audit_entry_recorded_at_zone on audit_entry ((sequence / 4096), recorded_at);
create index auth_log_session_started_at_zone on auth_log_session ((id / 4096), started_at);
create index auth_log_session_updated_at_zone on auth_log_session ((id / 4096), updated_at);

-- Sign-ins. Few different values take a btree instead of trigrams, which is smaller, cheaper to write
-- and finds "1.5" as well.
drop index auth_log_session_country_trgm;
drop index auth_log_session_agent_version_trgm;
drop index auth_log_session_browser_name_trgm;
create index auth_log_session_city on auth_log_session (left(city, 64), id);
create index auth_log_session_country on auth_log_session (left(country, 64), id);
create index auth_log_session_agent_version on auth_log_session (left(agent_version, 64), id);
create index auth_log_session_browser_name on auth_log_session (left(browser_name, 64), id);
create index auth_log_session_ip_address on auth_log_session (left(ip_address, 64));
create index auth_log_session_person_name on auth_log_session (left(person_name, 64));
create index auth_log_session_person_email on auth_log_session (left(person_email, 64));
create index auth_log_session_ip_address_grams on auth_log_session using gin (short_grams(ip_address));
create index auth_log_session_person_name_grams on auth_log_session
  using gin (short_grams(person_name));
create index auth_log_session_person_email_grams on auth_log_session
  using gin (short_grams(person_email));

-- Audit.
create index audit_entry_actor_name on audit_entry (left(actor_name, 64), sequence);
create index audit_entry_description on audit_entry (left(description, 64));
create index audit_entry_description_grams on audit_entry using gin (short_grams(description));

-- Issues. With the key in the index, the matches of a time are collected without reading the issues.
drop index issue_key_trgm;
drop index issue_detected_at;
drop index issue_resolved_at;
drop index issue_blocks_device_at;
drop index issue_last_rechecked_at;
drop index issue_updated_at;
create index issue_detected_at on issue (detected_at, id);
create index issue_resolved_at on issue (resolved_at, id);
create index issue_blocks_device_at on issue (blocks_device_at, id);
create index issue_last_rechecked_at on issue (last_rechecked_at, id);
create index issue_updated_at on issue (updated_at, id);
create index issue_title on issue (left(title, 64), id);
create index issue_issue_key on issue (left(issue_key, 64), id);
create index issue_issue_value on issue (left(issue_value, 64));
create index issue_issue_value_grams on issue using gin (short_grams(issue_value));
create index issue_exempted on issue (id) where exempted_at is not null;

-- Digits of an id that others refer to.
create index device_id_trgm on device using gin ((id::text) gin_trgm_ops);
create index person_id_trgm on person using gin ((id::text) gin_trgm_ops);

-- The results of one check, and those that a change or a silence picks out of them.
drop index check_result_ran_at;
create index check_result_check_ran_at on check_result (check_id, ran_at);
create index check_result_check_updated_at on check_result (check_id, updated_at);

-- Rows of reporting tables: one index for the texts of all columns, apart by table.
create index reporting_record_columns_trgm on reporting_record
  using gin (table_name, (columns::text) gin_trgm_ops);
create index reporting_record_collected_at on reporting_record (table_name, collected_at);
