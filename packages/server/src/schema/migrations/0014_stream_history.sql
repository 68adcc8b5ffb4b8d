-- The sequence of each stream, for replay and for the current state of its subjects.

alter table ssf_stream
  -- Its SETs carry a number, so that its receiver sees that one is missing.
  add column is_numbered boolean not null default false,
  -- How long good news about a device is held back, in case it does not last.
  add column damping_seconds integer not null default 0
    check (damping_seconds between 0 and 86400);

-- The last number that a stream has given.
create table ssf_stream_sequence (
  ssf_stream_id bigint primary key references ssf_stream (id) on delete cascade,
  last_sequence bigint not null default 0 check (last_sequence >= 0)
) with (fillfactor = 50);

alter table delivery add column sequence bigint check (sequence > 0);
create unique index delivery_sequence on delivery (destination_id, sequence)
  where sequence is not null;

-- Streams that are being told the last change of every device; a row is gone when it is done.
create table ssf_backfill (
  id bigint generated always as identity primary key,
  ssf_stream_id bigint not null unique references ssf_stream (id) on delete cascade,
  after_device_id bigint not null default 0,
  queued_count integer not null default 0,
  txn text not null,
  requested_at timestamptz not null
);

-- The last change of compliance of a device.
create index device_status_transition_compliance on device_status_transition (device_id, id)
  where from_compliance <> to_compliance;
