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
  await client.query(toConfinement(roles))
}

/**
 * The statement that confines. What is granted is read from the catalogues as they store it: the functions that tell
 * privileges look every object up by itself, which took twice as long at every start.
 */
export function toConfinement(roles: ConfinedRoles): string {
  const reporting = escapeLiteral(roles.reporting)
  const application = escapeLiteral(roles.application)
  return `
do $confine$
declare
  application oid := ${application}::regrole;
  program record;
  functions text;
  relations text;
begin
  execute format('alter role %I set temp_file_limit = %L', ${reporting}, '${TEMPORARY_FILES_MAX}');
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), ${reporting});
  revoke all on schema public from public;
  for program in
    select oid, rolname as name from pg_roles where oid >= 16384 and rolname <> ${reporting}
  loop
    execute format('grant connect on database %I to %I', current_database(), program.name);
    execute format('grant usage on schema public to %I', program.name);
    select string_agg(oid::regprocedure::text, ', ') into functions from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'v' and prokind = 'f'
        and (select bool_or(grantee in (0, application)) and not bool_or(grantee = program.oid)
          from aclexplode(coalesce(proacl, acldefault('f', proowner)))
          where privilege_type = 'EXECUTE');
    if functions is not null then
      execute format('grant execute on function %s to %I', functions, program.name);
    end if;
    select string_agg(oid::regclass::text, ', ') into relations from pg_class
      where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        and relkind in ('r', 'v')
        and (select bool_or(grantee in (0, application)) and not bool_or(grantee = program.oid)
          from aclexplode(relacl) where privilege_type = 'SELECT');
    if relations is not null then
      execute format('grant select on %s to %I', relations, program.name);
    end if;
  end loop;
  select string_agg(oid::regprocedure::text, ', ') into functions from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'v' and prokind = 'f'
      and exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner)))
        where grantee = 0 and privilege_type = 'EXECUTE');
  if functions is not null then
    execute format('revoke execute on function %s from public', functions);
  end if;
  select string_agg(oid::regclass::text, ', ') into relations from pg_class
    where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      and relkind in ('r', 'v') and (
        exists (select from aclexplode(relacl)
          where grantee = 0 and privilege_type in ('SELECT', 'UPDATE'))
        or oid in (select attrelid from pg_attribute, aclexplode(attacl)
          where attacl is not null and grantee = 0 and privilege_type in ('SELECT', 'UPDATE')));
  if relations is not null then
    execute format('revoke all on %s from public', relations);
  end if;
end $confine$`
}
