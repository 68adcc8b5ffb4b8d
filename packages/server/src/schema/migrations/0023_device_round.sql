-- When each device last answered all its checks. Results and issues that were found again as they were follow that
-- time: a round that changes nothing writes one row.

create table device_round (
  device_id bigint primary key references device (id) on delete cascade,
  ran_at timestamptz not null
) with (fillfactor = 50);

comment on table device_round is
  'When a device last answered all its checks; the time of the results and issues that follow it.';

alter table check_result add column follows_round boolean not null default false;
alter table check_result add column content_hash bytea;

comment on column check_result.follows_round is
  'Found again by the last round of its device: ran_at and updated_at read as the later of theirs and the round''s.';
comment on column check_result.content_hash is
  'Of the rows, the error and ran_at as they were written, to know them again; null when they were not hashed.';

alter table issue add column follows_round boolean not null default false;

comment on column issue.follows_round is
  'Found again by the last round of its device: while it is open, last_rechecked_at and updated_at read likewise.';
