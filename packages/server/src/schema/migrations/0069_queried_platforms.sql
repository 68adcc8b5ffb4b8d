-- For which platforms a check has SQL, beside the SQL: each answer of each device asks for it, of every check, and the
-- texts are long enough that PostgreSQL stores them compressed.
create function queried_platforms(queries jsonb) returns text[] language sql immutable as $$
  select coalesce(array_agg(key order by key), '{}') from jsonb_each_text(queries) where value <> ''
$$;
alter table posture_check add column query_platforms text[] not null
  generated always as (queried_platforms(queries)) stored;

-- An update needs no lock of its own on the row; an upsert logs one.
create or replace function device_auth_state_follows() returns trigger language plpgsql as $$
begin
  update device_auth_state set auth_state = new.auth_state where device_id = new.id;
  if not found then
    insert into device_auth_state (device_id, auth_state) values (new.id, new.auth_state)
    on conflict (device_id) do update set auth_state = excluded.auth_state;
  end if;
  return null;
end $$;
