/*
 * What the role of the service could do to the audit log past the service: the rule is that it neither owns the
 * tables nor may change what is in them.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** The tables that prove the audit log. */
export const AUDIT_TABLES = [
  'audit_entry',
  'audit_link',
  'audit_subtree',
  'audit_chain',
  'audit_checkpoint',
] as const

/** Why the role of these connections could change the audit log; empty when it cannot. */
export async function listAuditPowers(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ power: string }>`
    -- Each partition of a table counts as the table.
    with audit_table as (
      select c.oid, c.relowner, t.relname
      from pg_class t left join pg_inherits on inhparent = t.oid
        join pg_class c on c.oid in (t.oid, inhrelid)
      where t.relnamespace = 'public'::regnamespace and t.relname = any(${AUDIT_TABLES}::text[]))
    select 'is a superuser' as power from pg_roles where rolname = current_user and rolsuper
    union all
    select 'owns the database or its schema' from pg_namespace
    where nspname = 'public' and pg_has_role(current_user, nspowner, 'member')
      and not (select rolsuper from pg_roles where rolname = current_user)
    union all
    select 'owns ' || string_agg(distinct relname::text, ', ' order by relname::text) from audit_table
    where pg_has_role(current_user, relowner, 'member')
      and not (select rolsuper from pg_roles where rolname = current_user)
    having count(*) > 0
    union all
    select 'may change ' || string_agg(distinct relname::text, ', ' order by relname::text) from audit_table
    where not pg_has_role(current_user, relowner, 'member')
      and (has_table_privilege(oid, 'update, delete, truncate, trigger')
        or has_any_column_privilege(oid, 'update')
        or (relname <> 'audit_checkpoint' and has_table_privilege(oid, 'insert')))
    having count(*) > 0`.execute(db)
  return rows.map(({ power }) => power)
}
