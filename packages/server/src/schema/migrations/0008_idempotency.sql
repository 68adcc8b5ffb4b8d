-- Answers of writes that carried an idempotency key, kept for a day.

create table idempotency_record (
  -- SHA-256 over the caller, the idempotency key, the method and the route.
  scope_hash bytea primary key check (octet_length(scope_hash) = 32),
  -- SHA-256 over what was asked: path, query, body and API version.
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  -- The request whose answer this is.
  request_id text not null,
  -- Null from the commit of the effect until the answer is known; mostly both commit together.
  status smallint,
  -- Headers and body as JSON, sealed: answers may hold secrets that are shown once.
  answer_sealed bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((status is null) = (answer_sealed is null))
);
create index idempotency_record_expires_at on idempotency_record (expires_at);
