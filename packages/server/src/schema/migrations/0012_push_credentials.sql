-- How the service authenticates to receivers; what becomes of events that cannot be pushed.

-- Of attempts that were not accepted; values that may be secret are masked before they come here.
alter table delivery_attempt add column request_headers jsonb;

-- The log of deliveries is searched by these.
create index delivery_txn on delivery (txn);
create index delivery_log_subject on delivery (destination_id, subject_key, id)
  where subject_key is not null;
create index delivery_created_at on delivery using brin (created_at) with (pages_per_range = 32);

-- Deliveries that run out of attempts stay queued: the receiver can have them in another way.
alter table delivery_destination add column keeps_exhausted boolean not null default false;

-- The processes that deliver. Each holds an advisory lock as long as it lives; its claims begin with
-- its id, so that others can tell what a dead one has claimed.
create table delivery_worker (
  id integer primary key check (id > 0),
  started_at timestamptz not null,
  -- Since when its lock is free.
  missing_since timestamptz
);

alter table ssf_stream
  -- What may be shown of the ways to authenticate to the receiver; the secrets are in
  -- ssf_push_credential.
  add column push_authentication jsonb,
  add column fallback_to_poll boolean not null default false,
  -- While events that cannot be pushed wait to be polled.
  add column fallback_since timestamptz,
  add column fallback_reason text;
create index ssf_stream_fallback on ssf_stream (id) where fallback_to_poll;

create table ssf_push_credential (
  stream_id bigint primary key references ssf_stream (id) on delete cascade,
  oauth_client_secret_sealed bytea,
  -- Still tried until this time when the receiver does not know the new secret yet.
  oauth_previous_secret_sealed bytea,
  oauth_previous_secret_until timestamptz,
  client_certificate text,
  client_key_sealed bytea,
  -- Certificate authorities that this receiver is trusted by, beside the usual ones.
  extra_ca text,
  -- Changes with every change of the row: connections and tokens of an older version are not used.
  version bigint not null default 1
);
