-- Streams whose receivers are told the present status of every device anew, since they may know another one.
create table ssf_restatement (
  ssf_stream_id bigint primary key references ssf_stream (id) on delete cascade,
  txn text not null,
  requested_at timestamptz not null,
  last_pass_at timestamptz,
  is_last_pass boolean default false not null,
  after_device_id bigint default 0 not null,
  told_count integer default 0 not null
);

comment on table ssf_restatement is
  'Passes over all devices go on until every device has answered its checks since, at last until last_pass_at.';
comment on column ssf_restatement.last_pass_at is
  'From then on devices are told of that did not answer; null until the first pass begins.';

-- Which server and which history the rows belong to. Another one means that they were restored, or that a standby
-- took over.
create table database_origin (
  is_single boolean primary key default true check (is_single),
  system_identifier text not null,
  timeline_id bigint not null,
  is_synchronous boolean not null,
  noted_at timestamptz not null
);

comment on table database_origin is
  'Where the rows were when a worker last looked; a restore and a failover bring them elsewhere.';
comment on column database_origin.is_synchronous is
  'Whether a commit waited for a standby, so that a standby which took over has everything.';

-- Moves every number that is given out past all that can have been: to the microseconds since 1970, which pass
-- faster than anything is numbered, fit into a JSON number until 2255, and are later at each call.
create function skip_given_numbers() returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  least_number bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
begin
  perform setval(s.seqrelid::regclass,
      greatest(coalesce(pg_sequence_last_value(s.seqrelid), 0), least_number))
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'public'::regnamespace and s.seqtypid = 'bigint'::regtype;
  return least_number;
end
$$;
revoke execute on function skip_given_numbers() from public;
