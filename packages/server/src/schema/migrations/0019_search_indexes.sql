-- Indexes of lists: few, and none that a write pays more for than for its row. A text of three letters
-- or more is found by pg_trgm, in one index for all texts of a table; less is read from the table itself.
-- A list of fewer than some thousand rows needs no index, and neither does a time in 50,000 rows.
--
-- The version before still serves while this runs. It finds the same rows without these indexes, more
-- slowly, and calls text_grams(), member_grams() and join_names() in its searches: the functions stay
-- until a migration of a version that no such process runs beside.

-- Substrings of one to three letters.
drop index device_name_grams;
drop index device_serial_grams;
drop index device_note_grams;
drop index device_hardware_uuid_grams;
drop index person_name_grams;
drop index person_email_grams;
drop index issue_issue_value_grams;
drop index audit_entry_description_grams;
drop index auth_log_session_ip_address_grams;
drop index auth_log_session_person_name_grams;
drop index auth_log_session_person_email_grams;
drop index exemption_request_message_grams;
drop index registration_request_message_grams;
drop index live_query_result_error_grams;
drop index live_query_result_warning_grams;
drop index reporting_record_grams;

-- The earliest and the latest time of every 4096 rows.
drop index audit_entry_recorded_at_zone;
drop index auth_log_session_started_at_zone;
drop index auth_log_session_updated_at_zone;
drop index issue_detected_at_zone;
drop index issue_resolved_at_zone;
drop index issue_blocks_device_at_zone;
drop index issue_last_rechecked_at_zone;
drop index issue_updated_at_zone;
drop index webhook_event_occurred_at_zone;

-- Devices. Nothing that a change of status or a sign-in writes is in an index, so that such an update
-- stays within its page.
drop index device_id_trgm;
drop index device_last_authenticated_at;
drop index device_platform;
drop index device_registered_at;
drop index device_updated_at;
drop index device_will_block_at;
alter table device set (fillfactor = 85);
create index device_texts on device using gin (name gin_trgm_ops, serial gin_trgm_ops,
  hardware_uuid gin_trgm_ops, note gin_trgm_ops, (id::text) gin_trgm_ops);

drop index person_id_trgm;
drop index person_last_authenticated_at;
drop index person_updated_at;
create index person_texts on person using gin (name gin_trgm_ops, email gin_trgm_ops,
  (id::text) gin_trgm_ops);

-- Results. Their times are written with every answer of a device.
drop index check_result_check_ran_at;
drop index check_result_check_updated_at;

-- Issues. A recheck writes two times, which a summary of pages can find without an entry for each row. It
-- holds the key too, as the statement of a page has it: from there on the first matches are few pages.
drop index issue_last_rechecked_at;
drop index issue_updated_at;
drop index issue_resolved_at;
drop index issue_blocks_device_at;
drop index issue_title;
drop index issue_title_trgm;
drop index issue_issue_key;
alter table issue set (fillfactor = 90);
create index issue_resolved_at on issue (resolved_at, id) where resolved_at is not null;
create index issue_blocks_device_at on issue (blocks_device_at, id) where blocks_device_at is not null;
create index issue_rechecked on issue using brin (last_rechecked_at, updated_at, (id + 0))
  with (pages_per_range = 32, autosummarize = on);
create index issue_texts on issue using gin (issue_value gin_trgm_ops, title gin_trgm_ops,
  issue_key gin_trgm_ops);

-- Audit. Every change writes an entry: the trigrams of its description are what the log costs most, so
-- those of the actor are not added, and what nothing is read by goes.
drop index audit_entry_actor_name_trgm;
drop index audit_entry_target;
drop index audit_entry_txn;
create index audit_entry_texts on audit_entry using gin (description gin_trgm_ops);

-- Sign-ins. The time of the last event is written with every event; rows lie in the order of it.
drop index auth_log_session_agent_version;
drop index auth_log_session_browser_name;
drop index auth_log_session_city;
drop index auth_log_session_city_trgm;
drop index auth_log_session_country;
drop index auth_log_session_result;
drop index auth_log_session_started_at;
drop index auth_log_session_updated_at;
alter table auth_log_session set (fillfactor = 85);
create index auth_log_session_started_at on auth_log_session (started_at, id);
create index auth_log_session_updated_at on auth_log_session using brin (updated_at, (id + 0))
  with (pages_per_range = 32, autosummarize = on);
create index auth_log_session_failed on auth_log_session (id) where result = 'Fail';
-- A whole address has nothing but trigrams that many have: asked for by them, it takes 50 ms.
create index auth_log_session_person_email on auth_log_session using hash (person_email);
create index auth_log_session_texts on auth_log_session using gin (person_name gin_trgm_ops,
  person_email gin_trgm_ops, ip_address gin_trgm_ops, city gin_trgm_ops, country gin_trgm_ops,
  agent_version gin_trgm_ops, browser_name gin_trgm_ops);

create index webhook_event_occurred_at on webhook_event using brin (occurred_at, (id + 0))
  with (pages_per_range = 32, autosummarize = on);

-- Lists of so few rows that none of their indexes is ever used.
drop index admin_user_first_name_trgm;
drop index admin_user_last_name_trgm;
drop index admin_user_email_trgm;
drop index admin_user_created_at;
drop index custom_check_draft_id_trgm;
drop index custom_check_draft_name_trgm;
drop index custom_check_draft_slug_trgm;
drop index custom_check_draft_created_at;
drop index custom_check_draft_updated_at;
drop index device_group_name_trgm;
drop index device_group_description_trgm;
drop index device_group_created_at;
drop index device_group_updated_at;
drop index exemption_request_requested_at;
drop index exemption_request_updated_at;
drop index live_query_campaign_name_trgm;
drop index live_query_campaign_tables_trgm;
drop index live_query_campaign_tables_used;
drop index live_query_campaign_created_at;
drop index person_group_name_trgm;
drop index person_group_updated_at;
drop index posture_check_description_trgm;
drop index posture_check_id_trgm;
drop index posture_check_name_trgm;
drop index posture_check_slug_trgm;
drop index posture_check_type;
drop index posture_check_updated_at;
drop index registration_request_requested_at;
drop index registration_request_updated_at;
