/*
 * Takes from the reporting role what PostgreSQL gives to everybody: its catalogues, temporary tables, the
 * schema public, and the functions that do something (wait, lock, notify, change settings, draw numbers,
 * run SQL that they are given). Those are the volatile ones; all others depend on their arguments and on
 * what the role may read. The other roles of the program keep what they had, by name.
 */
import { escapeLiteral, type Client } from 'pg'

export interface ConfinedRoles {
  readonly reporting: string
  readonly application: string
}

/** Sorting and joining spill to the disk up to this. */
const TEMPORARY_FILES_MAX = '512MB'

/** Works on the database that the superuser `client` is connected to. Idempotent. */
export async function confineReportingRole(client: Client, roles: ConfinedRoles): Promise<void> {
  const reporting = escapeLiteral(roles.reporting)
  const application = escapeLiteral(roles.application)
  await client.query(`
do $confine$
declare
  program record;
  functions text;
  relations text;
begin
  execute format('alter role %I set temp_file_limit = %L', ${reporting}, '${TEMPORARY_FILES_MAX}');
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), ${reporting});
  revoke all on schema public from public;
  for program in
    select rolname as name from pg_roles where oid >= 16384 and rolname <> ${reporting}
  loop
    execute format('grant connect on database %I to %I', current_database(), program.name);
    execute format('grant usage on schema public to %I', program.name);
    select string_agg(oid::regprocedure::text, ', ') into functions from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'v' and prokind = 'f'
        and (has_function_privilege('public', oid, 'execute')
          or has_function_privilege(${application}, oid, 'execute'))
        and not exists (select from aclexplode(proacl)
          where grantee = program.name::regrole and privilege_type = 'EXECUTE');
    if functions is not null then
      execute format('grant execute on function %s to %I', functions, program.name);
    end if;
    select string_agg(oid::regclass::text, ', ') into relations from pg_class
      where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        and relkind in ('r', 'v')
        and (has_table_privilege('public', oid, 'select')
          or has_table_privilege(${application}, oid, 'select'))
        and not exists (select from aclexplode(relacl)
          where grantee = program.name::regrole and privilege_type = 'SELECT');
    if relations is not null then
      execute format('grant select on %s to %I', relations, program.name);
    end if;
  end loop;
  select string_agg(oid::regprocedure::text, ', ') into functions from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'v' and prokind = 'f'
      and has_function_privilege('public', oid, 'execute');
  if functions is not null then
    execute format('revoke execute on function %s from public', functions);
  end if;
  select string_agg(oid::regclass::text, ', ') into relations from pg_class
    where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      and relkind in ('r', 'v') and has_any_column_privilege('public', oid, 'select, update');
  if relations is not null then
    execute format('revoke all on %s from public', relations);
  end if;
end $confine$`)
}
