-- Tables that grow for ever are partitioned by ranges of their ids: what has had its time goes with a file and not row
-- by row. Statements name the table; the partitions are in a schema of their own, to which nobody needs rights.
create schema partitions;

-- Which tables, by which column, from which sequence its values come, and how many of them a partition holds.
create function partitioned_tables()
  returns table (table_name text, key text, key_sequence text, partition_size bigint)
  language sql immutable parallel safe as $$
    values ('check_transition', 'id', 'check_transition_id_seq', 8388608::bigint)
  $$;

-- The partitions of a table from the first to the last; a bound is null where there is none. None of one that is not
-- partitioned yet.
create function list_partitions(of_table text)
  returns table (partition_name text, lower_bound bigint, upper_bound bigint, is_default boolean)
  language sql stable as $$
    select c.relname::text, substring(bound from 'FROM \(''?(-?\d+)')::bigint,
      substring(bound from 'TO \(''?(-?\d+)')::bigint, bound = 'DEFAULT'
    from pg_inherits join pg_class c on c.oid = inhrelid
      cross join lateral pg_get_expr(c.relpartbound, c.oid) bound
    where inhparent = format('public.%I', of_table)::regclass
    order by 3 nulls last
  $$;

-- The last id that was given out.
create function partition_position(of_table text) returns bigint
  language sql stable security definer set search_path to public, pg_temp as $$
  select coalesce(pg_sequence_last_value(format('public.%I', key_sequence)::regclass), 0)
  from partitioned_tables() where table_name = of_table
$$;

-- Locks tables for a change of their form, or gives up. Asking for a weak lock first has an autovacuum of them end, and
-- holds up nobody; the strong one, behind which everybody waits, is asked for no longer than a moment.
create function lock_for_form(relations regclass[]) returns void language plpgsql as $$
declare
  relation regclass;
begin
  perform set_config('lock_timeout', '5s', true);
  foreach relation in array relations loop
    execute format('lock table only %s in share update exclusive mode', relation);
  end loop;
  perform set_config('lock_timeout', '200ms', true);
  foreach relation in array relations loop
    execute format('lock table only %s in access exclusive mode', relation);
  end loop;
end $$;

-- The tables that a table refers to: their triggers change with its form.
create function list_referenced(relation regclass) returns regclass[] language sql stable as $$
  select coalesce(array_agg(distinct confrelid::regclass), '{}')
  from pg_constraint where conrelid = relation and contype = 'f'
$$;

-- Makes an empty partition; a bound that is null is for what no other partition takes.
create function make_partition(of_table text, name text, lower_bound bigint, upper_bound bigint)
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
  -- Those for each row come with the table.
  for definition in
    select pg_get_triggerdef(oid) from pg_trigger
    where tgrelid = parent and not tgisinternal and tgtype & 1 = 0
  loop
    execute replace(definition, format(' ON public.%I ', of_table), format(' ON partitions.%I ', name));
  end loop;
end $$;

-- Puts a partitioned table in the place of a table, which becomes its first partition, for the ids below the bound that
-- its check proves. Rows, indexes and constraints stay as they are.
create function put_partitioned_table(of_table text, key text, upper_bound bigint)
  returns void language plpgsql as $$
declare
  former regclass := format('public.%I', of_table);
  former_sequence text := pg_get_serial_sequence(format('public.%I', of_table), key);
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
    from pg_constraint where conrelid = former and contype in ('p', 'u', 'f')
    union all
    select 3, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
    from pg_index where indrelid = former
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

-- Gives the rows for which there was no partition one of their own.
create function give_default_bounds(of_table text, lower_bound bigint, upper_bound bigint)
  returns void language plpgsql as $$
declare
  former text := of_table || '_default';
  bounded text := of_table || '_' || lower_bound;
begin
  execute format('alter table public.%I detach partition partitions.%I', of_table, former);
  execute format('alter table partitions.%I rename to %I', former, bounded);
  execute format('alter table public.%I attach partition partitions.%I for values from (%s) to (%s)',
    of_table, bounded, lower_bound, upper_bound);
  execute format('alter table partitions.%I drop constraint partition_bound', bounded);
  perform make_partition(of_table, former, null, null);
end $$;

