-- Indexes of lists: what their plans at full size ask for besides those of 0009.

-- Timelines: the earliest and the latest time of every 4096 rows.
create index issue_detected_at_zone on issue ((id / 4096), detected_at);
create index issue_resolved_at_zone on issue ((id / 4096), resolved_at);
create index issue_blocks_device_at_zone on issue ((id / 4096), blocks_device_at);
create index issue_last_rechecked_at_zone on issue ((id / 4096), last_rechecked_at);
create index issue_updated_at_zone on issue ((id / 4096), updated_at);

-- A serial number as a client writes it: the trigrams of one take ten times as long.
create index device_serial on device (serial);

-- What lists of a few hundred rows are searched by: written seldom, so that an index costs nothing.
create index admin_user_first_name_trgm on admin_user using gin (first_name gin_trgm_ops);
create index admin_user_last_name_trgm on admin_user using gin (last_name gin_trgm_ops);
create index admin_user_email_trgm on admin_user using gin (email gin_trgm_ops);
create index admin_user_created_at on admin_user (created_at);
create index device_group_name_trgm on device_group using gin (name gin_trgm_ops);
create index device_group_description_trgm on device_group using gin (description gin_trgm_ops);
create index device_group_created_at on device_group (created_at);
create index device_group_updated_at on device_group (updated_at);
create index posture_check_name_trgm on posture_check using gin (name gin_trgm_ops);
create index posture_check_description_trgm on posture_check using gin (description gin_trgm_ops);
create index posture_check_slug_trgm on posture_check using gin (slug gin_trgm_ops);
create index posture_check_type on posture_check (type, id);
create index posture_check_id_trgm on posture_check using gin ((id::text) gin_trgm_ops);
create index custom_check_draft_name_trgm on custom_check_draft using gin (name gin_trgm_ops);
create index custom_check_draft_slug_trgm on custom_check_draft using gin (slug gin_trgm_ops);
create index custom_check_draft_id_trgm on custom_check_draft using gin ((id::text) gin_trgm_ops);

-- Live queries. The names of tables as one text; few answers have a message.
create function join_names(names text[]) returns text language sql immutable parallel safe
  return array_to_string(names, ' ');
create index live_query_campaign_name_trgm on live_query_campaign using gin (name gin_trgm_ops);
create index live_query_campaign_tables_trgm on live_query_campaign
  using gin (join_names(tables_used) gin_trgm_ops);
create index live_query_result_error_trgm on live_query_result
  using gin (error_message gin_trgm_ops) where error_message is not null;
create index live_query_result_warning_trgm on live_query_result
  using gin (warning_message gin_trgm_ops) where warning_message is not null;
