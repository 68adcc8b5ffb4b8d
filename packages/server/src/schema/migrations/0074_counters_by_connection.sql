-- Counters of checks are spread by the connection that counts, not by device: devices whose answers are committed together
-- are in every stripe, so that each such commit waited for the one before, to its end.
create function counter_stripe() returns smallint language sql stable as
$$ select (pg_backend_pid() % 16)::smallint $$;

create or replace function check_result_leaves_counter() returns trigger language plpgsql as $$
begin
  insert into check_counter (check_id, stripe, status, device_count)
    -- Results that vanish with their check are not counted any more.
    select id, counter_stripe(), old.status, -1 from posture_check where id = old.check_id
    on conflict (check_id, stripe, status)
      do update set device_count = check_counter.device_count - 1;
  return null;
end
$$;

create or replace function person_check_result_leaves_counter() returns trigger language plpgsql as $$
begin
  insert into check_counter (check_id, stripe, status, device_count)
    -- Results that vanish with their check are not counted any more.
    select id, counter_stripe(), old.status, -1 from posture_check where id = old.check_id
    on conflict (check_id, stripe, status)
      do update set device_count = check_counter.device_count - 1;
  return null;
end
$$;
