/*
 * The role of reporting queries in the catalogues: what it may do, and how it gets what it needs. Runs as
 * the role of the service, which owns the reporting views.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { lockInTransaction } from '../../../platform/db/advisory-lock.ts'
import { toScramVerifier } from '../../../platform/db/scram-verifier.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'
import type { Schema } from '../../../schema/schema.ts'

/** What a role may do, as far as reporting queries are concerned. */
export interface RolePowers {
  readonly exists: boolean
  readonly is_service_role: boolean
  /** Superuser, or may make roles and databases, replicate, or pass by row security. */
  readonly has_attributes: boolean
  /** Is a member of another role. */
  readonly is_member: boolean
  /** May read the reporting views. */
  readonly reads_views: boolean
  /** Something beside them that it owns or may read or write; null when there is nothing. */
  readonly reaches: string | null
}

/** What `role` may do. Relations of extensions and of PostgreSQL itself are left out. */
export async function getRolePowers(db: Kysely<Schema>, role: string): Promise<RolePowers> {
  const { rows } = await sql<RolePowers>`
    select pg_roles.oid is not null as exists,
      wanted.name = current_user as is_service_role,
      coalesce(rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls, false)
        as has_attributes,
      exists (select from pg_auth_members where member = pg_roles.oid) as is_member,
      coalesce(has_schema_privilege(pg_roles.oid, to_regnamespace('reporting')::oid, 'usage') and not exists (
        select from pg_class where relnamespace = to_regnamespace('reporting') and relkind = 'v'
          and not has_table_privilege(pg_roles.oid, pg_class.oid, 'select')), false) as reads_views,
      (select format('%I.%I', nspname, relname) from pg_class
        join pg_namespace on pg_namespace.oid = relnamespace
        where nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
          and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
          and not exists (select from pg_depend where classid = 'pg_class'::regclass
            and objid = pg_class.oid and deptype = 'e')
          and (relowner = pg_roles.oid or ${reaches})
        limit 1) as reaches
    from (select ${role}::name as name) wanted left join pg_roles on rolname = wanted.name`.execute(
    db,
  )
  const [powers] = rows
  if (powers === undefined) throw new Error('the catalogue answered nothing')
  return powers
}

const reaches: RawBuilder<boolean> = sql`case
  when relkind = 'S' then has_sequence_privilege(pg_roles.oid, pg_class.oid, 'usage, select, update')
  when nspname = 'reporting' then
    has_table_privilege(pg_roles.oid, pg_class.oid, 'insert, update, delete, truncate, trigger')
  else has_table_privilege(pg_roles.oid, pg_class.oid,
      'select, insert, update, delete, truncate, references, trigger')
    or has_any_column_privilege(pg_roles.oid, pg_class.oid, 'select, insert, update, references')
  end`

/** Makes the role, or gives it this password. Fails where the role of the service may not. */
export async function ensureRole(
  db: Kysely<Schema>,
  role: string,
  password: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockInTransaction(tx, LOCK_KEYS.reportingViews)
    const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(tx)
    const verb = sql.raw(rows.length === 0 ? 'create' : 'alter')
    const verifier = sql.lit(toScramVerifier(password))
    await sql`${verb} role ${sql.id(role)} login noinherit password ${verifier}`.execute(tx)
  })
}

/** Lets the role read the reporting views. */
export async function grantReportingViews(db: Kysely<Schema>, role: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockInTransaction(tx, LOCK_KEYS.reportingViews)
    await sql`grant usage on schema reporting to ${sql.id(role)}`.execute(tx)
    await sql`grant select on all tables in schema reporting to ${sql.id(role)}`.execute(tx)
  })
}
