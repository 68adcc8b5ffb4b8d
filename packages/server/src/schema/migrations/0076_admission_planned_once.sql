-- As before; one place, which is what nearly every call takes, needs no series, and the planner learns that a call answers one row.
create or replace function take_rate_places(
  p_bucket text,
  p_capacity integer,
  p_window_seconds integer,
  p_count integer,
  p_now timestamptz default null
)
returns table (
  accepted integer,
  remaining integer,
  reset_epoch_seconds double precision,
  reset_seconds integer
)
language plpgsql
rows 1
as $$
declare
  v_window constant interval := make_interval(secs => p_window_seconds);
  v_bucket rate_limit%rowtype;
  v_now timestamptz;
  v_oldest timestamptz;
begin
  if p_count is null then
    return;
  end if;
  loop
    select * into v_bucket from rate_limit where bucket = p_bucket for update;
    exit when found;
    insert into rate_limit (bucket, capacity) values (p_bucket, p_capacity)
      on conflict (bucket) do nothing;
  end loop;

  -- Read under the lock: the times in the ring must follow the order in which requests got through.
  v_now := coalesce(p_now, clock_timestamp());

  -- Another capacity makes another ring; a clock that was set back leaves times of the future behind.
  if v_bucket.capacity <> p_capacity or v_bucket.touched_at > v_now + v_window then
    delete from rate_limit_slot where bucket = p_bucket;
    v_bucket.capacity := p_capacity;
    v_bucket.head := 0;
    v_bucket.tail := 0;
  elsif v_bucket.touched_at > v_now then
    v_now := v_bucket.touched_at;
  elsif v_bucket.touched_at <= v_now - v_window then
    v_bucket.tail := v_bucket.head;
  end if;
  while v_bucket.tail < v_bucket.head loop
    select accepted_at into v_oldest from rate_limit_slot
      where bucket = p_bucket and slot = v_bucket.tail % p_capacity;
    exit when v_oldest > v_now - v_window;
    v_bucket.tail := v_bucket.tail + 1;
  end loop;
  if v_bucket.tail = v_bucket.head then
    v_oldest := v_now;
  end if;
  accepted := least(p_count, p_capacity - (v_bucket.head - v_bucket.tail));
  if accepted = 1 then
    insert into rate_limit_slot (bucket, slot, accepted_at)
      values (p_bucket, v_bucket.head % p_capacity, v_now)
      on conflict (bucket, slot) do update set accepted_at = excluded.accepted_at;
  elsif accepted > 1 then
    insert into rate_limit_slot (bucket, slot, accepted_at)
      select p_bucket, place % p_capacity, v_now
      from generate_series(v_bucket.head, v_bucket.head + accepted - 1) as place
      on conflict (bucket, slot) do update set accepted_at = excluded.accepted_at;
  end if;
  if accepted > 0 then
    v_bucket.head := v_bucket.head + accepted;
    update rate_limit
      set capacity = p_capacity, head = v_bucket.head, tail = v_bucket.tail, touched_at = v_now
      where bucket = p_bucket;
  end if;
  remaining := p_capacity - (v_bucket.head - v_bucket.tail);
  reset_epoch_seconds := ceil(extract(epoch from v_oldest + v_window));
  reset_seconds := greatest(1, ceil(extract(epoch from v_oldest + v_window - v_now)));
  return next;
end
$$;

-- The keys with these hashes, and for those that are live as many places of their rate limits as are free of those asked
-- for. A function because its statement is planned once for each connection: as a statement of its own it was planned for
-- every number of keys anew, which cost more than running it.
create function admit_keys(
  p_hashes bytea[],
  p_counts integer[],
  p_capacity integer,
  p_window_seconds integer,
  p_now timestamptz
)
returns table (
  hash bytea,
  id bigint,
  name text,
  expires_at timestamptz,
  revoked_at timestamptz,
  access text,
  permissions text[],
  places json
)
language plpgsql
rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with found as materialized (
    select asked.hash, asked.count, api_key.id, api_key.name, expires_at, revoked_at, admin_user.access
    from unnest(p_hashes, p_counts) as asked (hash, count)
    join api_key on api_key.secret_hash = asked.hash
    left join admin_user on admin_user.id = api_key.responsible_admin_id
      and admin_user.deactivated_at is null
    order by api_key.id
  )
  select found.hash, found.id, found.name, found.expires_at, found.revoked_at, found.access,
    array(select permission from api_key_permission where api_key_id = found.id),
    to_json(taken)
  from found left join lateral take_rate_places(
    'api_key:' || found.id, p_capacity, p_window_seconds,
    case when found.revoked_at is null and found.access = 'full'
      and (found.expires_at is null or found.expires_at > p_now) then found.count end
  ) as taken on true;
end
$$;
