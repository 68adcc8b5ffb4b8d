-- The strategy of a check can hold for a share of the devices first, and every change of a configuration is kept,
-- so that it can be looked back at and undone. A process of the version before takes a strategy as one that holds
-- for all devices, and keeps no changes: let none run any more before a share is set.

alter table posture_check add column rollout_percent smallint not null default 100
  check (rollout_percent between 0 and 100);

create table check_configuration_change (
  id bigint generated always as identity primary key,
  check_id bigint not null references posture_check (id) on delete cascade,
  -- That the change led to.
  revision integer not null,
  changed_at timestamptz not null,
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  -- What changed of it, by the names of the API.
  before jsonb not null,
  after jsonb not null,
  -- The revision that this change took back.
  undoes_revision integer,
  txn text not null,
  unique (check_id, revision)
);
create index check_configuration_change_check on check_configuration_change (check_id, id);
create index check_configuration_change_txn on check_configuration_change (txn);