-- Takes the next step that brings a table to what it should be, and answers which one; null when there is nothing to do.
-- What was done so far is read from the catalogue: it may end after each step, and go on at any time. No step holds a
-- lock for long that others wait for; it fails with `lock_not_available` where it cannot have one.
--
-- `bounded`: a check bounds the ids of a large table. `unbounded`: its ids have come near the bound, which is taken
-- off. `validated`: every row was looked at. `partitioned`: a partitioned table has its place. `collected`: rows for
-- which there was no partition have got one. `extended`: a partition was made ahead. `analysed`: the planner knows
-- the table, which autovacuum does not look after.
create function advance_partitions(of_table text) returns text
  language plpgsql security definer set search_path to public, pg_temp as $$
declare
  -- Read through in a moment.
  small_bytes constant bigint := 16 * 1024 * 1024;
  facts record;
  parent regclass := format('public.%I', of_table);
  relation regclass;
  last_id bigint := partition_position(of_table);
  lower_bound bigint;
  new_bound bigint;
  known record;
  is_small boolean;
begin
  select * into strict facts from partitioned_tables() where table_name = of_table;
  relation := parent;
  if (select relkind = 'p' from pg_class where oid = parent) then
    select max(p.upper_bound) into lower_bound from list_partitions(of_table) p;
    if last_id < lower_bound then
      if lower_bound - last_id < 2 * facts.partition_size then
        perform lock_for_form(list_referenced(parent) || parent);
        perform make_partition(of_table, of_table || '_' || lower_bound, lower_bound,
          lower_bound + facts.partition_size);
        return 'extended';
      end if;
      if (select case when whole.reltuples < 0 then sum(pg_relation_size(part.oid)) >= small_bytes
            else sum(part.reltuples) > 2 * whole.reltuples + 10000 end
          from pg_class whole join pg_inherits on inhparent = whole.oid join pg_class part on part.oid = inhrelid
          where whole.oid = parent group by whole.reltuples) then
        execute format('analyze %s', parent);
        return 'analysed';
      end if;
      return null;
    end if;
    relation := format('partitions.%I', of_table || '_default');
  end if;

  is_small := pg_relation_size(relation) < small_bytes;
  select convalidated as is_valid,
      substring(pg_get_constraintdef(oid) from '< \(?''?(\d+)')::bigint as upper_bound
    into known from pg_constraint where conrelid = relation and conname = 'partition_bound';
  if known.upper_bound - last_id < facts.partition_size then
    perform lock_for_form(array[relation]);
    execute format('alter table %s drop constraint partition_bound', relation);
    return 'unbounded';
  end if;
  if is_small then
    perform lock_for_form(list_referenced(parent) || parent);
    last_id := partition_position(of_table);
  end if;
  new_bound := known.upper_bound;
  if new_bound is null then
    if not is_small then perform lock_for_form(array[relation]); end if;
    -- Until the rest is done, writes fail at the bound: it is far where that takes time.
    new_bound := (last_id / facts.partition_size + case when is_small then 1 else 4 end) * facts.partition_size;
    execute format('alter table %s add constraint partition_bound check (%s%I < %s) not valid', relation,
      case when lower_bound is null then '' else format('%I >= %s and ', facts.key, lower_bound) end,
      facts.key, new_bound);
    if not is_small then return 'bounded'; end if;
  end if;
  if known.is_valid is not true then
    perform set_config('lock_timeout', '5s', true);
    execute format('alter table %s validate constraint partition_bound', relation);
    if not is_small then return 'validated'; end if;
  end if;

  perform lock_for_form(list_referenced(parent) || parent);
  if lower_bound is null then
    perform put_partitioned_table(of_table, facts.key, new_bound);
    return 'partitioned';
  end if;
  perform give_default_bounds(of_table, lower_bound, new_bound);
  return 'collected';
end $$;

-- Drops a partition with its rows, of which the caller knows that they have had their time.
create function drop_partition(of_table text, name text) returns void
  language plpgsql security definer set search_path to public, pg_temp as $$
declare
  upper_bound bigint;
begin
  select p.upper_bound into upper_bound
    from partitioned_tables() t, list_partitions(t.table_name) p
    where t.table_name = of_table and p.partition_name = name and not p.is_default;
  if upper_bound is null or upper_bound > partition_position(of_table) then
    raise exception 'the partition % is none that can be dropped', name;
  end if;
  perform lock_for_form(array[format('public.%I', of_table)::regclass]);
  execute format('drop table partitions.%I', name);
end $$;

revoke execute on function make_partition(text, text, bigint, bigint),
  put_partitioned_table(text, text, bigint), give_default_bounds(text, bigint, bigint),
  advance_partitions(text), drop_partition(text, text) from public;

-- Small tables are done here; large ones by the job of the service, while they are used.
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
