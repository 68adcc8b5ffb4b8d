-- Webhook endpoints, their events and deliveries.

create table webhook (
  id bigint generated always as identity primary key,
  destination_id bigint not null unique references delivery_destination (id) on delete restrict,
  -- Goes along with every delivery, for firewalls that look at headers.
  identifier text not null unique,
  name text not null,
  description text,
  url text not null,
  events text[] not null,
  enabled boolean not null default true,
  -- admin: switched off; failing: nothing was accepted for days; gone: the receiver answered 410.
  disabled_reason text check (disabled_reason in ('admin', 'failing', 'gone')),
  disabled_at timestamptz,
  signing text not null check (signing in ('standard', 'ed25519', 'hex')),
  -- Headers of the receiver's own: the names, and a sealed JSON object with the values.
  header_names text[] not null default '{}',
  headers_sealed bytea,
  -- Of how many days of failure people have been warned since the failure began.
  failure_warned_days integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (enabled = (disabled_at is null) and enabled = (disabled_reason is null)),
  check ((headers_sealed is null) = (header_names = '{}'))
);

create table webhook_secret (
  id uuid primary key,
  webhook_id bigint not null references webhook (id) on delete cascade,
  secret_sealed bytea not null,
  -- Of Ed25519 keys: what receivers verify with.
  public_key text,
  created_at timestamptz not null,
  -- An old secret signs until then; null: the present one.
  ends_at timestamptz
);
create unique index webhook_secret_present on webhook_secret (webhook_id) where ends_at is null;
create index webhook_secret_webhook on webhook_secret (webhook_id);

-- The pace of webhooks that have one: tokens that all processes take deliveries for.
create table webhook_pace (
  destination_id bigint primary key references delivery_destination (id) on delete cascade,
  per_second integer not null check (per_second > 0),
  tokens double precision not null,
  filled_at timestamptz not null
);

-- What happened while at least one webhook asked for it, whether or not that one was enabled.
create table webhook_event (
  id bigint generated always as identity primary key,
  -- A ULID: the same for every webhook.
  event_id text not null unique,
  event_type text not null,
  object_type text,
  object_id text,
  occurred_at timestamptz not null,
  -- The exact bytes that are signed and sent; null once their retention is over.
  body text,
  txn text not null,
  created_at timestamptz not null
);
create index webhook_event_type on webhook_event (event_type, id);
create index webhook_event_object on webhook_event (object_type, object_id, id);
create index webhook_event_object_id on webhook_event (object_id, id);
create index webhook_event_txn on webhook_event (txn);
create index webhook_event_occurred_at_zone on webhook_event ((id / 4096), occurred_at);
create index webhook_event_created_at on webhook_event (created_at, id);
create index webhook_event_payload on webhook_event (created_at, id) where body is not null;

-- A webhook event goes to several destinations under one id; the id of a SET stays its own.
alter table delivery drop constraint delivery_event_id_key;
alter table delivery add constraint delivery_event_destination unique (event_id, destination_id);
