-- Several places of a bucket are taken at once: requests of a key that wait for one another ask together.
create function take_rate_places(
  p_bucket text,
  p_capacity integer,
  p_window_seconds integer,
  -- Null takes none and answers no row.
  p_count integer,
  p_now timestamptz default null
)
returns table (
  accepted integer,
  -- Places that are free after it.
  remaining integer,
  reset_epoch_seconds double precision,
  reset_seconds integer
)
language plpgsql
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
  if accepted > 0 then
    insert into rate_limit_slot (bucket, slot, accepted_at)
      select p_bucket, place % p_capacity, v_now
      from generate_series(v_bucket.head, v_bucket.head + accepted - 1) as place
      on conflict (bucket, slot) do update set accepted_at = excluded.accepted_at;
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

-- One place, as before.
create or replace function take_rate_limit(
  p_bucket text,
  p_capacity integer,
  p_window_seconds integer,
  p_now timestamptz default null
)
returns table (
  is_allowed boolean,
  remaining integer,
  reset_epoch_seconds double precision,
  reset_seconds integer
)
language sql
as $$
  select taken.accepted = 1, taken.remaining, taken.reset_epoch_seconds, taken.reset_seconds
  from take_rate_places(p_bucket, p_capacity, p_window_seconds, 1, p_now) as taken
$$;
