-- The other histories become partitioned. Keys that do not hold the id stay on each partition by itself: what they forbid
-- is made of random numbers or under a lock.

create or replace function partitioned_tables()
  returns table (table_name text, key text, key_sequence text, partition_size bigint)
  language sql immutable parallel safe as $$
    values ('audit_entry', 'sequence', 'audit_entry_number', 8388608::bigint),
      ('auth_log_session', 'id', 'auth_log_session_id_seq', 8388608),
      ('check_transition', 'id', 'check_transition_id_seq', 8388608),
      ('device_status_transition', 'id', 'device_status_transition_id_seq', 8388608),
      ('webhook_event', 'id', 'webhook_event_id_seq', 8388608)
  $$;

create or replace function make_partition(of_table text, name text, lower_bound bigint, upper_bound bigint)
  returns void language plpgsql as $$
declare
  parent regclass := format('public.%I', of_table);
  first_partition regclass;
  options text;
  definition text;
begin
  select inhrelid into strict first_partition from pg_inherits where inhparent = parent order by inhrelid limit 1;
  select coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '') into options
    from pg_class where oid = first_partition;
  execute format('create table partitions.%I partition of %s %s%s', name, parent,
    case when upper_bound is null then 'default'
      else format('for values from (%s) to (%s)', coalesce(lower_bound::text, 'minvalue'), upper_bound) end,
    options);
  -- Keys without the id are of each partition by itself.
  for definition in
    select pg_get_indexdef(indexrelid) from pg_index
    where indrelid = first_partition and indisunique
      and not exists (select from pg_inherits where inhrelid = indexrelid)
  loop
    execute regexp_replace(definition, ' INDEX \S+ ON partitions\.\S+ ', format(' INDEX ON partitions.%I ', name));
  end loop;
  -- Those for each row come with the table.
  for definition in
    select pg_get_triggerdef(oid) from pg_trigger
    where tgrelid = parent and not tgisinternal and tgtype & 1 = 0
  loop
    execute replace(definition, format(' ON public.%I ', of_table), format(' ON partitions.%I ', name));
  end loop;
end $$;

create or replace function put_partitioned_table(of_table text, key text, upper_bound bigint)
  returns void language plpgsql as $$
declare
  former regclass := format('public.%I', of_table);
  former_sequence text := pg_get_serial_sequence(format('public.%I', of_table), key);
  key_number int2 := (select attnum from pg_attribute where attrelid = former and attname = key);
  last_value bigint;
  dependent text;
  definitions text[];
  definition text;
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
  if former_sequence is not null then
    last_value := pg_sequence_last_value(former_sequence::regclass);
    execute format('alter table %s alter column %I drop identity', former, key);
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
  if former_sequence is not null then
    execute format('alter table public.%I alter column %I add generated always as identity (sequence name %s)',
      of_table, key, former_sequence);
    if last_value is not null then perform setval(former_sequence::regclass, last_value); end if;
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
alter table sign_in_attempt drop constraint sign_in_attempt_auth_log_session_id_fkey;

create function auth_log_session_exists() returns trigger language plpgsql as $$
begin
  perform from auth_log_session where id = new.auth_log_session_id for key share;
  if not found then
    raise exception 'the sign-in % does not exist', new.auth_log_session_id
      using errcode = 'foreign_key_violation', table = 'sign_in_attempt', column = 'auth_log_session_id';
  end if;
  return null;
end $$;

create trigger sign_in_attempt_session_exists
  after insert or update of auth_log_session_id on sign_in_attempt
  for each row when (new.auth_log_session_id is not null) execute function auth_log_session_exists();

create function forget_auth_log_session() returns trigger language plpgsql as $$
begin
  update sign_in_attempt set auth_log_session_id = null where auth_log_session_id = old.id;
  return null;
end $$;

create trigger auth_log_session_is_forgotten
  after delete on auth_log_session
  for each row execute function forget_auth_log_session();

create function forget_auth_log_sessions(lower_bound bigint, upper_bound bigint) returns void
  language sql as $$
    update sign_in_attempt set auth_log_session_id = null
    where auth_log_session_id >= coalesce(lower_bound, 0) and auth_log_session_id < upper_bound
  $$;

-- A partition has another name than its table.
create or replace function audit_rows_are_kept() returns trigger language plpgsql as $$
declare
  cut bigint;
begin
  select cut_position into cut from public.audit_chain;
  if tg_table_name = 'audit_link' then
    if old.position <= cut then return old; end if;
  elsif tg_table_name = 'audit_checkpoint' then
    if old.size < cut then return old; end if;
  elsif exists (select from public.audit_link
      where entry_sequence = old.sequence and position <= cut) then
    return old;
  end if;
  raise exception 'audit entries are append-only';
end $$;

create or replace function drop_partition(of_table text, name text) returns void
  language plpgsql security definer set search_path to public, pg_temp as $$
declare
  lower_bound bigint;
  upper_bound bigint;
  is_empty boolean;
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
  -- Most of them before the lock, and what came since under it.
  if of_table = 'auth_log_session' then perform forget_auth_log_sessions(lower_bound, upper_bound); end if;
  perform lock_for_form(array[format('public.%I', of_table)::regclass]);
  if of_table = 'auth_log_session' then perform forget_auth_log_sessions(lower_bound, upper_bound); end if;
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
