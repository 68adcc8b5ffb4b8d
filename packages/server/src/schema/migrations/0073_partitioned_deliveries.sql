-- Deliveries and their attempts become partitioned: attempts by the ids of their deliveries, so that what belongs
-- together goes together. Keys that do not hold these ids stay on each partition by itself: what they forbid is made of
-- random numbers, of one sequence or under a lock.

create or replace function partitioned_tables()
  returns table (table_name text, key text, key_sequence text, partition_size bigint)
  language sql immutable parallel safe as $$
    values ('audit_entry', 'sequence', 'audit_entry_number', 8388608::bigint),
      ('auth_log_session', 'id', 'auth_log_session_id_seq', 8388608),
      ('check_transition', 'id', 'check_transition_id_seq', 8388608),
      ('delivery', 'id', 'delivery_id_seq', 8388608),
      ('delivery_attempt', 'delivery_id', 'delivery_id_seq', 8388608),
      ('device_status_transition', 'id', 'device_status_transition_id_seq', 8388608),
      ('webhook_event', 'id', 'webhook_event_id_seq', 8388608)
  $$;

-- The column that is numbered need not be the key.
create or replace function put_partitioned_table(of_table text, key text, upper_bound bigint)
  returns void language plpgsql as $$
declare
  former regclass := format('public.%I', of_table);
  numbered text := (select attname from pg_attribute where attrelid = former and attidentity <> '');
  numbers text := pg_get_serial_sequence(format('public.%I', of_table), numbered);
  key_number int2 := (select attnum from pg_attribute where attrelid = former and attname = key);
  last_value bigint;
  dependent text;
  definitions text[];
  definition text;
  sequence_grants text[];
begin
  select c.oid::regclass::text into dependent
    from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class c on c.oid = r.ev_class
    where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      and d.refobjid = former
    limit 1;
  if dependent is not null then
    raise exception 'the view % reads the table % and would go on reading its oldest rows only',
        dependent, of_table using hint = 'Drop the view, and make it anew when the table is partitioned.';
  end if;
  if numbers is not null then
    last_value := pg_sequence_last_value(numbers::regclass);
    -- The sequence is made anew; a statement may name it, which needs a right that writing to the table does not.
    select array_agg(format('grant %s on sequence %s to %s', privilege_type, numbers,
        case when grantee = 0 then 'public' else grantee::regrole::text end)) into sequence_grants
      from pg_class c, aclexplode(c.relacl)
      where c.oid = numbers::regclass and grantee <> c.relowner;
    execute format('alter table %s alter column %I drop identity', former, numbered);
  end if;

  select array_agg(needed.sql order by place, name) into definitions from (
    select case contype when 'f' then 2 else 1 end as place, conname::text as name,
      format('alter table public.%I add constraint %I %s', of_table, conname, pg_get_constraintdef(oid)) as sql
    from pg_constraint where conrelid = former
      and (contype = 'f' or contype in ('p', 'u') and key_number = any(conkey))
    union all
    select 3, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
    from pg_index where indrelid = former and (not indisunique or key_number = any(indkey))
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    union all
    select 4, tgname, pg_get_triggerdef(oid)
    from pg_trigger where tgrelid = former and not tgisinternal
    union all
    select 5, grantee::text || privilege_type,
      format('grant %s on public.%I to %s%s', privilege_type, of_table,
        case when grantee = 0 then 'public' else grantee::regrole::text end,
        case when is_grantable then ' with grant option' else '' end)
    from pg_class c, aclexplode(c.relacl) where c.oid = former and grantee <> c.relowner) as needed;
  -- The partition gets its triggers for each row from the table.
  for definition in
    select format('drop trigger %I on partitions.%I', tgname, of_table)
    from pg_trigger where tgrelid = former and not tgisinternal and tgtype & 1 = 1
  loop
    definitions := definition || definitions;
  end loop;

  execute format('alter table public.%I set schema partitions', of_table);
  execute format('create table public.%1$I (like partitions.%1$I including all
    excluding identity excluding indexes) partition by range (%2$I)', of_table, key);
  execute format('alter table public.%I drop constraint partition_bound', of_table);
  if numbers is not null then
    execute format('alter table public.%I alter column %I add generated always as identity (sequence name %s)',
      of_table, numbered, numbers);
    if last_value is not null then perform setval(numbers::regclass, last_value); end if;
    foreach definition in array coalesce(sequence_grants, '{}') loop
      execute definition;
    end loop;
  end if;
  foreach definition in array definitions loop
    execute definition;
  end loop;
  execute format('alter table public.%1$I attach partition partitions.%1$I for values from (minvalue) to (%2$s)',
    of_table, upper_bound);
  execute format('alter table partitions.%I drop constraint partition_bound', of_table);
  perform make_partition(of_table, of_table || '_default', null, null);
end $$;

