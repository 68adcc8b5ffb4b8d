-- Numbers of unlogged tables begin anew after a takeover, and nothing that is known outside bears one. Where such a table was made
-- shortly before, PostgreSQL 15 may leave its numbers unreadable on the server that took over.
create or replace function skip_given_numbers() returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  least_number bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
begin
  perform setval(s.seqrelid::regclass,
      greatest(coalesce(pg_sequence_last_value(s.seqrelid), 0), least_number))
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'public'::regnamespace and c.relpersistence = 'p'
      and s.seqtypid = 'bigint'::regtype;
  return least_number;
end
$$;
