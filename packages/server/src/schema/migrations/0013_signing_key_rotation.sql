-- The life of signing keys, and which receivers have proven to use them.

alter table signing_key
  add column id bigint generated always as identity unique,
  -- Every stream signs with the key from then on; from `active_from` until then only its canaries do.
  -- Null: the general use was halted because a canary refused the key.
  add column general_from timestamptz,
  -- Given up by a rollback: published until `retired_at`, and never signs again.
  add column rolled_back_at timestamptz,
  -- Compromised: not published any more, and never signs again.
  add column revoked_at timestamptz,
  -- When the canaries were sent a verification event that is signed with the key.
  add column canaries_verified_at timestamptz;
update signing_key set general_from = active_from;

-- The streams that sign with another key than the rest.
create table stream_signing_key (
  destination_id bigint primary key references delivery_destination (id) on delete cascade,
  kid text not null references signing_key (kid) on delete cascade,
  -- canary: signs with `kid` before the others; rolled_back: its receiver refused `refused_kid`.
  reason text not null check (reason in ('canary', 'rolled_back')),
  refused_kid text,
  refusal text,
  from_at timestamptz not null,
  -- A stream that was rolled back tries the new key again then.
  until_at timestamptz
);

-- What the receiver of a stream has made of each key: the proof that it is in use.
create table signing_key_proof (
  destination_id bigint not null references delivery_destination (id) on delete cascade,
  kid text not null references signing_key (kid) on delete cascade,
  first_accepted_at timestamptz,
  last_accepted_at timestamptz,
  last_refused_at timestamptz,
  refusal text,
  -- Where the receiver was reached, or where it polled from.
  address text,
  primary key (destination_id, kid)
);

-- Who has fetched the published keys, by address.
create table jwks_fetch (
  address text primary key,
  last_fetched_at timestamptz not null
);
create index jwks_fetch_last_fetched_at on jwks_fetch (last_fetched_at);

-- What went wrong last with a receiver, kept after it works again.
alter table delivery_destination
  add column last_failure_at timestamptz,
  add column last_failure text;

-- Delivery times of one receiver without looking at what was not delivered.
create index delivery_delivered on delivery (destination_id, finished_at) include (created_at)
  where state = 'delivered';

-- Unsolicited verification events, so that silence means something. Null: none.
alter table ssf_stream
  add column heartbeat_minutes integer check (heartbeat_minutes between 1 and 10080),
  add column heartbeat_due_at timestamptz;
create index ssf_stream_heartbeat on ssf_stream (heartbeat_due_at) where heartbeat_due_at is not null;

-- The last test of each receiver: what it made of a good SET and of bad ones.
create table stream_self_test (
  stream_id bigint primary key references ssf_stream (id) on delete cascade,
  started_at timestamptz not null,
  -- Null while it runs, and after a crash.
  finished_at timestamptz,
  cases jsonb not null default '[]'
);
