-- What keys have used their permissions for, and what they were refused for, counted by permission and day (UTC).

create table api_key_permission_use (
  id bigint generated always as identity primary key,
  api_key_id bigint not null references api_key (id) on delete cascade,
  permission text not null,
  day_began_at timestamptz not null,
  allowed_count bigint not null default 0 check (allowed_count >= 0),
  refused_count bigint not null default 0 check (refused_count >= 0),
  last_allowed_at timestamptz,
  last_refused_at timestamptz,
  -- The operation that was refused last: its method and path as they are declared, without ids.
  last_refused_operation text,
  unique (api_key_id, permission, day_began_at)
);
