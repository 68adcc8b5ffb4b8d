-- How many devices were in each status at a time, for the course of it. A process of the version before
-- counts nothing, and knows nothing of the table.

create table device_status_count (
  counted_at timestamptz primary key,
  good integer not null,
  notified integer not null,
  will_block integer not null,
  blocked integer not null
);

-- Sign-ins that were stopped, by their time: few rows of a long table.
create index auth_log_session_stopped on auth_log_session (started_at) where result = 'Fail';
