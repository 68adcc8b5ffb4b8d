-- Indexes of the lists.

-- What a timeline of a list needs (platform/search/searched-list.ts): the earliest and latest time of
-- every 4096 rows.
create index audit_entry_recorded_at_zone on audit_entry ((sequence / 4096), recorded_at);
create index auth_log_session_started_at_zone on auth_log_session ((id / 4096), started_at);
create index auth_log_session_updated_at_zone on auth_log_session ((id / 4096), updated_at);
create index issue_detected_at_zone on issue ((id / 4096), detected_at);

-- Rare values of a condition.
create index issue_exempted on issue (id) where exempted_at is not null;