-- What the foreign key did: a partition to which one leads could only be taken off with a look at every row that refers.
alter table delivery_attempt drop constraint delivery_attempt_delivery_id_fkey;

create function delivery_exists() returns trigger language plpgsql as $$
begin
  perform from delivery where id = new.delivery_id for key share;
  if not found then
    raise exception 'the delivery % does not exist', new.delivery_id
      using errcode = 'foreign_key_violation', table = 'delivery_attempt', column = 'delivery_id';
  end if;
  return null;
end $$;

create trigger delivery_attempt_delivery_exists
  after insert or update of delivery_id on delivery_attempt
  for each row execute function delivery_exists();

create function delete_attempts() returns trigger language plpgsql as $$
begin
  delete from delivery_attempt a using ended where a.delivery_id = ended.id;
  return null;
end $$;

create trigger delivery_attempts_end
  after delete on delivery referencing old table as ended
  for each statement execute function delete_attempts();

-- Nothing that waits for a destination has a lower id, so that whoever looks for it opens no partition before.
alter table delivery_destination add column queued_from_id bigint not null default 0;

-- Deliveries wait again that had ended. Whoever raises `queued_from_id` waits for none of these, and none begins before
-- that is committed.
create function lower_queued_from_id() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7201, 25);
  update delivery_destination set queued_from_id = new.id
    where id = new.destination_id and queued_from_id > new.id;
  return null;
end $$;

create trigger delivery_waits_again
  after update of state on delivery
  for each row when (new.state = 'queued' and old.state <> 'queued')
  execute function lower_queued_from_id();

-- The partitions of attempts to whose deliveries no partition is left when this one is dropped.
create function list_left_attempts(dropped text) returns table (partition regclass) language sql stable as $$
  select format('partitions.%I', a.partition_name)::regclass
  from list_partitions('delivery_attempt') a
  where a.upper_bound <= partition_position('delivery')
    and a.upper_bound <= (select max(d.upper_bound) from list_partitions('delivery') d)
    and not exists (
      select from list_partitions('delivery') d
      where not d.is_default and d.partition_name <> dropped
        and coalesce(d.lower_bound < a.upper_bound, true) and coalesce(a.lower_bound < d.upper_bound, true))
$$;

create or replace function drop_partition(of_table text, name text) returns void
  language plpgsql security definer set search_path to public, pg_temp as $$
declare
  lower_bound bigint;
  upper_bound bigint;
  is_empty boolean;
  attempts regclass;
begin
  select p.lower_bound, p.upper_bound into lower_bound, upper_bound
    from partitioned_tables() t, list_partitions(t.table_name) p
    where t.table_name = of_table and p.partition_name = name and not p.is_default;
  if upper_bound is null or upper_bound > partition_position(of_table) then
    raise exception 'the partition % is none that can be dropped', name;
  end if;
  -- Entries of the audit log end by the cut alone, which deletes them.
  if of_table = 'audit_entry' then
    execute format('select not exists (select from partitions.%I)', name) into is_empty;
    if not is_empty then raise exception 'audit entries are append-only'; end if;
  end if;
  -- They end with their deliveries.
  if of_table = 'delivery_attempt' then
    raise exception 'the partition % is none that can be dropped', name;
  end if;
  -- Most of them before the lock, and what came since under it.
  if of_table = 'auth_log_session' then perform forget_auth_log_sessions(lower_bound, upper_bound); end if;
  if of_table = 'delivery' then
    delete from delivery_attempt
      where delivery_id >= coalesce(lower_bound, 0) and delivery_id < upper_bound
        and tableoid <> all(array(select partition from list_left_attempts(name)));
  end if;
  perform lock_for_form(case of_table
    when 'delivery' then array['public.delivery', 'public.delivery_attempt']
    else array[format('public.%I', of_table)] end::regclass[]);
  if of_table = 'auth_log_session' then perform forget_auth_log_sessions(lower_bound, upper_bound); end if;
  if of_table = 'delivery' then
    -- One that had ended may wait again since somebody looked: the partition stays.
    if exists (select from delivery where id >= coalesce(lower_bound, 0) and id < upper_bound and state = 'queued') then
      raise exception 'something waits in the partition %', name using errcode = 'lock_not_available';
    end if;
    for attempts in select partition from list_left_attempts(name) loop
      execute format('drop table %s', attempts);
    end loop;
    delete from delivery_attempt
      where delivery_id >= coalesce(lower_bound, 0) and delivery_id < upper_bound;
  end if;
  execute format('drop table partitions.%I', name);
end $$;

do $$
declare
  each text;
begin
  for each in
    select table_name from partitioned_tables()
    where pg_relation_size(format('public.%I', table_name)::regclass) < 16 * 1024 * 1024
  loop
    begin
      while advance_partitions(each) is not null loop end loop;
    exception when lock_not_available then
      raise notice 'the table % is in use and is partitioned later', each;
    end;
  end loop;
end $$;
