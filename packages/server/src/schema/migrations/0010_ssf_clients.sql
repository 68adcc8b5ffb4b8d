-- Clients of the strict Shared Signals face, their tokens, and the subjects of streams.

create table ssf_client (
  id bigint generated always as identity primary key,
  client_id text not null unique,
  name text not null check (name <> ''),
  scopes text[] not null
    check (cardinality(scopes) > 0 and scopes <@ array['ssf.read', 'ssf.manage']),
  -- The audience of the events of its streams; the client id when there is none.
  audience text,
  authentication_method text not null
    check (authentication_method in ('client_secret', 'private_key_jwt')),
  jwks jsonb,
  -- Which subjects its new streams begin with; the setting of the service when there is none.
  default_subjects text check (default_subjects in ('ALL', 'NONE')),
  -- What its new streams begin with.
  profile text not null default 'strict'
    check (profile in ('interface', 'strict', 'caep_interop', 'okta', 'sgnl')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  check ((authentication_method = 'private_key_jwt') = (jwks is not null))
);

-- Random secrets of 256 bits, by their hash. The older ones of a client end after a rotation.
create table ssf_client_secret (
  id bigint generated always as identity primary key,
  ssf_client_id bigint not null references ssf_client (id) on delete cascade,
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  last_four text not null,
  created_at timestamptz not null,
  expires_at timestamptz
);
create index ssf_client_secret_client on ssf_client_secret (ssf_client_id);

-- Access tokens, by their hash: the token itself is nowhere.
create table ssf_access_token (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  ssf_client_id bigint not null references ssf_client (id) on delete cascade,
  scopes text[] not null,
  payload jsonb not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null
);
create index ssf_access_token_client on ssf_access_token (ssf_client_id);
create index ssf_access_token_expires_at on ssf_access_token (expires_at);

-- Client assertions that were used, so that none is used twice.
create table ssf_client_assertion (
  assertion_id text primary key,
  payload jsonb not null,
  expires_at timestamptz not null
);
create index ssf_client_assertion_expires_at on ssf_client_assertion (expires_at);

alter table ssf_stream
  -- The receiver that the stream belongs to; streams of the root issuer belong to the organisation.
  add column ssf_client_id bigint references ssf_client (id) on delete restrict,
  add column default_subjects text not null default 'ALL' check (default_subjects in ('ALL', 'NONE')),
  add column subject_count integer not null default 0 check (subject_count >= 0),
  -- The last verification that its receiver asked for.
  add column verification_requested_at timestamptz,
  -- The last sign of life of its receiver.
  add column last_activity_at timestamptz,
  add constraint ssf_stream_strict_has_client
    check (face = 'root' or ssf_client_id is not null);
create index ssf_stream_client on ssf_stream (ssf_client_id, id) where ssf_client_id is not null;
create index ssf_stream_activity on ssf_stream (last_activity_at)
  where face = 'strict' and status = 'enabled';

-- What a receiver said about subjects, the last word about an event winning. `match_keys` name the
-- events that a subject can be about; a subject of no event that is sent has none.
create table ssf_stream_subject (
  id bigint generated always as identity primary key,
  ssf_stream_id bigint not null references ssf_stream (id) on delete cascade,
  subject_hash bytea not null check (octet_length(subject_hash) = 32),
  subject jsonb not null,
  match_keys text[] not null,
  is_included boolean not null,
  is_verified boolean not null,
  created_at timestamptz not null,
  unique (ssf_stream_id, subject_hash)
);
create index ssf_stream_subject_match on ssf_stream_subject using gin (ssf_stream_id, match_keys);

-- Since when streams whose receivers are silent are paused, and after how long.
create table ssf_inactivity_policy (
  id smallint primary key default 1 check (id = 1),
  timeout_seconds integer not null,
  effective_since timestamptz not null
);

-- What tells a receiver that its stream stops is sent although the stream has stopped.
alter table delivery add column outlives_stop boolean not null default false;
create index delivery_outliving on delivery (destination_id, next_attempt_at, id)
  where state = 'queued' and outlives_stop;
