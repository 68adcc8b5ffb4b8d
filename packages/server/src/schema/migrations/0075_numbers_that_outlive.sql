-- Where an unlogged table was made shortly before a takeover, PostgreSQL 15 may leave its numbers unreadable on the server that took
-- over. Nothing that is known outside bears one of them: they are skipped where that can be done.
create or replace function skip_given_numbers() returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  least_number bigint := floor(extract(epoch from clock_timestamp()) * 1000000)::bigint;
  unlogged_sequence regclass;
begin
  perform setval(s.seqrelid::regclass,
      greatest(coalesce(pg_sequence_last_value(s.seqrelid), 0), least_number))
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'public'::regnamespace and c.relpersistence <> 'u'
      and s.seqtypid = 'bigint'::regtype;
  for unlogged_sequence in
    select s.seqrelid from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'public'::regnamespace and c.relpersistence = 'u'
      and s.seqtypid = 'bigint'::regtype
  loop
    begin
      perform setval(unlogged_sequence,
        greatest(coalesce(pg_sequence_last_value(unlogged_sequence), 0), least_number));
    exception when others then
      raise warning 'the numbers of % are left as they are: %', unlogged_sequence, sqlerrm;
    end;
  end loop;
  return least_number;
end
$$;
