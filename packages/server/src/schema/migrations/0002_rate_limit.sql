-- Rate limits that all processes share: per bucket a ring of the times of its accepted requests.
-- `head` and `tail` count up for ever; the requests of the window are the slots from `tail` up to, not
-- including, `head`, each at its number modulo the capacity. The tables are unlogged: a crash forgets
-- at most one window of counts and costs no write-ahead log in normal life.

create unlogged table rate_limit (
  bucket text primary key,
  capacity integer not null check (capacity > 0),
  head bigint not null default 0,
  tail bigint not null default 0,
  -- When the newest request was accepted.
  touched_at timestamptz
) with (fillfactor = 50);

create unlogged table rate_limit_slot (
  bucket text not null,
  slot integer not null,
  accepted_at timestamptz not null,
  primary key (bucket, slot)
) with (fillfactor = 70);

-- Takes a place in a bucket if fewer than `p_capacity` requests were accepted in the window that ends
-- now. Exact for every window, not just for aligned ones. A refused request leaves no trace.
-- `p_now` replaces the clock of the database, for tests.
create function take_rate_limit(
  p_bucket text,
  p_capacity integer,
  p_window_seconds integer,
  p_now timestamptz default null
) returns table (
  is_allowed boolean,
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

  is_allowed := v_bucket.head - v_bucket.tail < p_capacity;
  if v_bucket.tail = v_bucket.head then
    v_oldest := v_now;
  end if;
  if is_allowed then
    insert into rate_limit_slot (bucket, slot, accepted_at)
      values (p_bucket, v_bucket.head % p_capacity, v_now)
      on conflict (bucket, slot) do update set accepted_at = excluded.accepted_at;
    update rate_limit
      set capacity = p_capacity, head = v_bucket.head + 1, tail = v_bucket.tail, touched_at = v_now
      where bucket = p_bucket;
    v_bucket.head := v_bucket.head + 1;
  end if;

  remaining := p_capacity - (v_bucket.head - v_bucket.tail);
  reset_epoch_seconds := ceil(extract(epoch from v_oldest + v_window));
  reset_seconds := greatest(1, ceil(extract(epoch from v_oldest + v_window - v_now)));
  return next;
end
$$;
