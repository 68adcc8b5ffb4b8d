-- Live queries: SQL that somebody asks many devices at once, and what they answer.

create table live_query_campaign (
  id bigint generated always as identity primary key,
  name text not null,
  sql text not null,
  -- osquery tables that the SQL names, in lower case.
  tables_used text[] not null,
  -- What to ask when it is published; the devices asked are in live_query_target.
  targeted_device_ids bigint[] not null default '{}',
  target_all_devices boolean not null default false,
  target_macs boolean not null default false,
  target_windows_devices boolean not null default false,
  target_linux_devices boolean not null default false,
  published boolean not null,
  -- Raised whenever the devices are asked anew; an answer to an older revision is ignored.
  revision integer not null default 1 check (revision > 0),
  -- When the present revision was put to its devices; null when it never was.
  asked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index live_query_campaign_created_at on live_query_campaign (created_at);
create index live_query_campaign_tables_used on live_query_campaign using gin (tables_used);

-- The devices of a campaign, as they were when it was put to them.
create table live_query_target (
  campaign_id bigint not null references live_query_campaign (id) on delete cascade,
  device_id bigint not null references device (id) on delete cascade,
  revision integer not null,
  state text not null check (state in ('waiting', 'successful', 'errored')),
  primary key (campaign_id, device_id)
) with (fillfactor = 85);
create index live_query_target_device on live_query_target (device_id);

-- What a device answered to the present revision. Ids grow in the order of arrival.
create table live_query_result (
  id bigint generated always as identity primary key,
  campaign_id bigint not null,
  device_id bigint not null,
  revision integer not null,
  rows jsonb not null,
  -- Kept rows; the warning says when the device had more.
  row_count integer not null,
  error_message text,
  warning_message text,
  answered_at timestamptz not null,
  unique (campaign_id, device_id),
  -- To the target, which the recorder has locked already, and not to the campaign, which whoever
  -- changes it locks first.
  foreign key (campaign_id, device_id)
    references live_query_target (campaign_id, device_id) on delete cascade
);
create index live_query_result_campaign on live_query_result (campaign_id, id);

-- How many devices are in each state, moved in the transaction of every answer. Striped by device so
-- that devices which answer at the same time do not wait for one row.
create table live_query_counter (
  campaign_id bigint not null references live_query_campaign (id) on delete cascade,
  stripe smallint not null check (stripe between 0 and 15),
  waiting integer not null default 0,
  successful integer not null default 0,
  errored integer not null default 0,
  primary key (campaign_id, stripe)
) with (fillfactor = 50);

-- Targets vanish with their device or by a change of the campaign; the counters lose them in the same
-- transaction. One statement for all, its rows locked in the order in which answers lock them.
create function live_query_target_leaves_counter() returns trigger language plpgsql as $$
begin
  perform from live_query_counter counter
    where (campaign_id, stripe) in (select campaign_id, device_id % 16 from removed)
    order by campaign_id, stripe for update of counter;
  update live_query_counter counter
    set waiting = counter.waiting - gone.waiting,
      successful = counter.successful - gone.successful,
      errored = counter.errored - gone.errored
    from (
      select campaign_id, device_id % 16 as stripe,
        count(*) filter (where state = 'waiting') as waiting,
        count(*) filter (where state = 'successful') as successful,
        count(*) filter (where state = 'errored') as errored
      from removed group by 1, 2) gone
    where counter.campaign_id = gone.campaign_id and counter.stripe = gone.stripe;
  return null;
end
$$;
create trigger live_query_target_deleted after delete on live_query_target
  referencing old table as removed
  for each statement execute function live_query_target_leaves_counter();
